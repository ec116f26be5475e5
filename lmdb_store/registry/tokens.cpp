// The registry's tokens. Their secrets are encrypted, and found by their SHA-256.
#include <openssl/crypto.h>
#include <unistd.h>

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
    const Status stored = access_->write([&](WriteTxn& txn) {
        const AccountRow account = access_->known_account(txn, request.account_id);
        access_->check_independent(txn);
        check(access_->tables().check_key(txn, key));
        check_token_count(*access_, txn, account, request.scopes, now);
        StoredToken token;
        token.row = {created.token_id,   request.account_id, request.scopes, now,
                     request.expires_at, std::nullopt};
        token.account_number = account.number;
        token.secret_sha256 = sha256(created.secret);
        token.sealed_secret = key.seal(created.secret, created.token_id.view());
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
    return access_->write([&](WriteTxn& txn) {
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
    return access_->write([&](WriteTxn& txn) {
        check(access_->tables().check_key(txn, from));
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

Status Registry::check_key(const MasterKey& key) {
    return attempt([&]() -> Status {
        ReadTxn txn;
        access_->begin(txn);
        return access_->tables().check_key(txn, key);
    });
}

Status rotate_master_key(const std::filesystem::path& key_file, Registry& registry,
                         const std::optional<MasterKey>& to) {
    const std::filesystem::path next_file = key_file.string() + ".next";
    const auto put_in_force = [&](const MasterKey& key) -> Status {
        if (Status ok = key.overwrite(key_file); !ok) {
            return ok;
        }
        if (::unlink(next_file.c_str()) != 0) {
            return system_error(errno, "remove", next_file);
        }
        return sync_folder(key_file.parent_path());
    };
    const Result<MasterKey> waiting = MasterKey::load(next_file);
    if (waiting && registry.check_key(*waiting)) {
        Status finished =
            put_in_force(*waiting);  // an earlier call was interrupted after its transaction
        if (!finished || !to) {
            return finished;
        }
    }
    const Result<MasterKey> current = MasterKey::load(key_file);
    if (!current) {
        return current.error();
    }
    const MasterKey next = to ? *to : MasterKey::random();
    Status ok = current->overwrite(key_file);  // fails now if the file cannot be written
    ok = ok ? next.save(next_file) : ok;
    if (!ok) {
        return ok;
    }
    const Status rotated = registry.rotate_key(*current, next);
    if (!rotated && !registry.check_key(next)) {
        return rotated;
    }
    const Status used = put_in_force(next);  // it is stored, even if it could not be published
    return used ? rotated : used;
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
