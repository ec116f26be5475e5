#include "lmdb_store/registry/reader.hpp"

#include <openssl/crypto.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "lmdb_store/environment/table_access.hpp"
#include "lmdb_store/registry/lru_cache.hpp"
#include "lmdb_store/registry/published.hpp"
#include "lmdb_store/registry/rows.hpp"
#include "lmdb_store/registry/tables.hpp"

namespace sluice::store {
namespace {

using TokenPtr = std::shared_ptr<const TokenView>;
using AccountPtr = std::shared_ptr<const AccountView>;
using ShopPtr = std::shared_ptr<const ShopView>;

/// A prepared token and the bytes that it was prepared from.
struct TokenEntry {
    std::string token_id;
    std::string bytes;
    TokenPtr view;
};

/// The generation and the key with which an entry is current.
struct Seen {
    std::uint64_t snapshot = 0;
    std::uint64_t key = 0;
    friend bool operator==(const Seen&, const Seen&) = default;
};

struct AccountEntry {
    Seen seen{};
    std::string bytes;
    std::vector<TokenEntry> tokens;
    AccountPtr view{};
};
struct ShopEntry {
    Seen seen;
    std::string bytes;
    ShopPtr view;
};
struct BearerEntry {
    Seen seen;
    TokenEntry token;
    AccountPtr account;
};

/// Holds a snapshot while it lives.
class Snapshot {
public:
    Snapshot(ReadTxn& txn, Environment& environment) : txn_(txn) {
        check(txn.renew(environment), environment, "read");
    }
    Snapshot(const Snapshot&) = delete;
    Snapshot& operator=(const Snapshot&) = delete;
    ~Snapshot() { txn_.reset(); }

private:
    ReadTxn& txn_;
};

/// Rows of a shop that does not exist. Preparing them takes as long as preparing a shop.
struct Decoy {
    std::string id;
    std::string shop{}, account{}, token{};
};

Decoy make_decoy(const MasterKey& key) {
    Decoy decoy{.id = "no-shop-has-this-id"};
    RegisteredShop shop{
        .shop_id = ShopId(decoy.id), .number = {1}, .account_id = AccountId(decoy.id)};
    decoy.shop = encode_shop(shop);
    RegisteredAccount account{.account_id = AccountId(decoy.id), .number = {1}};
    decoy.account = encode_account(account);
    StoredToken token;
    token.row.token_id = TokenId(decoy.id);
    token.row.account_id = AccountId(decoy.id);
    token.row.scopes = kWriteOrders;
    token.sealed_secret = key.seal("a secret without an owner, as long as ours", decoy.id);
    decoy.token = encode_token(token);
    return decoy;
}

class LmdbRegistryReader final : public RegistryReader {
public:
    LmdbRegistryReader(const StorePaths& paths, PublishedGeneration generation,
                       const MasterKey& key)
        : current_(paths, std::move(generation)), key_(key) {}

    /// Opens the published registry now, so that no request fails because it cannot be opened.
    void start() {
        const Snapshot snapshot = take_snapshot();
        checked_snapshot_ = current_.opened();
        key_ = checked(tables_.key_in_force(txn_, key_));
        decoy_ = make_decoy(key_);
    }

    ShopPtr find_shop(std::string_view shop_id) override {
        if (!is_admin_id(shop_id)) {
            return nullptr;
        }
        const Snapshot snapshot = take_snapshot();
        check_key_once();
        return current_shop(shop_id);
    }

    ShopPtr find_platform_shop(Platform platform, std::string_view domain) override {
        const Snapshot snapshot = take_snapshot();
        check_key_once();
        const std::string key = domain_key(platform, domain.substr(0, kDomainBytesMax));
        const auto id = find(txn_, tables_.main, key);
        // No shop has an id with a space, and looking for it takes as long as for a shop.
        return current_shop(id ? std::string(*id) : "no shop " + key);
    }

    BearerView find_bearer(std::string_view secret) override {
        const Digest256 digest = sha256(secret);
        const std::string_view key = to_view(digest);
        const Snapshot snapshot = take_snapshot();
        BearerEntry* cached = bearers_.find(key);
        check_key_once();
        if (cached == nullptr || cached->seen != now()) {
            cached = refresh_bearer(key, digest, cached);
        }
        return cached != nullptr ? BearerView{cached->token.view, cached->account} : BearerView{};
    }

