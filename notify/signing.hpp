// Signing: secrets and signatures of notifications, by the specification "Standard Webhooks".
// A destination's secrets, those that sign and the header that --header-from names, are sealed in
// the store under `notify.key`, together with the destination's UUID.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/values/result.hpp"
#include "lmdb_store/destinations/rows.hpp"
#include "lmdb_store/store/master_key.hpp"

namespace sluice::notify {

inline constexpr std::size_t kSecretBytes = 32;

/// Returns 32 random bytes.
[[nodiscard]] std::string new_secret();
/// Returns `whsec_` and the base64 of the bytes, as the receiver gets them.
[[nodiscard]] std::string secret_text(std::string_view secret);

/// Returns the value of the header `webhook-signature`: for each secret `v1,` and the base64 of the
/// HMAC-SHA256 of `id.timestamp.body`, separated by spaces.
/// @param secrets      Bytes of the secrets: one, or two for 24 hours after a rotation.
/// @param id           Value of the header `webhook-id`.
/// @param timestamp_s  Value of the header `webhook-timestamp`: seconds since 1970.
[[nodiscard]] std::string signature_header(std::span<const std::string> secrets,
                                           std::string_view id, std::int64_t timestamp_s,
                                           std::string_view body);

/// Returns the id of a change, the same on every try: `chg_<account>_<node>_<last>_<16 hex>`.
/// @param last  The number of the change's last entry in the chain of its account and node.
/// @param hash  Hexadecimal digits of the chain's hash after that entry; the first 16 are used.
[[nodiscard]] std::string webhook_id(std::uint32_t account_number, std::uint32_t node_number,
                                     std::uint64_t last, std::string_view hash);

/// How long both secrets sign after a rotation.
inline constexpr std::uint64_t kOldSecretMs = 86'400'000;

struct OpenedSecrets {
    std::vector<std::string> signing;  ///< One, or two after a rotation.
    std::string header;                ///< May be empty.
};
/// @param now  Milliseconds since 1970.
[[nodiscard]] Result<OpenedSecrets> open_secrets(const store::MasterKey& key,
                                                 const store::Destination& destination,
                                                 std::uint64_t now);

/// Checks `Name: value` of a request header. Refuses names that sluice or libcurl set. Errors do
/// not repeat the value.
[[nodiscard]] Result<std::string> parse_header(std::string_view line);

}  // namespace sluice::notify
