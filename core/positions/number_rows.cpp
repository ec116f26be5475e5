#include "core/positions/number_rows.hpp"

#include "core/ledger/list_rows.hpp"
#include "core/protocol/order_numbers.hpp"

namespace sluice {

std::vector<std::string> all_numbers(const OrderState& state) {
    std::vector<std::string> numbers = state.numbers;
    if (!state.confirmation_number.empty()) {
        numbers.push_back(state.confirmation_number);
    }
    return numbers;
}

void reindex_numbers(LedgerTxn& txn, const OrderState& state,
                     const std::vector<std::string>& before) {
    const OrderKey& order = state.key;
    const std::vector<std::string> after = all_numbers(state);
    if (after == before) {
        return;
    }
    const auto row_of = [&order](const std::string& number) {
        return OrderByNumber{order.account, order.shop, order_number_digest(number),
                             order.order_id};
    };
    for (const std::string& number : before) {
        txn.erase(row_of(number));
    }
    for (const std::string& number : after) {
        txn.put(row_of(number));
    }
}

}  // namespace sluice
