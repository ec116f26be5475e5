// The registry's tokens. Their secrets are encrypted, and found by their SHA-256.
#include <fcntl.h>
#include <openssl/crypto.h>
#include <sys/file.h>

#include <algorithm>
#include <array>
#include <cerrno>

#include "core/intake/registry_view.hpp"
#include "lmdb_store/registry/access.hpp"
#include "lmdb_store/registry/registry.hpp"
#include "os/files/file_io.hpp"
#include "os/random/random_bytes.hpp"

namespace sluice::store {
namespace {

constexpr std::size_t kSecretBytesMin = 16;
constexpr std::size_t kSecretBytesMax = 1024;
constexpr std::array<std::pair<Scope, const char*>, 4> kScopes{{
    {kWriteOrders, "write_orders"},
    {kWriteProducts, "write_products"},
    {kReadOrders, "read_orders"},
    {kReadLedger, "read_ledger"},
}};
constexpr std::uint8_t kAllScopes = kWriteOrders | kWriteProducts | kReadOrders | kReadLedger;
/// Time before an expired token is retired, in case a clock was wrong.
constexpr std::int64_t kExpiredKeptSeconds = 7 * 86'400;

std::string scopes_text(std::uint8_t scopes) {
    std::string text;
    for (const auto& [scope, name] : kScopes) {
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
    if (secret.size() < kSecretBytesMin || secret.size() > kSecretBytesMax) {
        return Error{ErrorCode::kInvalid, "a secret has " + std::to_string(kSecretBytesMin) +
                                              " to " + std::to_string(kSecretBytesMax) + " bytes"};
    }
    const bool is_borne = (request.scopes & ~unsigned{kWriteOrders}) != 0;
    if (is_borne && std::any_of(secret.begin(), secret.end(), is_control)) {
        return Error{ErrorCode::kInvalid,
                     "a secret with control characters cannot be sent in an Authorization header, "
                     "which these scopes need"};
    }
    return Status::success();
}

Status check_request(const TokenRequest& request) {
    if (request.scopes == 0 || (request.scopes & ~unsigned{kAllScopes}) != 0) {
        return Error{ErrorCode::kInvalid,
                     "a token needs at least one scope of write_orders, "
                     "write_products, read_orders, read_ledger"};
    }
    return request.secret ? check_secret(request) : Status::success();
}

void check_token_count(const RegistryAccess& access, const WriteTxn& txn, const AccountRow& account,
                       std::uint8_t scopes, Timestamp now) {
    const std::vector<StoredToken> tokens = access.open_tokens(txn, account.number);
    for (const auto& [scope, name] : kScopes) {
        const auto count =
            std::count_if(tokens.begin(), tokens.end(), [&, bit = scope](const StoredToken& t) {
                return (t.row.scopes & bit) != 0 && is_active(t.row, now);
            });
        if ((scopes & scope) != 0 && static_cast<std::size_t>(count) >= kActiveTokensMax) {
            throw StoreFailure({ErrorCode::kLimit, "account \"" + account.account_id.str() +
                                                       "\" has " + std::to_string(count) +
                                                       " active tokens with the scope " + name +
                                                       " already: revoke one first"});
        }
    }
    for (const StoredToken& token : tokens) {
        if (token.row.expires_at && token.row.expires_at->plus_seconds(kExpiredKeptSeconds) < now) {
            access.retire(txn, token, token.row.expires_at->seconds);
        }
    }
}

}  // namespace

std::string random_secret() {
    return random_hex(32);
}

Result<NewToken> Registry::create_token(const TokenRequest& request, const MasterKey& key,
                                        Timestamp now) {
    if (Status ok = check_request(request); !ok) {
        return ok.error();
    }
    NewToken created{TokenId("tok_" + random_hex(8)),
                     request.secret ? *request.secret : random_secret()};
    const std::string what = "token create " + created.token_id.str() + " of " +
                             request.account_id.str() + ": " + scopes_text(request.scopes);
    const Status stored = access_->write(what, [&](WriteTxn& txn) {
        const AccountRow account = access_->known_account(txn, request.account_id);
        access_->check_independent(txn);
        const MasterKey in_force = checked(access_->tables().key_in_force(txn, key));
        check_token_count(*access_, txn, account, request.scopes, now);
        StoredToken token;
        token.row = {created.token_id,   request.account_id, request.scopes, now,
                     request.expires_at, std::nullopt};
        token.account_number = account.number;
        token.secret_sha256 = sha256(created.secret);
        token.sealed_secret = in_force.seal(created.secret, created.token_id.view());
        if (find(txn, access_->tables().bearers, to_view(token.secret_sha256)) ||
            find(txn, access_->tables().tokens, created.token_id.view())) {
            throw StoreFailure({ErrorCode::kConflict,
                                "another token has or had this secret: every token "
                                "needs its own"});
        }
        access_->store_token(txn, token);
        put(txn, access_->tables().bearers, to_view(token.secret_sha256), created.token_id.view());
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
            throw StoreFailure({ErrorCode::kNotFound, "there is no token \"" + id.str() + "\""});
        }
        StoredToken token = access_->load_token(txn, id.view());
        if (token.row.revoked_at) {
            throw StoreFailure({ErrorCode::kConflict, "token \"" + id.str() + "\" was revoked at " +
                                                          token.row.revoked_at->to_string()});
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
            Result<std::string> secret = from.open(token.sealed_secret, token.row.token_id.view());
            if (!secret) {
                throw StoreFailure(secret.error());
            }
            token.sealed_secret = to.seal(*secret, token.row.token_id.view());
            OPENSSL_cleanse(secret->data(), secret->size());
            access_->store_token(txn, token);
        }
        put(txn, access_->tables().main, kKeyCheckKey, to.seal(kKeyCheckText, kKeyCheckKey));
    });
}

Result<MasterKey> Registry::key_in_force(const MasterKey& file) {
    return attempt([&]() -> Result<MasterKey> {
        ReadTxn txn;
        access_->begin(txn);
        return access_->tables().key_in_force(txn, file);
    });
}

Status Registry::check_key(const MasterKey& file) {
    const Result<MasterKey> key = key_in_force(file);
    return key ? Status::success() : Status(key.error());
}

Status rotate_master_key(const std::filesystem::path& key_file, Registry& registry,
                         const std::optional<MasterKey>& to) {
    const Result<Fd> held = open_plain(key_file, O_RDONLY);
    if (!held) {
        return held.error();
    }
    if (::flock(held->get(), LOCK_EX) != 0) {
        return system_error(errno, "lock", key_file);
    }
    const Result<MasterKey> file = MasterKey::load(held->get(), key_file);
    const Result<MasterKey> current = file ? registry.key_in_force(*file) : file;
    if (!current) {
        return current.error();
    }
    const std::optional<MasterKey> second = file->next();
    if (second && !to && registry.check_key(*second)) {
        return current->overwrite(key_file);  // an earlier call was interrupted after its change
    }
    const MasterKey next = to ? *to : MasterKey::random();
    if (Status both = current->overwrite(key_file, &next); !both) {
        return both;
    }
    const Status rotated = registry.rotate_key(*current, next);
    return rotated ? next.overwrite(key_file) : rotated;
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
