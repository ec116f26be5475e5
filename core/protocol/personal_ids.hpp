// Personal ids: the digests by which the ledger knows a person, and what takes their place once the
// person is forgotten (books F2).
//
// The ledger never keeps or compares an id of a person but as one of these.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "core/protocol/order_event.hpp"
#include "core/protocol/record.hpp"
#include "core/protocol/signature.hpp"

namespace sluice {

/// Of a device's anonymous id.
[[nodiscard]] Digest256 anon_digest(std::string_view anon_id);
/// Of the device that a record names; nothing: it names none.
[[nodiscard]] std::optional<Digest256> device_of(const RecordMeta& meta, Pseudonyms pseudonyms);
/// Of a platform_customer_id.
[[nodiscard]] Digest256 customer_id_digest(std::string_view id);
/// Of an e-mail address, ignoring ASCII case.
[[nodiscard]] Digest256 email_digest(std::string_view email);
/// Of a phone number as it was sent. Looked for only, never stored with an order.
[[nodiscard]] Digest256 phone_digest(std::string_view phone);

/// What takes the place of `digest`: HMAC-SHA-256(R, digest). Equal ids stay equal.
[[nodiscard]] Digest256 pseudonym(const SigningKey& secret, const Digest256& digest) noexcept;
/// `{"pseudonym":"<64 hex>"}`
[[nodiscard]] std::string pseudonym_json(const Digest256& pseudonym);

}  // namespace sluice
