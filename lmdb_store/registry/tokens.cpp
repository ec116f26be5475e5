// The registry's tokens: their secrets are sealed, and found by their SHA-256.
#include <openssl/crypto.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>

#include "core/intake/registry_view.hpp"
#include "lmdb_store/registry/impl.hpp"
#include "os/random/random_bytes.hpp"

namespace sluice::store {
namespace {

constexpr std::size_t kSecretBytesMin = 16;
constexpr std::size_t kSecretBytesMax = 1024;
constexpr std::size_t kActiveTokensMax = 8;
constexpr std::array<Scope, 3> kScopes = {kWriteOrders, kWriteProducts, kReadOrders};
constexpr std::uint8_t kAllScopes = kWriteOrders | kWriteProducts | kReadOrders;
/// Expired tokens leave the list that requests look at only then, in case a clock was wrong.
constexpr std::int64_t kExpiredKeptSeconds = 7 * 86'400;

const char* name_of(Scope scope) noexcept {
    switch (scope) {
        case kWriteOrders:
            return "write_orders";
        case kWriteProducts:
            return "write_products";
        case kReadOrders:
            break;
    }
    return "read_orders";
}

template <std::size_t kBytes>
std::string random_hex() {
    std::array<std::uint8_t, kBytes> bytes{};
    fill_random(bytes);
    std::string text = to_hex(bytes);
    OPENSSL_cleanse(bytes.data(), bytes.size());
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
                     "write_products, read_orders"};
    }
    return request.secret ? check_secret(request) : Status::success();
}

}  // namespace

std::string random_secret() {
    return random_hex<32>();
}

StoredToken LmdbRegistry::load_token(const Txn& txn, std::string_view id) {
    const auto bytes = find(txn, tables_.tokens, id);
    std::optional<StoredToken> token = bytes ? decode_token(id, *bytes) : std::nullopt;
    if (!token) {
        throw StoreFailure(tables_.damaged("token"));
    }
    return *std::move(token);
}

void LmdbRegistry::store_token(const WriteTxn& txn, const StoredToken& token) {
    put(txn, tables_.tokens, token.row.token_id.view(), encode_token(token));
}

std::vector<StoredToken> LmdbRegistry::open_tokens(const Txn& txn, AccountNumber account) {
    const std::string prefix = account_number_key(account);
    std::vector<StoredToken> tokens;
    scan(txn, tables_.account_tokens, prefix, [&](std::string_view key, std::string_view) {
        tokens.push_back(load_token(txn, key.substr(prefix.size())));
        return true;
    });
    return tokens;
}

void LmdbRegistry::retire(const WriteTxn& txn, const StoredToken& token, std::int64_t seconds) {
    const std::string id = token.row.token_id.str();
    erase(txn, tables_.account_tokens, account_number_key(token.account_number) + id);
    put(txn, tables_.account_tokens, retired_token_key(token.account_number, seconds, id), "");
    std::vector<std::string> keys;
    const std::string prefix = retired_tokens_key(token.account_number);
    scan(txn, tables_.account_tokens, prefix, [&](std::string_view key, std::string_view) {
        keys.emplace_back(key);
        return true;
    });
    for (std::size_t i = kRetiredTokensKept; i < keys.size(); ++i) {
        erase(txn, tables_.account_tokens, keys[i]);
    }
}

Status LmdbRegistry::check_token_count(const WriteTxn& txn, const AccountRow& account,
                                       std::uint8_t scopes, Timestamp now) {
    const std::vector<StoredToken> tokens = open_tokens(txn, account.number);
    for (const Scope scope : kScopes) {
        const auto count = std::count_if(tokens.begin(), tokens.end(), [&](const StoredToken& t) {
            return (t.row.scopes & scope) != 0 && is_active(t.row, now);
        });
        if ((scopes & scope) != 0 && static_cast<std::size_t>(count) >= kActiveTokensMax) {
            return Error{ErrorCode::kLimit, "account \"" + account.account_id.str() + "\" has " +
                                                std::to_string(count) +
                                                " active tokens with the scope " + name_of(scope) +
                                                " already: revoke one first"};
        }
    }
    for (const StoredToken& token : tokens) {
        if (token.row.expires_at && token.row.expires_at->plus_seconds(kExpiredKeptSeconds) < now) {
            retire(txn, token, token.row.expires_at->seconds);
        }
    }
    return Status::success();
}

