// The registry as requests use it. lmdb_store/registry/reader implements it; the core and its
// tests use only this interface.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "core/intake/rate_window.hpp"
#include "core/protocol/signature.hpp"
#include "core/protocol/topic.hpp"
#include "core/shops/source.hpp"
#include "core/values/ids.hpp"
#include "core/values/interface.hpp"
#include "core/values/name_table.hpp"
#include "core/values/timestamp.hpp"

namespace sluice {

enum Scope : std::uint8_t {
    kWriteOrders = 1,
    kWriteProducts = 2,
    kReadOrders = 4,
    kReadLedger = 8,
    kShopifyWebhooks = 16,
    kWooCommerceWebhooks = 32,
    kWriteClicks = 64,
    kCreatorPages = 128,
};
template <>
inline constexpr NameTable<Scope, 8> kNamesOf<Scope>{{
    {kWriteOrders, "write_orders"},
    {kWriteProducts, "write_products"},
    {kReadOrders, "read_orders"},
    {kReadLedger, "read_ledger"},
    {kShopifyWebhooks, "shopify_webhooks"},
    {kWooCommerceWebhooks, "woocommerce_webhooks"},
    {kWriteClicks, "write_clicks"},
    {kCreatorPages, "creator_pages"},
}};
/// Tokens with one of these sign webhooks of a platform, and nothing else.
inline constexpr std::uint8_t kWebhookScopes = kShopifyWebhooks | kWooCommerceWebhooks;
/// Tokens with one of these have a signing key.
inline constexpr std::uint8_t kSigningScopes = kWriteOrders | kWriteClicks | kWebhookScopes;

/// Returns the scope of tokens that sign the orders of a platform; of kNone, our own orders.
[[nodiscard]] constexpr Scope signing_scope(Platform platform) noexcept {
    return platform == Platform::kShopify       ? kShopifyWebhooks
           : platform == Platform::kWooCommerce ? kWooCommerceWebhooks
                                                : kWriteOrders;
}

/// A token, which signs events or is sent as a bearer token. Immutable.
struct TokenView {
    TokenId token_id;
    AccountNumber account_number;
    std::uint8_t scopes = 0;  ///< Bits of Scope.
    std::optional<Timestamp> expires_at;
    bool revoked = false;
    std::unique_ptr<const SigningKey> signing_key;  ///< Set for kSigningScopes only.
    /// The secret cannot be decrypted now, because the master key was replaced, so that signatures
    /// cannot be checked.
    bool unreadable = false;
    ShopId shop_id{};  ///< The only shop for which it counts; empty: all shops of the account.

    [[nodiscard]] bool active(Timestamp now) const noexcept {
        return !revoked && (!expires_at || now < *expires_at);
    }
    /// Returns true if the token may sign what the scope allows: kWriteOrders or kWriteClicks.
    /// Whether its secret is readable is another question.
    [[nodiscard]] bool may_sign(Scope scope, Timestamp now) const noexcept {
        return (scopes & scope) != 0 && active(now);
    }
    /// Returns true if the token may sign webhooks of the shop's platform.
    [[nodiscard]] bool may_sign_webhooks(Platform platform, const ShopId& shop,
                                         Timestamp now) const noexcept {
        return (scopes & signing_scope(platform)) != 0 && active(now) &&
               (shop_id.empty() || shop_id == shop);
    }
};

/// An account as requests see it. Immutable snapshot.
struct AccountView {
    AccountId account_id;
    AccountNumber number;
    AccountSlot slot;
    std::optional<RateLimit> rate_limit;  ///< Its own limit, if it has one.
    bool suspended = false;
    std::vector<std::shared_ptr<const TokenView>> tokens;  ///< All tokens that are not revoked.
};

/// A shop and its account. Immutable snapshot; shared with threads that outlive a refresh.
struct ShopView {
    ShopId shop_id;
    ShopNumber number;
    bool suspended = false;
    std::shared_ptr<const AccountView> account;
    ShopSource source{};

    [[nodiscard]] bool active() const noexcept { return !suspended && !account->suspended; }
};

/// The shortest secret of a token. $sluice_shop cuts an unknown name that may be one.
inline constexpr std::size_t kSecretBytesMin = 16;
/// Active tokens of an account with the same scope; of webhooks, those that count for one shop.
inline constexpr std::uint32_t kActiveTokensMax = 8;

/// A bearer token with its account.
struct BearerView {
    std::shared_ptr<const TokenView> token;
    std::shared_ptr<const AccountView> account;
};

/// The sender that a request names; enough to check the request without the registry.
struct Sender {
    /// Events, webhooks, clicks: null if unknown; a dummy key is used then.
    std::shared_ptr<const ShopView> shop;
    std::shared_ptr<const TokenView> bearer;  ///< Catalog.
    Digest256 signature{};
    Topic topic = Topic::kOrderCreate;  ///< Catalog: known after step 1.
    /// Events, webhooks, clicks: RegistryView::is_key_outdated(). Meanwhile no signature can be
    /// called wrong, not even for an unknown shop, because the difference would reveal which shops
    /// exist.
    bool is_key_outdated = false;
    /// Events, webhooks, clicks: RegistryView::signing_tokens_max().
    std::uint32_t signing_tokens_max = 1;
    /// Webhooks: address and header name different shops. Then `shop` is null.
    bool shop_differs = false;
    /// Webhooks: unsigned, and maybe a ping, which the body decides.
    bool may_be_ping = false;
};

class RegistryView : public Interface {
public:
    /// Returns nullptr if there is no such shop. Sees every change that was committed before the
    /// call.
    [[nodiscard]] virtual std::shared_ptr<const ShopView> find_shop(std::string_view shop_id) = 0;
    /// Returns the shop of a domain on a platform, or nullptr. Takes as long for an unknown one.
    /// @param domain  As platform_domain() returns it.
    [[nodiscard]] virtual std::shared_ptr<const ShopView> find_platform_shop(
        Platform platform, std::string_view domain) = 0;
    /// Finds a token by the SHA-256 of its secret, even if it is revoked or expired. An unknown
    /// token is null.
    [[nodiscard]] virtual BearerView find_bearer(std::string_view secret) = 0;

    /// Returns true if, at the last find, the secrets were sealed with another key than the known
    /// one. Tokens that were used before still work; others are unreadable.
    [[nodiscard]] virtual bool is_key_outdated() const noexcept { return false; }

    /// Returns the number of HMACs that a failed check of a signature computes: as many as the
    /// account with the most tokens needs. A check that computed fewer for other accounts, or for
    /// unknown shops, would tell them apart by its time.
    [[nodiscard]] virtual std::uint32_t signing_tokens_max() const noexcept { return 1; }

    /// Returns at most `count` tokens of an account that may not sign what `scope` allows, with
    /// their signing keys: tokens without it, then the last revoked ones. For core/intake/diagnosis
    /// only, never on the hot path. Takes the same time for an account without such tokens. A
    /// registry that does not keep them returns none.
    [[nodiscard]] virtual std::vector<std::shared_ptr<const TokenView>> find_barred_tokens(
        AccountNumber /*account*/, Scope /*scope*/, std::size_t /*count*/) {
        return {};
    }
};

}  // namespace sluice
