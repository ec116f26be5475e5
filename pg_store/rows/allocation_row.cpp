#include <array>

#include "pg_store/rows/list_text.hpp"
#include "pg_store/rows/order_row.hpp"

namespace sluice::pg {
namespace {

struct AllocationColumn {
    const char* name;
    bool is_list;
};
constexpr std::array<AllocationColumn, 10> kColumns{{
    {"anomalies_showing", false},
    {"anomalies_acknowledged", false},
    {"accrual_allocated", true},
    {"allocation_positions", true},
    {"allocation_payouts", true},
    {"allocation_currencies", true},
    {"allocation_amounts", true},
    {"allocation_commissions", true},
    {"allocation_has_commission", true},
    {"allocation_active", true},
}};
constexpr std::size_t kFirstList = 2;

/// `item` of each column, separated.
template <class Item>
std::string joined(Item&& item) {
    std::string text;
    for (std::size_t i = 0; i < kColumns.size(); ++i) {
        text += (i == 0 ? "" : ", ") + item(kColumns[i], i);
    }
    return text;
}

}  // namespace

const std::string& allocation_columns() {
    static const std::string columns = joined(
        [](const AllocationColumn& column, std::size_t) { return std::string(column.name); });
    return columns;
}

std::string allocation_assignments(const char* prefix) {
    return joined([prefix](const AllocationColumn& column, std::size_t) {
        return std::string(column.name) + " = " + prefix + column.name;
    });
}

std::string allocation_parameters(std::size_t first) {
    return joined([first](const AllocationColumn& column, std::size_t at) {
        return "$" + std::to_string(first + at) + (column.is_list ? "::text[]" : "::integer[]");
    });
}

void add_allocation_types(std::vector<Type>& types) {
    for (const AllocationColumn& column : kColumns) {
        types.push_back(column.is_list ? Type::kText : Type::kInt4);
    }
}

void encode_allocations(const OrderState& state, RowArrays& to) {
    to.next().u4(state.anomalies_showing);
    to.next().u4(state.anomalies_acknowledged);
    std::array<ListText, kColumns.size() - kFirstList> lists;
    auto& [accrual_allocated, positions, payouts, currencies, amounts, commissions, has_commission,
           active] = lists;
    for (std::size_t i = 0; i < state.positions.size(); ++i) {
        for (const LineAccrual& accrual : state.positions[i].accruals) {
            accrual_allocated.add(accrual.allocated);
        }
        for (const PositionPayout& payout : state.positions[i].payouts) {
            positions.add(i + 1);
            payouts.add(payout.payout_id);
            currencies.add(payout.currency);
            amounts.add(payout.amount);
            commissions.add(payout.commission);
            has_commission.add(payout.has_commission);
            active.add(payout.active);
        }
    }
    for (const ListText& list : lists) {
        list.write_to(to.next());
    }
}

}  // namespace sluice::pg
