// Order deletion: the body of an ORDER_DELETE, which intake writes for a platform's webhook.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "core/values/result.hpp"
#include "core/values/timestamp.hpp"

namespace sluice {

struct OrderDeletion {
    std::string order_id;
    /// Version of the order that was deleted. No value: the one that stands.
    std::optional<Timestamp> updated_at;
};

/// Returns kInvalid for a body that intake could not have written.
[[nodiscard]] Result<OrderDeletion> parse_order_deletion(std::string_view body);

}  // namespace sluice