    std::vector<TokenPtr> find_barred_tokens(AccountNumber account, Scope scope,
                                             std::size_t count) override {
        const Snapshot snapshot = take_snapshot();
        std::vector<TokenPtr> tokens;
        const auto add = [&](std::string_view id, bool is_retired) {
            const auto bytes = find(txn_, tables_.tokens, id);
            const auto token = bytes ? decode_token(id, *bytes) : std::nullopt;
            if (token && (is_retired || (token->row.scopes & scope) == 0)) {
                tokens.push_back(prepare_with_key(*token));
            }
        };
        const std::string prefix = account_number_key(account);
        scan(txn_, tables_.account_tokens, prefix, [&](std::string_view key, std::string_view) {
            add(key.substr(prefix.size()), false);
            return tokens.size() < count;
        });
        scan(txn_, tables_.account_tokens, retired_tokens_key(account),
             [&](std::string_view key, std::string_view) {
                 if (tokens.size() < count) {
                     add(token_of_retired_key(key), true);
                 }
                 return tokens.size() < count;
             });
        for (std::size_t i = tokens.size(); i < count; ++i) {
            static_cast<void>(tables_.key_in_force(txn_, key_));  // takes as long as a token
        }
        return tokens;
    }

    bool is_key_outdated() const noexcept override { return is_key_outdated_; }

    std::uint32_t signing_tokens_max() const noexcept override {
        return tables_.signing_tokens_max;
    }

    bool still_in_place() const noexcept override { return current_.still_in_place(); }

    bool use_key(const MasterKey& key) override {
        const Snapshot snapshot = take_snapshot();
        const Result<MasterKey> in_force = tables_.key_in_force(txn_, key);
        if (!in_force) {
            return false;
        }
        key_ = *in_force;
        decoy_ = make_decoy(key_);
        ++keys_used_;
        is_key_outdated_ = false;
        checked_snapshot_ = current_.opened();
        return true;
    }

    std::optional<AccountSummary> find_account(AccountSlot slot) override {
        const Snapshot snapshot = take_snapshot();
        const auto id = find(txn_, tables_.account_ids, account_number_key(number_of(slot)));
        const auto bytes = id ? find(txn_, tables_.accounts, *id) : std::nullopt;
        const auto row = bytes ? decode_account(*id, *bytes) : std::nullopt;
        if (id && !row) {
            throw StoreFailure(tables_.damaged("account"));
        }
        return row ? std::optional(AccountSummary{row->account_id, row->rate_limit}) : std::nullopt;
    }

    RegistrySize size() override {
        const Snapshot snapshot = take_snapshot();
        return tables_.size(txn_, current_.opened());
    }

    std::uint64_t slots_used() override {
        const Snapshot snapshot = take_snapshot();
        return tables_.slots_used(txn_);
    }

private:
    static constexpr std::size_t kUnknownShopsMax = 1024, kDecoysMax = 16;
    static constexpr std::size_t kDomainBytesMax = 254;  ///< One more than a domain has.

    /// Opens the published registry if it is another one than before.
    [[nodiscard]] Snapshot take_snapshot() {
        if (!current_.is_current()) {
            txn_ = ReadTxn();
            check(current_.refresh());
        }
        return {txn_, *tables_.environment};
    }

    [[nodiscard]] Seen now() const noexcept { return {current_.opened(), keys_used_}; }

    /// Checks, once for each snapshot, whether the master key was replaced.
    void check_key_once() {
        if (checked_snapshot_ != current_.opened()) {
            checked_snapshot_ = current_.opened();
            is_key_outdated_ = !tables_.key_in_force(txn_, key_).ok();
        }
    }

    /// Requires: a snapshot.
    ShopPtr current_shop(std::string_view shop_id) {
        ShopEntry* cached = shops_.find(shop_id);
        if (cached != nullptr && cached->seen == now()) {
            return cached->view;
        }
        if (cached == nullptr && is_known_missing(shop_id)) {
            return nullptr;
        }
        return refresh_shop(shop_id, cached);
    }

    /// Returns true if the shop is known not to exist, which costs as much as an existing one.
    [[nodiscard]] bool is_known_missing(std::string_view shop_id) {
        const Seen* seen = unknown_shops_.find(shop_id);
        return seen != nullptr && *seen == now();
    }

    /// Performs the work of preparing a shop, in the first request for an unknown one.
    void prepare_decoy(std::string_view shop_id) {
        const std::string prefix = account_number_key({0});  // no account has it
        static_cast<void>(find(txn_, tables_.accounts, shop_id));
        scan(txn_, tables_.account_tokens, prefix,
             [](std::string_view, std::string_view) { return false; });
        const std::optional<RegisteredShop> row = decode_shop(decoy_.id, decoy_.shop);
        const std::optional<RegisteredAccount> account = decode_account(decoy_.id, decoy_.account);
        if (!row || !account) {
            return;
        }
        AccountEntry entry{.bytes = decoy_.account,
                           .tokens = prepare_decoy_tokens(shop_id, tables_.signing_tokens_max)};
        auto account_view = std::make_shared<AccountView>();
        account_view->account_id = account->account_id;
        for (const TokenEntry& token : entry.tokens) {
            account_view->tokens.push_back(token.view);
        }
        entry.view = account_view;
        decoy_accounts_.put(shop_id, std::move(entry));
        auto view = std::make_shared<ShopView>();
        view->shop_id = row->shop_id;
        view->account = std::move(account_view);
        decoy_shops_.put(shop_id, {now(), decoy_.shop, std::move(view)});
    }

