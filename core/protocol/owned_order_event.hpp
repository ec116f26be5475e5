// Owned order event: an event that outlives the parser's next one.
#pragma once

#include <string>

#include "core/protocol/order_event.hpp"

namespace sluice {

/// A copy of an event that owns its texts. Reused, it keeps its buffers. Not movable.
class OwnedOrderEvent {
public:
    OwnedOrderEvent() = default;
    OwnedOrderEvent(const OwnedOrderEvent&) = delete;
    OwnedOrderEvent& operator=(const OwnedOrderEvent&) = delete;

    /// Returns the copy, valid until the next call.
    const OrderEvent& assign(const OrderEvent& event);

private:
    OrderEvent event_;
    std::string texts_;
};

}  // namespace sluice
