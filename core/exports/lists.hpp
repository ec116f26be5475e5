// Lists of an export alone: the lines of positions and orders, and references of entries. The
// others are in core/lists/.
#pragma once

#include "core/ledger/rows.hpp"
#include "core/lists/report.hpp"

namespace sluice::exports {

using lists::List;

/// The accrual of one line of a position.
struct PositionOf {
    const ShopRow& shop;
    const OrderState& order;
    std::size_t position;
    const LineAccrual& accrual;
};
[[nodiscard]] const List<PositionOf>& position_list();

/// A line of an order, and what it earns the creator of the live position.
struct CommissionOf {
    const ShopRow& shop;
    const OrderState& order;
    const OrderLine& line;

    /// Returns the rate that was frozen for the line, or null without one.
    [[nodiscard]] const Rate* rate() const;
    [[nodiscard]] Decimal accrued() const;
};
[[nodiscard]] const List<CommissionOf>& commission_list();

/// The entries that refer to another one.
[[nodiscard]] const List<lists::JournalOf>& reference_list();

}  // namespace sluice::exports
