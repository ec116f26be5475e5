// Rows of the registry: accounts, their shops and their tokens, and their bytes.
//
// Encoders are deterministic. Decoders verify every buffer before they read it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "core/intake/rate_window.hpp"
#include "core/protocol/page_token.hpp"
#include "core/protocol/signature.hpp"
#include "core/shops/source.hpp"
#include "core/values/ids.hpp"
#include "core/values/name_table.hpp"
#include "core/values/timestamp.hpp"

namespace sluice::store {

struct RegisteredAccount {
    AccountId account_id;
    AccountNumber number;
    AccountSlot slot{};
    std::optional<RateLimit> rate_limit{};  ///< Empty means the default.
    bool suspended = false;
    Timestamp created_at{};
};

struct RegisteredShop {
    ShopId shop_id;
    ShopNumber number;
    AccountId account_id;
    AccountNumber account_number{};
    bool suspended = false;
    Timestamp created_at{};
    ShopSource source{};
};

struct TokenRow {
    TokenId token_id;
    AccountId account_id;
    std::uint8_t scopes = 0;
    Timestamp created_at;
    std::optional<Timestamp> expires_at;
    std::optional<Timestamp> revoked_at;
    ShopId shop_id{};       ///< The only shop for which it counts; empty: all shops of the account.
    std::string label{};    ///< For people. May be empty.
    std::string made_by{};  ///< The actor who created it, or empty.
};

enum class Role : std::uint8_t { kViewer = 1, kManager = 2, kSupport = 3 };
inline constexpr NameTable<Role, 3> kRoleNames{{
    {Role::kViewer, "viewer"},
    {Role::kManager, "manager"},
    {Role::kSupport, "support"},
}};
[[nodiscard]] inline std::string_view to_string(Role role) noexcept {
    return name_in(kRoleNames, role, "viewer");
}

/// A person who may read an account's ledger. One person may have several accounts.
struct UserRow {
    std::string name;  ///< In ASCII lower case; see user_name().
    AccountId account_id;
    AccountNumber account_number;
    Role role = Role::kViewer;
    Timestamp created_at;
    std::optional<Timestamp> removed_at;
};
/// Returns the name as it is stored, in ASCII lower case; or nothing unless it has 1 to 254 bytes
/// without control characters.
[[nodiscard]] std::optional<std::string> user_name(std::string_view text);

/// The actor of a change, and the reason.
struct Author {
    std::string actor;   ///< As current_user() names it.
    std::string reason;  ///< May be empty.
};

/// A change that a command made, kept for ever (controls K13).
struct ChangeRow {
    std::string store;         ///< UUID of the store whose command made it.
    std::uint64_t number = 0;  ///< Assigned by that store, from 1.
    Timestamp at;
    Author author;
    std::string change;  ///< `token create tok_1 of acme: write_orders`
};

/// A token with the fields that only the store knows.
struct StoredToken {
    TokenRow row;
    AccountNumber account_number;
    Digest256 secret_sha256{};
    std::string sealed_secret;          ///< MasterKey::seal(secret, token id)
    std::optional<PageKey> page_key{};  ///< Set for creator_pages; follows from the secret.
};

[[nodiscard]] std::string encode_account(const RegisteredAccount& row);
[[nodiscard]] std::string encode_shop(const RegisteredShop& row);
[[nodiscard]] std::string encode_token(const StoredToken& token);
[[nodiscard]] std::string encode_user(const UserRow& row);
[[nodiscard]] std::string encode_change(const ChangeRow& row);

// Decoders return nullopt for damaged bytes.
[[nodiscard]] std::optional<RegisteredAccount> decode_account(std::string_view id,
                                                              std::string_view bytes);
[[nodiscard]] std::optional<RegisteredShop> decode_shop(std::string_view id,
                                                        std::string_view bytes);
[[nodiscard]] std::optional<StoredToken> decode_token(std::string_view id, std::string_view bytes);
[[nodiscard]] std::optional<UserRow> decode_user(std::string_view name, std::string_view bytes);
/// @param key  Store, `/`, and the number as u64 BE.
[[nodiscard]] std::optional<ChangeRow> decode_change(std::string_view key, std::string_view bytes);

/// Returns what differs, for people: `platform shopify, domain mugs.myshopify.com`.
[[nodiscard]] std::string source_changes(const ShopSource& before, const ShopSource& after);

/// Returns `100/60`, or `default`.
[[nodiscard]] std::string limit_text(const std::optional<RateLimit>& limit);

[[nodiscard]] inline bool is_active(const TokenRow& token, Timestamp now) noexcept {
    return !token.revoked_at && (!token.expires_at || now < *token.expires_at);
}

/// Returns true if two rows of a token are equal but for the encryption of its secret.
[[nodiscard]] bool differ_in_seal_only(std::string_view id, std::string_view a, std::string_view b);

}  // namespace sluice::store