    /// Performs the work of looking up and preparing so many tokens.
    std::vector<TokenEntry> prepare_decoy_tokens(std::string_view shop_id, std::uint32_t count) {
        std::vector<TokenEntry> tokens;
        for (std::uint32_t i = 0; i < count; ++i) {
            static_cast<void>(find(txn_, tables_.tokens, shop_id));
            tokens.push_back({decoy_.id, decoy_.token, prepare_token(decoy_.id, decoy_.token)});
        }
        return tokens;
    }

    ShopPtr refresh_shop(std::string_view shop_id, ShopEntry* cached) {
        const std::uint64_t before = keys_opened_;
        const auto bytes = find(txn_, tables_.shops, shop_id);
        if (!bytes) {
            prepare_decoy(shop_id);
            shops_.erase(shop_id);
            unknown_shops_.put(shop_id, now());
            return nullptr;
        }
        const RegisteredShop row = tables_.sound(decode_shop(shop_id, *bytes), "shop");
        AccountPtr account = current_account(row.account_id.view());
        const std::uint64_t opened = keys_opened_ - before;
        if (opened < tables_.signing_tokens_max) {
            static_cast<void>(prepare_decoy_tokens(
                shop_id, tables_.signing_tokens_max - static_cast<std::uint32_t>(opened)));
        }
        if (cached != nullptr && cached->bytes == *bytes && cached->view->account == account) {
            cached->seen = now();
            return cached->view;
        }
        auto view = std::make_shared<ShopView>();
        view->shop_id = row.shop_id;
        view->number = row.number;
        view->suspended = row.suspended;
        view->source = row.source;
        view->account = std::move(account);
        return shops_.put(shop_id, {now(), std::string(*bytes), std::move(view)}).view;
    }

    AccountPtr current_account(std::string_view account_id) {
        AccountEntry* cached = accounts_.find(account_id);
        if (cached != nullptr && cached->seen == now()) {
            return cached->view;
        }
        const auto bytes = find(txn_, tables_.accounts, account_id);
        const RegisteredAccount row =
            tables_.sound(bytes ? decode_account(account_id, *bytes) : std::nullopt, "account");
        std::vector<TokenEntry> tokens = current_tokens(row.number, cached);
        if (cached != nullptr && cached->bytes == *bytes && same_views(cached->tokens, tokens)) {
            cached->tokens = std::move(tokens);
            cached->seen = now();
            return cached->view;
        }
        auto view = std::make_shared<AccountView>();
        view->account_id = row.account_id;
        view->number = row.number;
        view->slot = row.slot;
        view->rate_limit = row.rate_limit;
        view->suspended = row.suspended;
        for (const TokenEntry& token : tokens) {
            view->tokens.push_back(token.view);
        }
        AccountEntry entry{now(), std::string(*bytes), std::move(tokens), std::move(view)};
        return accounts_.put(account_id, std::move(entry)).view;
    }

    [[nodiscard]] static bool same_views(const std::vector<TokenEntry>& a,
                                         const std::vector<TokenEntry>& b) {
        return std::ranges::equal(
            a, b, [](const TokenEntry& x, const TokenEntry& y) { return x.view == y.view; });
    }

    /// Returns the account's tokens. Prepares new and changed ones, and copies the rest of
    /// `cached`.
    std::vector<TokenEntry> current_tokens(AccountNumber account, const AccountEntry* cached) {
        const std::string prefix = account_number_key(account);
        std::vector<TokenEntry> tokens;
        scan(txn_, tables_.account_tokens, prefix, [&](std::string_view key, std::string_view) {
            const std::string_view id = key.substr(prefix.size());
            const TokenEntry* old = nullptr;
            if (cached != nullptr) {
                const auto found = std::ranges::find_if(
                    cached->tokens, [&](const TokenEntry& token) { return token.token_id == id; });
                old = found != cached->tokens.end() ? &*found : nullptr;
            }
            tokens.push_back(current_token(id, old));
            return true;
        });
        return tokens;
    }

