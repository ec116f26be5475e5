// Open rows: the stored open amounts of orders, as the orders' changes make them.
//
// The open amount of an old order lies on a page that no other event of its batch changes. The
// order determines every column but the key. If the order has a change (order_changes.hpp), a
// reader takes the columns from the order, and the stored ones are out of date. Rows appear and
// disappear in the table, where a scan finds all of them. Internal to lmdb_store.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/ledger/order_state.hpp"
#include "core/ledger/payout_rows.hpp"
#include "lmdb_store/ledger/order_changes.hpp"
#include "lmdb_store/ledger/tables.hpp"
#include "lmdb_store/rows/order_value.hpp"
#include "lmdb_store/rows/row_value.hpp"

namespace sluice::store {

inline constexpr Table kOpenRows = static_cast<Table>(kOwnTables.size() + kTableNumber<OpenAmount>);

class OpenRows {
public:
    /// Gives a stored row the columns of its order, if that one has a change, and returns whether
    /// it has. A row that the order does not have stays. Throws DamagedRow.
    bool follow(const RowAccess& rows, OpenAmount& row);
    /// Returns the present value of a row. Valid until the next call. Throws DamagedRow.
    [[nodiscard]] std::string_view current(const RowAccess& rows, std::string_view key,
                                           std::string_view stored);

private:
    OrderRows order_rows_;
    OrderValue order_value_;
    RowValue row_value_;
    OrderState order_;  ///< Keeps its buffers.
};

/// The rows of one order that a transaction puts, until it knows where the order is written.
class HeldOpenRows {
public:
    struct Row {
        std::string key, value;
    };

    /// Returns whether the rows that are held are of this order, or none are.
    [[nodiscard]] bool takes(const OrderKey& order) const {
        return rows_.empty() || order_ == order;
    }
    /// Requires: takes(order).
    void hold(const OrderKey& order, std::string_view key, std::string_view value);
    void forget(std::string_view key);
    /// Calls `write(key, value)` for each row, and forgets all of them.
    template <class Write>
    void take(Write&& write) {
        for (const Row& row : rows_) {
            write(row.key, row.value);
        }
        rows_.clear();
    }

private:
    OrderKey order_;
    std::vector<Row> rows_;
};

}  // namespace sluice::store