Result<NewToken> LmdbRegistry::create_token(const TokenRequest& request, const MasterKey& key,
                                            Timestamp now) {
    if (Status ok = check_request(request); !ok) {
        return ok.error();
    }
    NewToken created{TokenId("tok_" + random_hex<8>()),
                     request.secret ? *request.secret : random_secret()};
    const Status stored = write([&](WriteTxn& txn) -> Status {
        const std::optional<AccountRow> account = load_account(txn, request.account_id);
        if (!account) {
            return Error{ErrorCode::kNotFound,
                         "there is no account \"" + request.account_id.str() + "\""};
        }
        Status ok = check_independent(txn);
        ok = ok ? tables_.check_key(txn, key) : ok;
        ok = ok ? check_token_count(txn, *account, request.scopes, now) : ok;
        if (!ok) {
            return ok;
        }
        StoredToken token;
        token.row = {created.token_id,   request.account_id, request.scopes, now,
                     request.expires_at, std::nullopt};
        token.account_number = account->number;
        token.secret_sha256 = sha256(created.secret);
        token.sealed_secret = key.seal(created.secret, created.token_id.view());
        if (find(txn, tables_.bearers, view_of(token.secret_sha256)) ||
            find(txn, tables_.tokens, created.token_id.view())) {
            return Error{ErrorCode::kConflict,
                         "another token has or had this secret: every token "
                         "needs one of its own"};
        }
        store_token(txn, token);
        put(txn, tables_.bearers, view_of(token.secret_sha256), created.token_id.view());
        put(txn, tables_.account_tokens,
            account_number_key(account->number) + created.token_id.str(), "");
        return Status::success();
    });
    if (!stored) {
        return stored.error();
    }
    return created;
}

Status LmdbRegistry::revoke_token(const TokenId& id, Timestamp now) {
    return write([&](WriteTxn& txn) -> Status {
        if (id.empty() || !find(txn, tables_.tokens, id.view())) {
            return Error{ErrorCode::kNotFound, "there is no token \"" + id.str() + "\""};
        }
        StoredToken token = load_token(txn, id.view());
        if (token.row.revoked_at) {
            return Error{ErrorCode::kConflict, "token \"" + id.str() + "\" was revoked at " +
                                                   token.row.revoked_at->to_string()};
        }
        token.row.revoked_at = now;
        store_token(txn, token);
        retire(txn, token, now.seconds);
        return Status::success();
    });
}

Status LmdbRegistry::rotate_key(const MasterKey& from, const MasterKey& to) {
    return write([&](WriteTxn& txn) -> Status {
        if (Status ok = tables_.check_key(txn, from); !ok) {
            return ok;
        }
        std::vector<StoredToken> tokens;
        scan(txn, tables_.tokens, "", [&](std::string_view id, std::string_view) {
            tokens.push_back(load_token(txn, id));
            return true;
        });
        for (StoredToken& token : tokens) {
            Result<std::string> secret = from.open(token.sealed_secret, token.row.token_id.view());
            if (!secret) {
                return secret.error();
            }
            token.sealed_secret = to.seal(*secret, token.row.token_id.view());
            OPENSSL_cleanse(secret->data(), secret->size());
            store_token(txn, token);
        }
        put(txn, tables_.main, kKeyCheckKey, to.seal(kKeyCheckText, kKeyCheckKey));
        return Status::success();
    });
}

Status LmdbRegistry::check_key(const MasterKey& key) {
    return attempt([&]() -> Status {
        ReadTxn txn;
        begin(txn);
        return tables_.check_key(txn, key);
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
        Status finished = put_in_force(*waiting);  // a call was interrupted behind its transaction
        if (!finished || !to) {
            return finished;
        }
    }
    const Result<MasterKey> current = MasterKey::load(key_file);
    if (!current) {
        return current.error();
    }
    const MasterKey next = to ? *to : MasterKey::random();
    Status ok = current->overwrite(key_file);  // what cannot be written is found out beforehand
    ok = ok ? next.save(next_file) : ok;
    ok = ok ? registry.rotate_key(*current, next) : ok;
    return ok ? put_in_force(next) : ok;
}

Result<std::vector<TokenRow>> LmdbRegistry::tokens(std::optional<AccountId> account) {
    return attempt([&]() -> Result<std::vector<TokenRow>> {
        ReadTxn txn;
        begin(txn);
        if (account && !load_account(txn, *account)) {
            return Error{ErrorCode::kNotFound, "there is no account \"" + account->str() + "\""};
        }
        std::vector<TokenRow> rows;
        scan(txn, tables_.tokens, "", [&](std::string_view id, std::string_view) {
            StoredToken token = load_token(txn, id);
            if (!account || token.row.account_id == *account) {
                rows.push_back(std::move(token.row));
            }
            return true;
        });
        return rows;
    });
}

}  // namespace sluice::store
