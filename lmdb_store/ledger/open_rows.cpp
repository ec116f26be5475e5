#include "lmdb_store/ledger/open_rows.hpp"

#include <algorithm>

#include "core/positions/open_amounts.hpp"
#include "lmdb_store/rows/keys.hpp"
#include "lmdb_store/rows/row_keys.hpp"

namespace sluice::store {

bool OpenRows::follow(const RowAccess& rows, OpenAmount& row) {
    if (row.shop.value == 0) {
        return false;
    }
    const OrderKey order{row.account, row.shop, row.order_id};
    const LedgerKey key = order_key(order);
    const auto value = order_rows_.changed(rows, key.view(), order);
    if (!value) {
        return false;
    }
    order_.key = order;
    rows.check(order_value_.decode(key.view(), *value, order_), Table::kOrders, order);
    const std::vector<OpenAmount> open = open_amounts(order_);
    const auto found = std::ranges::find_if(
        open, [&row](const OpenAmount& other) { return is_same_row(row, other); });
    if (found != open.end()) {
        row = *found;
    }
    return true;
}

std::string_view OpenRows::current(const RowAccess& rows, std::string_view key,
                                   std::string_view stored) {
    OpenAmount row;
    CutTexts cut;
    const RowRef ref(row);
    rows.check(read_row_key(key, ref, cut) && RowValue::decode(key, cut, stored, ref), kOpenRows,
               key);
    if (!follow(rows, row)) {
        return stored;
    }
    cut = {};
    (void)row_key(row, cut);
    return row_value_.encode(key, cut, row);
}

void HeldOpenRows::hold(const OrderKey& order, std::string_view key, std::string_view value) {
    order_ = order;
    rows_.push_back({std::string(key), std::string(value)});
}

void HeldOpenRows::forget(std::string_view key) {
    std::erase_if(rows_, [key](const Row& row) { return row.key == key; });
}

}  // namespace sluice::store
