// Redaction: a person's data out of a stored order body (books F1, F2).
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/protocol/order_event.hpp"
#include "core/protocol/signature.hpp"

namespace sluice {

/// Whose an order body says that it is. Of each field all values, also of one that stands there
/// twice; what is no string is left out.
struct BodyIds {
    std::vector<std::string> orders;                   ///< platform_order_id
    std::vector<Digest256> customers, emails, phones;  ///< Digests: core/protocol/personal_ids.hpp.
};
/// @return nothing if the body is no JSON object.
[[nodiscard]] std::optional<BodyIds> read_ids(std::string_view body, Pseudonyms pseudonyms);

/// What takes the place of an id; nothing: it stays.
using ReplaceId = std::function<std::optional<Digest256>(const Digest256&)>;

/// The same order with only the fields that the ledger reads: ids, times, amounts, codes, and the
/// customer (platform_customer_id, without one the e-mail) as a pseudonym. Kept fields stay byte
/// for byte. A body that was redacted before stays as it is, but for what `replace` replaces.
/// Requires: read_ids(body).
[[nodiscard]] std::string redact_order(std::string_view body, Pseudonyms pseudonyms,
                                       const ReplaceId& replace);

/// The same order with other customer ids, and without a device id that `is_device` knows.
/// Requires: read_ids(body). @return nothing if there is nothing to replace.
[[nodiscard]] std::optional<std::string> replace_ids(
    std::string_view body, Pseudonyms pseudonyms, const ReplaceId& replace,
    const std::function<bool(std::string_view device)>& is_device);

}  // namespace sluice
