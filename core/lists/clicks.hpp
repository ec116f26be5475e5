// Rows of clicks: what links brought, by day, month, link or creator.
#pragma once

#include <optional>
#include <string_view>

#include "core/json/value.hpp"
#include "core/ledger/ledger.hpp"
#include "core/ledger/overview_rows.hpp"
#include "core/lists/list.hpp"
#include "core/lists/row_output.hpp"

namespace sluice::lists {

enum class ClicksBy : std::uint8_t { kDay, kMonth, kLink, kCreator };

struct ClickListing {
    AccountNumber account;
    std::optional<ProgramId> program{};
    std::optional<CreatorId> creator{};  ///< First id.
    std::optional<LinkId> link{};
    std::optional<Timestamp> from{};  ///< First instant of the first UTC day; absent means all.
    std::optional<Timestamp> to{};    ///< First instant of the day after the last.
    ClicksBy by = ClicksBy::kDay;
    /// List the pairs of program and creator whose clicks do not count, because the account lacks
    /// the program, or the program the creator. `by` is ignored then.
    bool unmatched = false;
    bool has_amounts = true;  ///< False leaves currency, earned and adjusted out.
};

/// A row of figures. What it is not grouped by is empty.
struct ClickOf {
    std::string_view period, program, creator, link;
    const ClickFigures* figures;         ///< Null in a row of a further currency.
    const Currency* currency = nullptr;  ///< Null without commission.
    Decimal earned{}, adjusted{};
};
[[nodiscard]] const List<ClickOf>& click_list();
/// Figures of one UTC day, of all nodes, for an export.
template <class Day>
struct DayOf {
    const Day& day;
    std::string_view account;  ///< Empty if the ledger does not know it.
};
[[nodiscard]] const List<DayOf<ClickDay>>& click_day_list();
[[nodiscard]] const List<DayOf<LinkDay>>& link_day_list();
/// Returns orders / devices with up to 4 digits after the point, or nothing without devices.
[[nodiscard]] std::optional<std::string> conversion_of(const ClickFigures& figures);
/// Lists figures of clicks, of the orders that they attributed, and of their commission. Columns
/// that are not grouped by are null. Each further currency has a row of its own, without counts.
void write_clicks(LedgerReader& ledger, const ClickListing& listing, RowOutput& out);

/// Returns the figures of a creator's last twelve months in the programs of the account, the oldest
/// month first: month, clicks, devices, orders, conversion.
/// @param creator  First id.
[[nodiscard]] Json click_months_of(LedgerReader& ledger, AccountNumber account,
                                   const CreatorId& creator, Timestamp now);

}  // namespace sluice::lists
