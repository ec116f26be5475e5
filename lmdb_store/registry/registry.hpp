// Registry: accounts, shops and tokens. Written by the command line, read by nginx and the worker.
//
// Every write is one durable LMDB transaction; running nginx workers see it on their next request.
// Errors carry the sentence that the command line prints. Not thread-safe; one per process.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/values/result.hpp"
#include "core/values/timestamp.hpp"
#include "lmdb_store/registry/exchange.hpp"
#include "lmdb_store/registry/values.hpp"
#include "lmdb_store/store/format.hpp"
#include "lmdb_store/store/master_key.hpp"

namespace sluice::store {

struct NewToken {
    TokenId token_id;
    std::string secret;  ///< Shown once.
};

/// A secret for a new token: 64 hexadecimal digits, 256 random bits.
[[nodiscard]] std::string random_secret();

struct TokenRequest {
    AccountId account_id;
    std::uint8_t scopes = 0;
    std::optional<Timestamp> expires_at;
    std::optional<std::string> secret;  ///< Given by the user (at least 16 bytes), else random.
};

class RegistryAccess;

/// Every change but revoke_token() is kConflict in a registry that follows another store's.
class Registry final {
public:
    enum class Mode { kReadOnly, kReadWrite };
    [[nodiscard]] static Result<std::unique_ptr<Registry>> open(const StorePaths& paths, Mode mode);
    Registry(const Registry&) = delete;
    Registry& operator=(const Registry&) = delete;
    ~Registry();

    [[nodiscard]] Status create_account(const AccountId& id, std::optional<RateLimit> limit,
                                        Timestamp now);
    /// `limit` empty: back to the default.
    [[nodiscard]] Status set_rate_limit(const AccountId& id, std::optional<RateLimit> limit);
    [[nodiscard]] Status suspend_account(const AccountId& id, bool suspended);
    [[nodiscard]] Status create_shop(const ShopId& id, const AccountId& account, Timestamp now);
    [[nodiscard]] Status suspend_shop(const ShopId& id, bool suspended);
    /// kLimit: already 8 active tokens of the account share one of the scopes.
    [[nodiscard]] Result<NewToken> create_token(const TokenRequest& request, const MasterKey& key,
                                                Timestamp now);
    [[nodiscard]] Status revoke_token(const TokenId& id, Timestamp now);
    /// Encrypts every secret anew, in one transaction. rotate_master_key() does it with the file.
    [[nodiscard]] Status rotate_key(const MasterKey& from, const MasterKey& to);
    /// kCorrupt if the secrets were not sealed with this key.
    [[nodiscard]] Status check_key(const MasterKey& key);

    /// kConflict in a registry that follows another.
    [[nodiscard]] Result<RegistrySnapshot> snapshot(Timestamp now);
    /// Takes over another store's registry, all or nothing, and follows it from now on. Revoked
    /// tokens stay revoked, whatever the snapshot says. Changes nothing if it brings nothing new.
    /// A registry without tokens takes over `key`, so that a new store can join a fleet.
    [[nodiscard]] Result<std::vector<RegistryChange>> merge(const RegistrySnapshot& snapshot,
                                                            const MasterKey& key, MergeFrom from);
    /// What it follows, if it does.
    [[nodiscard]] Result<std::optional<RegistryRevision>> followed();
    /// Follows nothing any more: changes are allowed again.
    [[nodiscard]] Status detach();

    [[nodiscard]] Result<std::vector<AccountRow>> accounts();  ///< Sorted by id.
    [[nodiscard]] Result<std::vector<ShopRow>> shops(std::optional<AccountId> account);
    [[nodiscard]] Result<std::vector<TokenRow>> tokens(std::optional<AccountId> account);
    [[nodiscard]] Result<std::optional<AccountRow>> account(const AccountId& id);
    [[nodiscard]] Result<std::optional<ShopRow>> shop(const ShopId& id);

private:
    explicit Registry(std::unique_ptr<RegistryAccess> access);

    std::unique_ptr<RegistryAccess> access_;
};

/// `sluice key rotate`: the key `to`, or a new random one, in place of `key_file`. Interrupted at
/// any instant, the next call finishes or begins again (the new key waits in `key_file`.next until
/// it is in force). The file stays the same one, so that nginx's workers, which have it open, read
/// the new key.
[[nodiscard]] Status rotate_master_key(const std::filesystem::path& key_file, Registry& registry,
                                       const std::optional<MasterKey>& to = std::nullopt);

}  // namespace sluice::store
