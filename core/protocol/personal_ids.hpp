// Personal ids: the digests by which the ledger knows a person, their replacements once the person
// is forgotten (rule F2), and the redaction of stored order bodies (rules F1, F2).
//
// The ledger keeps and compares ids of persons only as these digests.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/protocol/order_event.hpp"
#include "core/protocol/record.hpp"
#include "core/protocol/signature.hpp"
#include "core/values/parsed.hpp"

namespace sluice {

// -- Digests --------------------------------------------------------------------------------------

/// Digests a device's anonymous id.
[[nodiscard]] Digest256 anon_digest(std::string_view anon_id);
/// Returns the digest of the device that a record names, if it names one.
[[nodiscard]] std::optional<Digest256> device_of(const RecordMeta& meta, Pseudonyms pseudonyms);
/// Digests a platform_customer_id.
[[nodiscard]] Digest256 customer_id_digest(std::string_view id);
/// Digests an e-mail address, ignoring ASCII case.
[[nodiscard]] Digest256 email_digest(std::string_view email);
/// Returns `mail:<64 hex>` of email_digest(): the customer id of a guest of a platform's shop.
[[nodiscard]] std::string mail_id(std::string_view email);
/// Returns customer_id_digest() of the mail_id() of an address.
/// @param email  email_digest() of the address.
[[nodiscard]] Digest256 guest_digest(const Digest256& email);
/// Digests a phone number as it was sent. Used only for searches, never stored with an order.
[[nodiscard]] Digest256 phone_digest(std::string_view phone);

// Journal entries and digests of payouts name a payee by the digest of its reference, so that the
// reference can be forgotten.

/// Digests a payee reference, or returns the digest that a forgotten one stands for.
[[nodiscard]] Digest256 payee_digest(std::string_view payee);
/// Returns `sha256:<64 hex>`, with `:` and its ending if it has one, which replaces a forgotten
/// reference; empty stays empty.
[[nodiscard]] std::string forgotten_payee(std::string_view payee);
/// Returns the last characters of a reference, of which a forget leaves no more: 4 of 8 or more, 2
/// of 4 or more, else none. An approver reads them in a statement.
[[nodiscard]] std::string payee_ending(std::string_view payee);
/// Whether the text is what forgotten_payee() returns. No creator may have such a reference.
[[nodiscard]] bool is_forgotten_payee(std::string_view text);

/// Returns the replacement of `digest`: HMAC-SHA-256(R, digest). Equal ids stay equal.
[[nodiscard]] Digest256 pseudonym(const SigningKey& secret, const Digest256& digest) noexcept;
/// Returns `{"pseudonym":"<64 hex>"}`.
[[nodiscard]] std::string pseudonym_json(const Digest256& pseudonym);

// -- Redaction ------------------------------------------------------------------------------------

/// The persons that an order body names: all values of each field, even of a repeated one, except
/// values that are not strings.
struct BodyIds {
    std::vector<std::string> orders;                   ///< platform_order_id
    std::vector<Digest256> customers, emails, phones;  ///< Digests, as above.
};
/// Returns nothing if the body is not a JSON object.
[[nodiscard]] Parsed<BodyIds> read_ids(std::string_view body, Pseudonyms pseudonyms);

/// Returns the replacement of an id, or nothing if the id stays.
using ReplaceId = std::function<std::optional<Digest256>(const Digest256&)>;

/// Returns the order with only the fields that the ledger reads: ids, times, amounts, codes, and
/// the customer (platform_customer_id, or else the e-mail) as a pseudonym. Kept fields stay byte
/// for byte. A body that was redacted before is unchanged, except for what `replace` replaces.
/// @param source  Replaces the member `source`, as JSON; empty removes it.
/// Requires: read_ids(body).
[[nodiscard]] std::string redact_order(std::string_view body, Pseudonyms pseudonyms,
                                       const ReplaceId& replace, std::string_view source);

/// Returns the order with other customer ids, and without a device id for which `is_device` is
/// true. Returns nothing if nothing is replaced. Requires: read_ids(body).
[[nodiscard]] std::optional<std::string> replace_ids(
    std::string_view body, Pseudonyms pseudonyms, const ReplaceId& replace,
    const std::function<bool(std::string_view device)>& is_device);

}  // namespace sluice
