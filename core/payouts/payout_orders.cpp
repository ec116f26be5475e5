#include "core/payouts/payout_orders.hpp"

#include <algorithm>
#include <string_view>
#include <utility>

namespace sluice {

std::uint64_t orders_of(const std::vector<PayoutItem>& items) {
    using Order = std::pair<std::string_view, std::string_view>;
    std::vector<Order> orders;
    for (const PayoutItem& item : items) {
        const Order order{item.shop_id.view(), item.order_id.view()};
        if (!item.order_id.empty() && (orders.empty() || orders.back() != order)) {
            orders.push_back(order);
        }
    }
    if (!items.empty() && items.front().program != items.back().program) {
        std::sort(orders.begin(), orders.end());
        orders.erase(std::unique(orders.begin(), orders.end()), orders.end());
    }
    return orders.size();
}

}  // namespace sluice
