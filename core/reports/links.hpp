// Rows of links, with what they brought lately.
#pragma once

#include <optional>

#include "core/ledger/ledger.hpp"
#include "core/ledger/link_rows.hpp"
#include "core/ledger/overview_rows.hpp"
#include "core/reports/json.hpp"
#include "core/reports/list.hpp"
#include "core/reports/row_output.hpp"
#include "core/values/result.hpp"

namespace sluice::reports {

/// Days whose figures a link is listed with, the present one included (UTC).
inline constexpr std::int64_t kLinkFigureDays = 30;

struct LinkOf {
    const LinkRow& link;
    const CreatorId& creator;  ///< As it is shown.
    const ClickFigures& figures;
};
[[nodiscard]] std::string_view to_string(LinkState state) noexcept;  // active, stopped, removed
[[nodiscard]] const List<LinkOf>& link_list();

/// Lists the links of an account, by creator and id, removed ones too.
/// @param creator  First id; absent means all.
void write_links(LedgerReader& ledger, AccountNumber account,
                 const std::optional<CreatorId>& creator, Timestamp now, RowOutput& out);
/// Returns kNotFound if no account ever had the link.
[[nodiscard]] Result<Json> link_object(LedgerReader& ledger, const LinkId& id, Timestamp now);

}  // namespace sluice::reports
