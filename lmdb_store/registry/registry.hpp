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

#include "core/intake/rate_word.hpp"
#include "core/values/ids.hpp"
#include "core/values/result.hpp"
#include "core/values/timestamp.hpp"
#include "lmdb_store/store/format.hpp"
#include "lmdb_store/store/master_key.hpp"

namespace sluice::store {

struct AccountRow {
    AccountId account_id;
    AccountNumber number;
    AccountSlot slot;
    std::optional<RateLimit> rate_limit;
    bool suspended = false;
    Timestamp created_at;
};

struct ShopRow {
    ShopId shop_id;
    ShopNumber number;
    AccountId account_id;
    AccountNumber account_number;
    bool suspended = false;
    Timestamp created_at;
};

struct TokenRow {
    TokenId token_id;
    AccountId account_id;
    std::uint8_t scopes = 0;
    Timestamp created_at;
    std::optional<Timestamp> expires_at;
    std::optional<Timestamp> revoked_at;
};

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

struct RegistryChange;
struct RegistryRevision;
struct RegistrySnapshot;
enum class MergeFrom;

/// Every change but revoke_token() is kConflict in a registry that follows another store's.
class Registry {
public:
    enum class Mode { kReadOnly, kReadWrite };
    [[nodiscard]] static Result<std::unique_ptr<Registry>> open(const StorePaths& paths, Mode mode);
    virtual ~Registry() = default;

    [[nodiscard]] virtual Status create_account(const AccountId& id, std::optional<RateLimit> limit,
                                                Timestamp now) = 0;
    /// `limit` empty: back to the default.
    [[nodiscard]] virtual Status set_rate_limit(const AccountId& id,
                                                std::optional<RateLimit> limit) = 0;
    [[nodiscard]] virtual Status suspend_account(const AccountId& id, bool suspended) = 0;
    [[nodiscard]] virtual Status create_shop(const ShopId& id, const AccountId& account,
                                             Timestamp now) = 0;
    [[nodiscard]] virtual Status suspend_shop(const ShopId& id, bool suspended) = 0;
    /// kLimit: already 8 active tokens of the account share one of the scopes.
    [[nodiscard]] virtual Result<NewToken> create_token(const TokenRequest& request,
                                                        const MasterKey& key, Timestamp now) = 0;
    [[nodiscard]] virtual Status revoke_token(const TokenId& id, Timestamp now) = 0;
    /// Encrypts every secret anew, in one transaction. rotate_master_key() does it with the file.
    [[nodiscard]] virtual Status rotate_key(const MasterKey& from, const MasterKey& to) = 0;
    /// kCorrupt if the secrets were not sealed with this key.
    [[nodiscard]] virtual Status check_key(const MasterKey& key) = 0;

    // lmdb_store/registry/exchange.hpp

    /// kConflict in a registry that follows another.
    [[nodiscard]] virtual Result<RegistrySnapshot> snapshot(Timestamp now) = 0;
    /// Takes over another store's registry, all or nothing, and follows it from now on. Revoked
    /// tokens stay revoked, whatever the snapshot says. Changes nothing if it brings nothing new.
    /// A registry without tokens takes over `key`, so that a new store can join a fleet.
    [[nodiscard]] virtual Result<std::vector<RegistryChange>> merge(
        const RegistrySnapshot& snapshot, const MasterKey& key, MergeFrom from) = 0;
    /// What it follows, if it does.
    [[nodiscard]] virtual Result<std::optional<RegistryRevision>> followed() = 0;
    /// Follows nothing any more: changes are allowed again.
    [[nodiscard]] virtual Status detach() = 0;

    [[nodiscard]] virtual Result<std::vector<AccountRow>> accounts() = 0;  ///< Sorted by id.
    [[nodiscard]] virtual Result<std::vector<ShopRow>> shops(std::optional<AccountId> account) = 0;
    [[nodiscard]] virtual Result<std::vector<TokenRow>> tokens(
        std::optional<AccountId> account) = 0;
    [[nodiscard]] virtual Result<std::optional<AccountRow>> account(const AccountId& id) = 0;
    [[nodiscard]] virtual Result<std::optional<ShopRow>> shop(const ShopId& id) = 0;

protected:
    Registry() = default;
    Registry(const Registry&) = delete;
    Registry& operator=(const Registry&) = delete;
};

/// `sluice key rotate`: the key `to`, or a new random one, in place of `key_file`. Interrupted at
/// any instant, the next call finishes or begins again (the new key waits in `key_file`.next until
/// it is in force). The file stays the same one, so that nginx's workers, which have it open, read
/// the new key.
[[nodiscard]] Status rotate_master_key(const std::filesystem::path& key_file, Registry& registry,
                                       const std::optional<MasterKey>& to = std::nullopt);

}  // namespace sluice::store
