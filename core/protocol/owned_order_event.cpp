#include "core/protocol/owned_order_event.hpp"

#include <string_view>

namespace sluice {
namespace {

/// Calls `visit` for every text of the event, of the line items and so on.
template <class Visit>
void visit_texts(OrderEvent& event, Visit visit) {
    const auto visit_optional = [&visit](std::optional<std::string_view>& text) {
        if (text) {
            visit(*text);
        }
    };
    visit(event.order_id);
    visit_optional(event.customer_id);
    visit_optional(event.email);
    visit_optional(event.phone);
    visit(event.amount.text);
    visit(event.tax.text);
    visit(event.shipping.text);
    for (std::string_view& number : event.numbers) {
        visit(number);
    }
    visit(event.confirmation_number);
    visit_optional(event.anon_id);
    for (Discount& discount : event.discounts) {
        visit(discount.code);
        visit(discount.value.text);
    }
    for (LineItem& line : event.line_items) {
        visit(line.line_item_id);
        visit(line.sku);
        visit_optional(line.variant_sku);
        visit(line.amount.text);
        visit(line.tax.text);
    }
    for (RefundLineItem& refund : event.refund_line_items) {
        visit(refund.refund_line_item_id);
        visit(refund.line_item_id);
        visit(refund.sku);
        visit_optional(refund.variant_sku);
        visit(refund.amount.text);
        visit(refund.tax.text);
    }
}

}  // namespace

const OrderEvent& OwnedOrderEvent::assign(const OrderEvent& event) {
    event_ = event;
    std::size_t bytes = 0;
    visit_texts(event_, [&bytes](const std::string_view& text) { bytes += text.size(); });
    texts_.clear();
    texts_.reserve(bytes);  // so that the views stay valid while the next text is appended
    visit_texts(event_, [this](std::string_view& text) {
        const std::size_t at = texts_.size();
        texts_.append(text);
        text = std::string_view(texts_).substr(at);
    });
    return event_;
}

}  // namespace sluice