    TokenEntry current_token(std::string_view id, const TokenEntry* old) {
        const std::string_view bytes = tables_.sound(find(txn_, tables_.tokens, id), "token");
        const bool prepared = old != nullptr && !old->view->unreadable;
        if (prepared && old->bytes == bytes) {
            return *old;
        }
        // The master key was rotated, and the secret is the same.
        if (prepared && differ_in_seal_only(id, old->bytes, bytes)) {
            return {std::string(id), std::string(bytes), old->view};
        }
        TokenPtr view = prepare_token(id, bytes);
        if (old != nullptr && old->view->unreadable && view->unreadable) {
            view = old->view;  // keeps the account's view from changing with every check
        }
        return {std::string(id), std::string(bytes), std::move(view)};
    }

    TokenPtr prepare_token(std::string_view id, std::string_view bytes) {
        const StoredToken stored = tables_.sound(decode_token(id, bytes), "token");
        std::shared_ptr<TokenView> view = view_of(stored);
        if ((view->scopes & kSigningScopes) != 0 && !view->revoked) {
            view->signing_key = open_key(stored);
            view->unreadable = view->signing_key == nullptr;
        }
        return view;
    }

    /// Prepares a token that may not sign, without a key if its secret cannot be decrypted.
    TokenPtr prepare_with_key(const StoredToken& stored) {
        std::shared_ptr<TokenView> view = view_of(stored);
        view->signing_key = open_key(stored);
        return view;
    }

    [[nodiscard]] static std::shared_ptr<TokenView> view_of(const StoredToken& stored) {
        auto view = std::make_shared<TokenView>();
        view->token_id = stored.row.token_id;
        view->account_number = stored.account_number;
        view->scopes = stored.row.scopes;
        view->expires_at = stored.row.expires_at;
        view->revoked = stored.row.revoked_at.has_value();
        view->shop_id = stored.row.shop_id;
        return view;
    }

    /// Returns nullptr if the master key was replaced and the new one is missing, or the row is
    /// damaged.
    std::unique_ptr<const SigningKey> open_key(const StoredToken& stored) {
        ++keys_opened_;
        Result<std::string> secret = key_.open(stored.sealed_secret, stored.row.token_id.view());
        if (!secret) {
            return nullptr;
        }
        auto key = std::make_unique<const SigningKey>(*secret);
        OPENSSL_cleanse(secret->data(), secret->size());
        return key;
    }

    BearerEntry* refresh_bearer(std::string_view key, const Digest256& digest,
                                BearerEntry* cached) {
        const auto id = find(txn_, tables_.bearers, key);
        if (!id) {
            bearers_.erase(key);
            return nullptr;
        }
        const auto bytes = find(txn_, tables_.tokens, *id);
        const std::optional<StoredToken> stored = bytes ? decode_token(*id, *bytes) : std::nullopt;
        if (!stored || stored->secret_sha256 != digest) {
            throw StoreFailure(tables_.damaged("token"));
        }
        AccountPtr account = current_account(stored->row.account_id.view());
        if (cached != nullptr && cached->token.bytes == *bytes && cached->account == account) {
            cached->seen = now();
            return cached;
        }
        TokenEntry token{std::string(*id), std::string(*bytes),
                         bearer_token(*account, *id, *bytes)};
        return &bearers_.put(key, {now(), std::move(token), std::move(account)});
    }

    /// Returns the account's view of the token, or a new one if the token is revoked.
    TokenPtr bearer_token(const AccountView& account, std::string_view id, std::string_view bytes) {
        const auto found = std::ranges::find_if(
            account.tokens, [&](const TokenPtr& token) { return token->token_id.view() == id; });
        return found != account.tokens.end() ? *found : prepare_token(id, bytes);
    }

    CurrentRegistry current_;
    const RegistryTables& tables_ = current_.tables();
    MasterKey key_;
    std::uint64_t keys_used_ = 0;
    std::uint64_t keys_opened_ = 0;  ///< Keys of tokens that were decrypted.
    std::uint64_t checked_snapshot_ = 0;
    bool is_key_outdated_ = false;
    Decoy decoy_;
    ReadTxn txn_;
    LruCache<ShopEntry> shops_{kCachedShopsMax};
    LruCache<AccountEntry> accounts_{kCachedShopsMax};
    LruCache<BearerEntry> bearers_{kCachedShopsMax};
    LruCache<ShopEntry> decoy_shops_{kDecoysMax};
    LruCache<AccountEntry> decoy_accounts_{kDecoysMax};
    LruCache<Seen> unknown_shops_{kUnknownShopsMax};
};

}  // namespace

Result<std::unique_ptr<RegistryReader>> RegistryReader::open(const StorePaths& paths,
                                                             const MasterKey& key) {
    return attempt([&]() -> std::unique_ptr<RegistryReader> {
        (void)checked(read_store_format(paths));
        auto reader = std::make_unique<LmdbRegistryReader>(
            paths, checked(PublishedGeneration::open(paths)), key);
        reader->start();
        return reader;
    });
}

}  // namespace sluice::store
