#include <array>
#include <utility>

#include "pg_store/rows/order_row.hpp"

namespace sluice::pg {
namespace {

struct TakenColumn {
    const char* name;
    const char* type;
    bool list;  ///< An array for each order: sent as its text.
};
constexpr std::array<TakenColumn, 10> kColumns{{
    {"anomalies_showing", "integer", false},
    {"anomalies_acknowledged", "integer", false},
    {"due_taken", "numeric[]", true},
    {"taken_positions", "integer[]", true},
    {"taken_payouts", "text[]", true},
    {"taken_currencies", "text[]", true},
    {"taken_amounts", "numeric[]", true},
    {"taken_commissions", "numeric[]", true},
    {"taken_has_commission", "boolean[]", true},
    {"taken_standing", "boolean[]", true},
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
    /// Without anything that has a meaning in an array's text.
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
    void write_to(ColumnArray& column) {
        RowWriter& field = column.add();
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

const std::string& taken_columns() {
    static const std::string columns =
        joined([](const TakenColumn& column, std::size_t) { return std::string(column.name); });
    return columns;
}

std::string taken_assignments(const char* prefix) {
    return joined([prefix](const TakenColumn& column, std::size_t) {
        return std::string(column.name) + " = " + prefix + column.name + "::" + column.type;
    });
}

std::string taken_parameters(std::size_t first) {
    return joined([first](const TakenColumn& column, std::size_t at) {
        return "$" + std::to_string(first + at) + (column.list ? "::text[]" : "::integer[]");
    });
}

void add_taken_columns(std::vector<ColumnArray>& columns) {
    for (const TakenColumn& column : kColumns) {
        columns.emplace_back(column.list ? Type::kText : Type::kInt4);
    }
}

void encode_taken(const OrderState& state, std::span<ColumnArray> columns) {
    columns[0].add().u4(state.anomalies_showing);
    columns[1].add().u4(state.anomalies_acknowledged);
    std::array<ArrayText, kColumns.size() - kFirstList> lists;
    auto& [due_taken, positions, payouts, currencies, amounts, commissions, has_commission,
           standing] = lists;
    for (std::size_t i = 0; i < state.positions.size(); ++i) {
        for (const LineDue& due : state.positions[i].dues) {
            due_taken.plain(due.taken.to_string());
        }
        for (const PositionPayout& payout : state.positions[i].payouts) {
            positions.plain(std::to_string(i + 1));
            payouts.quoted(payout.payout_id);
            currencies.plain(payout.currency.code());
            amounts.plain(payout.amount.to_string());
            commissions.plain(payout.commission.to_string());
            has_commission.flag(payout.has_commission);
            standing.flag(payout.standing);
        }
    }
    for (std::size_t i = 0; i < lists.size(); ++i) {
        lists[i].write_to(columns[kFirstList + i]);
    }
}

}  // namespace sluice::pg
