// What a request needs to know of the registry. The store implements it
// (lmdb_store/registry/reader); the core and its tests see only this.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "core/intake/rate_window.hpp"
#include "core/protocol/signature.hpp"
#include "core/values/ids.hpp"
#include "core/values/timestamp.hpp"

namespace sluice {

enum Scope : std::uint8_t {
    kWriteOrders = 1,
    kWriteProducts = 2,
    kReadOrders = 4,
};

/// A token: it signs events, or is sent as a bearer token. Immutable.
struct TokenView {
    TokenId token_id;
    AccountNumber account_number;
    std::uint8_t scopes = 0;  ///< Bits of Scope.
    std::optional<Timestamp> expires_at;
    bool revoked = false;
    std::unique_ptr<const SigningKey> signing_key;  ///< Set for kWriteOrders only.
    /// Its secret does not open now (the master key was replaced): what it signed cannot be judged.
    bool unreadable = false;

    [[nodiscard]] bool active(Timestamp now) const noexcept {
        return !revoked && (!expires_at || now < *expires_at);
    }
};

/// An account as requests see it. Immutable snapshot.
struct AccountView {
    AccountId account_id;
    AccountNumber number;
    AccountSlot slot;
    std::optional<RateLimit> rate_limit;  ///< Its own, if it has one.
    bool suspended = false;
    std::vector<std::shared_ptr<const TokenView>> tokens;  ///< All that are not revoked.
};

/// A shop and its account. Immutable snapshot; shared with threads that outlive a refresh.
struct ShopView {
    ShopId shop_id;
    ShopNumber number;
    bool suspended = false;
    std::shared_ptr<const AccountView> account;

    [[nodiscard]] bool active() const noexcept { return !suspended && !account->suspended; }
};

/// A bearer token with its account.
struct BearerView {
    std::shared_ptr<const TokenView> token;
    std::shared_ptr<const AccountView> account;
};

class RegistryView {
public:
    RegistryView() = default;
    RegistryView(const RegistryView&) = delete;
    RegistryView& operator=(const RegistryView&) = delete;
    virtual ~RegistryView() = default;

    /// nullptr: no such shop. Each call sees every change that was committed before it began.
    [[nodiscard]] virtual std::shared_ptr<const ShopView> find_shop(std::string_view shop_id) = 0;
    /// By SHA-256 of the secret. Revoked and expired tokens are found too; token is null if
    /// unknown.
    [[nodiscard]] virtual BearerView find_bearer(std::string_view secret) = 0;

    /// As of the last find: the secrets are sealed with another key than the one that is known.
    /// Tokens that were used before go on working, others are unreadable.
    [[nodiscard]] virtual bool is_key_outdated() const noexcept { return false; }

    /// Tokens of an account that may not sign events, with their signing keys: those without the
    /// scope, then the last that were revoked; at most `count`. For core/intake/diagnosis only,
    /// never on the hot path. Takes the same time for an account without any. A registry that does
    /// not keep them gives none.
    [[nodiscard]] virtual std::vector<std::shared_ptr<const TokenView>> find_barred_tokens(
        AccountNumber /*account*/, std::size_t /*count*/) {
        return {};
    }
};

}  // namespace sluice
