#include "core/protocol/owned_order_event.hpp"

#include <string_view>

namespace sluice {

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
