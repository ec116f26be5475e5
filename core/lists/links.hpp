// Rows of links, with what they brought lately.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <vector>

#include "core/json/value.hpp"
#include "core/ledger/ledger.hpp"
#include "core/ledger/link_rows.hpp"
#include "core/ledger/overview_rows.hpp"
#include "core/lists/list.hpp"
#include "core/lists/row_output.hpp"
#include "core/values/result.hpp"

namespace sluice::lists {

/// Days whose figures a link is listed with, the present one included (UTC).
inline constexpr std::int64_t kLinkFigureDays = 30;

struct LinkOf {
    const LinkRow& link;
    const CreatorId& creator;  ///< As it is shown.
    const ClickFigures& figures;
    std::string_view account{};  ///< For exports. Empty if the ledger does not know it.
};
[[nodiscard]] std::string_view to_string(LinkState state) noexcept;  // active, stopped, removed
[[nodiscard]] const List<LinkOf>& link_list();
/// Figures are in the lists of days.
[[nodiscard]] const List<LinkOf>& exported_link_list();

/// Figures of links that have some.
using FiguresOfLinks = std::map<LinkId, ClickFigures>;
/// Returns the figures of links of one account in a month (202601).
[[nodiscard]] FiguresOfLinks link_figures_of_month(LedgerReader& ledger,
                                                   std::span<const LinkRow> links,
                                                   std::uint32_t month);
/// Returns the figures of one link on each of the last kLinkFigureDays days (20260131).
[[nodiscard]] std::map<std::uint32_t, ClickFigures> link_days(LedgerReader& ledger,
                                                              const LinkRow& link, Timestamp now);
/// Returns rows of link_list() for links of one account, each read by its key: for a page.
[[nodiscard]] std::vector<Row> link_rows(LedgerReader& ledger, std::span<const LinkRow> links,
                                         Timestamp now);

/// A link's place in the list by creator and id.
struct LinkPlace {
    CreatorId creator;  ///< First id.
    LinkId link;
    friend auto operator<=>(const LinkPlace&, const LinkPlace&) = default;
};
/// Returns at most `max` places of the account's links, those after `after`.
/// @param creator  First id; absent means all.
[[nodiscard]] std::vector<LinkPlace> link_places(LedgerReader& ledger, AccountNumber account,
                                                 const std::optional<CreatorId>& creator,
                                                 const std::optional<LinkPlace>& after,
                                                 std::size_t max);
/// Returns the links of the places, read together.
[[nodiscard]] std::vector<LinkRow> links_at(LedgerReader& ledger,
                                            std::span<const LinkPlace> places);

/// Lists the links of an account, by creator and id, removed ones too.
/// @param creator  First id; absent means all.
void write_links(LedgerReader& ledger, AccountNumber account,
                 const std::optional<CreatorId>& creator, Timestamp now, RowOutput& out);
/// Returns kNotFound if no account ever had the link.
[[nodiscard]] Result<Json> link_object(LedgerReader& ledger, const LinkId& id, Timestamp now);

}  // namespace sluice::lists
