#include <array>

#include "pg_store/rows/order_row.hpp"

namespace sluice::pg {
namespace {

struct AllocationColumn {
    const char* name;
    const char* type;
    bool list;  ///< An array for each order: sent as its text.
};
constexpr std::array<AllocationColumn, 10> kColumns{{
    {"anomalies_showing", "integer", false},
    {"anomalies_acknowledged", "integer", false},
    {"accrual_allocated", "numeric[]", true},
    {"allocation_positions", "integer[]", true},
    {"allocation_payouts", "text[]", true},
    {"allocation_currencies", "text[]", true},
    {"allocation_amounts", "numeric[]", true},
    {"allocation_commissions", "numeric[]", true},
    {"allocation_has_commission", "boolean[]", true},
    {"allocation_active", "boolean[]", true},
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

/// The text of an array, element by element. Null if there are none, as in the order's row.
class ArrayText {
public:
    /// Appends an element without characters that have a meaning in an array's text.
    void plain(std::string_view element) { begin().append(element); }
    void quoted(std::string_view element) {
        begin().push_back('"');
        for (const char c : element) {
            if (c == '"' || c == '\\') {
                text_.push_back('\\');
            }
            text_.push_back(c);
        }
        text_.push_back('"');
    }
    void flag(bool element) { plain(element ? "t" : "f"); }
    void write_to(RowWriter& field) {
        if (text_.empty()) {
            field.null();
        } else {
            text_.push_back('}');
            field.text(text_);
        }
    }

private:
    std::string& begin() {
        text_.push_back(text_.empty() ? '{' : ',');
        return text_;
    }

    std::string text_;
};

}  // namespace

const std::string& allocation_columns() {
    static const std::string columns = joined(
        [](const AllocationColumn& column, std::size_t) { return std::string(column.name); });
    return columns;
}

std::string allocation_assignments(const char* prefix) {
    return joined([prefix](const AllocationColumn& column, std::size_t) {
        return std::string(column.name) + " = " + prefix + column.name + "::" + column.type;
    });
}

std::string allocation_parameters(std::size_t first) {
    return joined([first](const AllocationColumn& column, std::size_t at) {
        return "$" + std::to_string(first + at) + (column.list ? "::text[]" : "::integer[]");
    });
}

void add_allocation_types(std::vector<Type>& types) {
    for (const AllocationColumn& column : kColumns) {
        types.push_back(column.list ? Type::kText : Type::kInt4);
    }
}

void encode_allocations(const OrderState& state, RowArrays& to) {
    to.next().u4(state.anomalies_showing);
    to.next().u4(state.anomalies_acknowledged);
    std::array<ArrayText, kColumns.size() - kFirstList> lists;
    auto& [accrual_allocated, positions, payouts, currencies, amounts, commissions, has_commission,
           active] = lists;
    for (std::size_t i = 0; i < state.positions.size(); ++i) {
        for (const LineAccrual& accrual : state.positions[i].accruals) {
            accrual_allocated.plain(accrual.allocated.to_string());
        }
        for (const PositionPayout& payout : state.positions[i].payouts) {
            positions.plain(std::to_string(i + 1));
            payouts.quoted(payout.payout_id);
            currencies.plain(payout.currency.code());
            amounts.plain(payout.amount.to_string());
            commissions.plain(payout.commission.to_string());
            has_commission.flag(payout.has_commission);
            active.flag(payout.active);
        }
    }
    for (ArrayText& list : lists) {
        list.write_to(to.next());
    }
}

}  // namespace sluice::pg
