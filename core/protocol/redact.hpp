// Redaction: a customer's personal data out of a stored order body.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "core/protocol/signature.hpp"

namespace sluice {

/// The same order with only the fields that the ledger reads: ids, times, amounts, codes. E-mail,
/// phone, customer id and every unknown field are removed. Kept fields stay byte for byte.
/// @param customer_id  Only a body with this platform_customer_id is changed.
/// @return nothing if the body is another customer's, or no valid JSON object.
[[nodiscard]] std::optional<std::string> redact_order(std::string_view body,
                                                      std::string_view customer_id);

/// An order's record without its customer's personal data, and the digest by which a duplicate of
/// its body is still recognised.
struct RedactedRecord {
    std::string record;  ///< With the redacted body inside, also if it lay beside the queue before.
    Digest256 body_sha256{};  ///< Of the body as it was in the record.
};
/// Dead letters and the archive both go through here, so that a rebuild finds the same bytes.
/// @return nothing if it is no order of this customer.
[[nodiscard]] std::optional<RedactedRecord> redact_record(std::string_view record,
                                                          std::string_view bulk_body,
                                                          std::string_view customer_id);

}  // namespace sluice
