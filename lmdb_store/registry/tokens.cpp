// The registry's tokens. Their secrets are encrypted, and found by their SHA-256.
#include <fcntl.h>
#include <openssl/crypto.h>
#include <sys/file.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <map>

#include "core/intake/registry_view.hpp"
#include "core/protocol/page_token.hpp"
#include "lmdb_store/registry/access.hpp"
#include "lmdb_store/registry/registry.hpp"
#include "os/files/file_io.hpp"
#include "os/random/random_bytes.hpp"

namespace sluice::store {
namespace {

constexpr std::size_t kSecretBytesMax = 1024;
constexpr std::uint8_t kAllScopes = kWriteOrders | kWriteProducts | kReadOrders | kReadLedger |
                                    kWriteClicks | kWebhookScopes | kCreatorPages;
/// Time before an expired token is retired, in case a clock was wrong.
constexpr std::int64_t kExpiredKeptSeconds = 7 * kSecondsPerDay;

std::string scopes_text(std::uint8_t scopes) {
    std::string text;
    for (const auto& [scope, name] : kNamesOf<Scope>) {
        if ((scopes & scope) != 0) {
            text += (text.empty() ? "" : ",") + std::string(name);
        }
    }
    return text;
}

bool is_control(char c) noexcept {
    const auto byte = static_cast<unsigned char>(c);
    return byte < 0x20 || byte == 0x7F;
}

Status check_secret(const TokenRequest& request) {
    const std::string& secret = *request.secret;
    const bool is_of_pages = (request.scopes & kCreatorPages) != 0;
    const std::size_t min = is_of_pages ? kPageSecretBytesMin : kSecretBytesMin;
    if (secret.size() < min || secret.size() > kSecretBytesMax) {
        return invalid(std::string("a secret ") + (is_of_pages ? "of creator_pages " : "") +
                       "has " + std::to_string(min) + " to " + std::to_string(kSecretBytesMax) +
                       " bytes");
    }
    const bool is_borne = (request.scopes & ~unsigned{kSigningScopes}) != 0;
    if (is_borne && std::ranges::any_of(secret, is_control)) {
        return invalid(
            "a secret with control characters cannot be sent in an Authorization header, which "
            "these scopes need");
    }
    return Status::success();
}

Status check_request(const TokenRequest& request) {
    if (request.scopes == 0 || (request.scopes & ~unsigned{kAllScopes}) != 0) {
        return invalid(
            "a token needs at least one scope of write_orders, write_products, read_orders, "
            "read_ledger, write_clicks, shopify_webhooks, woocommerce_webhooks, creator_pages");
    }
    if ((request.scopes & kCreatorPages) != 0 && !std::has_single_bit(request.scopes)) {
        return invalid(
            "a token for creators' pages has the scope creator_pages alone, so that it can be "
            "revoked alone");
    }
    const bool signs_webhooks = (request.scopes & kWebhookScopes) != 0;
    if (signs_webhooks && !std::has_single_bit(request.scopes)) {
        return invalid("a token for webhooks has that scope alone, because it signs nothing else");
    }
    if (!signs_webhooks && !request.shop_id.empty()) {
        return invalid(
            "only a token for webhooks can be limited to a shop: a shop that signs its own orders "
            "belongs to the account");
    }
    return request.secret ? check_secret(request) : Status::success();
}

/// Returns how many active tokens with a scope count for `shop`; if it is empty, for the shop that
/// has most.
std::size_t count_active(const std::vector<StoredToken>& tokens, Scope scope, const ShopId& shop,
                         Timestamp now) {
    std::size_t of_account = 0;
    std::map<std::string, std::size_t> of_shops;
    for (const StoredToken& token : tokens) {
        if ((token.row.scopes & scope) == 0 || !is_active(token.row, now)) {
            continue;
        }
        std::size_t& counted =
            token.row.shop_id.empty() ? of_account : of_shops[token.row.shop_id.str()];
        ++counted;
    }
    std::size_t most = 0;
    for (const auto& [id, count] : of_shops) {
        most = std::max(most, shop.empty() || shop.view() == id ? count : 0);
    }
    return of_account + most;
}

void check_token_count(const RegistryAccess& access, const WriteTxn& txn,
                       const RegisteredAccount& account, const TokenRequest& request,
                       Timestamp now) {
    const std::vector<StoredToken> tokens = access.open_tokens(txn, account.number);
    for (const auto& [scope, name] : kNamesOf<Scope>) {
        const std::size_t count = count_active(tokens, scope, request.shop_id, now);
        if ((request.scopes & scope) != 0 && count >= kActiveTokensMax) {
            throw StoreFailure(
                {ErrorCode::kLimit, "account \"" + account.account_id.str() + "\" has " +
                                        std::to_string(count) + " active tokens with the scope " +
                                        std::string(name) + " already: revoke one first"});
        }
    }
    for (const StoredToken& token : tokens) {
        if (token.row.expires_at && token.row.expires_at->plus_seconds(kExpiredKeptSeconds) < now) {
            access.retire(txn, token, token.row.expires_at->seconds);
        }
    }
}

/// A second token with the secret of an active one would keep it valid when one is revoked. Tokens
/// for webhooks of other accounts may have it: one secret of an app signs for all of its shops.
void check_webhook_secret(const RegistryAccess& access, const WriteTxn& txn,
                          const RegisteredAccount& account, const StoredToken& token,
                          Timestamp now) {
    for (const StoredToken& other : access.open_tokens(txn, account.number)) {
        if (other.row.scopes == token.row.scopes && other.row.shop_id == token.row.shop_id &&
            other.secret_sha256 == token.secret_sha256 && is_active(other.row, now)) {
            throw StoreFailure(
                conflict("token \"" + other.row.token_id.str() + "\" has this secret already"));
        }
    }
}

void check_shop(const RegistryAccess& access, const Txn& txn, const TokenRequest& request) {
    if (request.shop_id.empty()) {
        return;
    }
    const std::optional<RegisteredShop> shop = access.load_shop(txn, request.shop_id);
    if (!shop || shop->account_id != request.account_id) {
        throw StoreFailure(not_found("account \"" + request.account_id.str() + "\" has no shop \"" +
                                     request.shop_id.str() + "\""));
    }
}

}  // namespace

std::string random_secret() {
    return random_hex(32);
}

std::optional<PageKey> page_key_of(const TokenRow& row, std::string_view secret) {
    return (row.scopes & kCreatorPages) != 0 ? std::optional(PageSigner(secret).public_key())
                                             : std::nullopt;
}

Result<NewToken> Registry::create_token(const TokenRequest& request, const MasterKey& key,
                                        Timestamp now) {
    if (Status ok = check_request(request); !ok) {
        return ok.error();
    }
    NewToken created{TokenId("tok_" + random_hex(8)),
                     request.secret ? *request.secret : random_secret()};
    const std::string what = "token create " + created.token_id.str() + " of " +
                             request.account_id.str() + ": " + scopes_text(request.scopes) +
                             (request.shop_id.empty() ? "" : " for shop " + request.shop_id.str()) +
                             (request.label.empty() ? "" : ", " + request.label);
    const Status stored = access_->write(what, [&](WriteTxn& txn) {
        const RegisteredAccount account = access_->known_account(txn, request.account_id);
        access_->check_independent(txn);
        const MasterKey in_force = checked(access_->tables().key_in_force(txn, key));
        check_shop(*access_, txn, request);
        check_token_count(*access_, txn, account, request, now);
        StoredToken token;
        token.row = {created.token_id,       request.account_id, request.scopes,  now,
                     request.expires_at,     std::nullopt,       request.shop_id, request.label,
                     access_->author().actor};
        token.account_number = account.number;
        token.secret_sha256 = sha256(created.secret);
        token.sealed_secret = in_force.seal(created.secret, created.token_id.view());
        token.page_key = page_key_of(token.row, created.secret);
        const bool is_borne = (request.scopes & kWebhookScopes) == 0;
        if ((is_borne && find(txn, access_->tables().bearers, to_view(token.secret_sha256))) ||
            find(txn, access_->tables().tokens, created.token_id.view())) {
            throw StoreFailure(
                conflict("another token has or had this secret: every token needs its own"));
        }
        if (!is_borne) {
            check_webhook_secret(*access_, txn, account, token, now);
        }
        access_->store_token(txn, token);
        if (is_borne) {
            put(txn, access_->tables().bearers, to_view(token.secret_sha256),
                created.token_id.view());
        }
        put(txn, access_->tables().account_tokens,
            account_number_key(account.number) + created.token_id.str(), "");
    });
    if (!stored && !access_->is_unpublished()) {
        return stored.error();
    }
    created.published = stored;
    return created;
}

Status Registry::revoke_token(const TokenId& id, Timestamp now) {
    return access_->write("token revoke " + id.str(), [&](WriteTxn& txn) {
        if (id.empty() || !find(txn, access_->tables().tokens, id.view())) {
            throw StoreFailure(not_found("there is no token \"" + id.str() + "\""));
        }
        StoredToken token = access_->load_token(txn, id.view());
        if (token.row.revoked_at) {
            throw StoreFailure(conflict("token \"" + id.str() + "\" was revoked at " +
                                        token.row.revoked_at->to_string()));
        }
        token.row.revoked_at = now;
        access_->store_token(txn, token);
        access_->retire(txn, token, now.seconds);
    });
}

Status Registry::rotate_key(const MasterKey& from, const MasterKey& to) {
    return access_->write("key rotate", [&](WriteTxn& txn) {
        static_cast<void>(checked(access_->tables().key_in_force(txn, from)));
        for (StoredToken& token : access_->tokens(txn)) {
            std::string secret = checked(from.open(token.sealed_secret, token.row.token_id.view()));
            token.sealed_secret = to.seal(secret, token.row.token_id.view());
            OPENSSL_cleanse(secret.data(), secret.size());
            access_->store_token(txn, token);
        }
        put(txn, access_->tables().main, kKeyCheckKey, to.seal(kKeyCheckText, kKeyCheckKey));
    });
}

Result<MasterKey> Registry::key_in_force(const MasterKey& file) {
    return access_->read([&](const Txn& txn) { return access_->tables().key_in_force(txn, file); });
}

Status Registry::check_key(const MasterKey& file) {
    const Result<MasterKey> key = key_in_force(file);
    return key ? Status::success() : Status(key.error());
}

Status rotate_master_key(const std::filesystem::path& key_file, Registry& registry,
                         const std::optional<MasterKey>& to) {
    return attempt([&]() -> Status {
        const Fd held = checked(open_plain(key_file, O_RDONLY));
        if (::flock(held.get(), LOCK_EX) != 0) {
            return system_error(errno, "lock", key_file);
        }
        const MasterKey file = checked(MasterKey::load(held.get(), key_file));
        const MasterKey current = checked(registry.key_in_force(file));
        const std::optional<MasterKey> second = file.next();
        if (second && !to && registry.check_key(*second)) {
            return current.overwrite(key_file);  // an earlier call was interrupted after its change
        }
        const MasterKey next = to ? *to : MasterKey::random();
        check(current.overwrite(key_file, &next));
        check(registry.rotate_key(current, next));
        return next.overwrite(key_file);
    });
}

Result<std::vector<TokenRow>> Registry::tokens(std::optional<AccountId> account) {
    return access_->read([&](const Txn& txn) {
        access_->check_account(txn, account);
        std::vector<TokenRow> rows;
        for (StoredToken& token : access_->tokens(txn)) {
            if (!account || token.row.account_id == *account) {
                rows.push_back(std::move(token.row));
            }
        }
        return rows;
    });
}

}  // namespace sluice::store
