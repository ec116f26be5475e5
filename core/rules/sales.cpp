#include "core/rules/sales.hpp"

#include <string>

#include "core/rules/commission.hpp"
#include "core/rules/order_book.hpp"

namespace sluice {

Decimal net_sales(const OrderState& state) {
    Decimal sum;
    if (!state.earns()) {
        return sum;
    }
    for (const OrderLine& line : state.lines) {
        if (!line.present) {
            continue;
        }
        const RefundRow* refund = standing_row(state.refunds, line.id);
        const RefundEffect effect =
            refund == nullptr ? RefundEffect::kNone : refund_effect(line.amount, refund->amount);
        Decimal net = line.amount - line.tax;
        if (effect == RefundEffect::kPartial) {
            net = net - (refund->amount - refund->tax);
        }
        if (effect == RefundEffect::kNone || effect == RefundEffect::kPartial) {
            sum = net.is_negative() ? sum : sum + net;
        }
    }
    return sum;
}

std::uint32_t month_of(Timestamp at) {
    const std::string text = at.to_string();
    return static_cast<std::uint32_t>(std::stoul(text.substr(0, 4) + text.substr(5, 2)));
}

}  // namespace sluice
