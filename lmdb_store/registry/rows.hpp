// Rows of the registry: values <-> bytes. Internal to this room.
//
// Encoders are deterministic. Decoders check every buffer before they read it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "core/protocol/signature.hpp"
#include "lmdb_store/registry/values.hpp"

namespace sluice::store {

/// A token with what only the store knows of it.
struct StoredToken {
    TokenRow row;
    AccountNumber account_number;
    Digest256 secret_sha256{};
    std::string sealed_secret;  ///< MasterKey::seal(secret, token id)
};

[[nodiscard]] std::string encode_account(const AccountRow& row);
[[nodiscard]] std::string encode_shop(const ShopRow& row);
[[nodiscard]] std::string encode_token(const StoredToken& token);

// Nothing: the bytes are damaged.
[[nodiscard]] std::optional<AccountRow> decode_account(std::string_view id, std::string_view bytes);
[[nodiscard]] std::optional<ShopRow> decode_shop(std::string_view id, std::string_view bytes);
[[nodiscard]] std::optional<StoredToken> decode_token(std::string_view id, std::string_view bytes);

[[nodiscard]] inline bool is_active(const TokenRow& token, Timestamp now) noexcept {
    return !token.revoked_at && (!token.expires_at || now < *token.expires_at);
}

[[nodiscard]] inline std::string_view view_of(const Digest256& digest) noexcept {
    return {reinterpret_cast<const char*>(digest.data()), digest.size()};
}

}  // namespace sluice::store
