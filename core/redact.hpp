// Redaction: a customer's personal data out of a stored order body.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace sluice {

/// The same order with only what the ledger reads: ids, times, amounts, codes. E-mail, phone,
/// customer id and everything unknown is gone. What is kept stays byte for byte.
/// @param customer_id  Only a body with this platform_customer_id is changed.
/// @return nothing if the body is another customer's, or no valid JSON object.
[[nodiscard]] std::optional<std::string> redact_order(std::string_view body,
                                                      std::string_view customer_id);

}  // namespace sluice
