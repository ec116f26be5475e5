// Lists of an export: what a loader wants of an order, a payout or an entry of the journal. They
// differ from those of core/lists/, because creators have their first ids, by which tables are
// joined. Periods and their sums are the same in both.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "core/ledger/link_rows.hpp"
#include "core/ledger/overview_rows.hpp"
#include "core/ledger/payout_rows.hpp"
#include "core/ledger/rows.hpp"
#include "core/lists/list.hpp"
#include "core/lists/report.hpp"
#include "core/rules/order_book.hpp"
#include "core/statements/statements.hpp"

namespace sluice::exports {

using lists::List;

struct OrderOf {
    const ShopRow& shop;
    const OrderState& order;
    const Attribution* given;  ///< Null without a creator.
    StandingRefunds refunds;
    Money commission;
    const std::string& node;  ///< UUID of the node that changed it last, or empty.
};
[[nodiscard]] const List<OrderOf>& order_list();

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

/// An entry of a journal group. Ids that the ledger does not know are empty.
struct EntryOf {
    const JournalGroup& group;
    std::size_t index;
    std::string_view account, shop;

    [[nodiscard]] const JournalEntry& entry() const { return group.entries[index]; }
    [[nodiscard]] std::uint64_t number() const { return group.first_entry + index; }
    [[nodiscard]] bool is_memo() const { return sluice::is_memo(entry().reason); }
};
[[nodiscard]] const List<EntryOf>& journal_list();
/// An entry that refers to another one.
struct ReferenceOf {
    EntryOf of;
    const std::string& node;  ///< Or empty.
};
[[nodiscard]] const List<ReferenceOf>& reference_list();

struct BalanceOf {
    std::string_view account;
    const BalanceAt& balance;
};
[[nodiscard]] const List<BalanceOf>& balance_list();

struct PayoutOf {
    const Payout& payout;
    std::string_view account;  ///< Empty if the ledger does not know it.
    const std::string &name, &node;
};
[[nodiscard]] const List<PayoutOf>& payout_list();
[[nodiscard]] const List<PayoutItem>& payout_item_list();
struct LinkOf {
    const LinkRow& link;
    std::string_view account;  ///< Empty if the ledger does not know it.
};
[[nodiscard]] const List<LinkOf>& link_list();
/// Figures of one UTC day, of all nodes.
template <class Day>
struct DayOf {
    const Day& day;
    std::string_view account;  ///< Empty if the ledger does not know it.
};
[[nodiscard]] const List<DayOf<ClickDay>>& click_day_list();
[[nodiscard]] const List<DayOf<LinkDay>>& link_day_list();

[[nodiscard]] const List<lists::AnomalyOf>& anomaly_list();

/// Columns of products: the fields that the protocol knows, and one for all others.
[[nodiscard]] const std::vector<lists::Column>& product_columns();
/// Columns of changes, which are members of the feed's objects.
[[nodiscard]] const std::vector<lists::Column>& change_columns();

}  // namespace sluice::exports
