// Registry: accounts, shops and tokens. The command line writes it; nginx and the worker read it.
//
// Every write is one durable LMDB transaction, which is then published (published.hpp), so that
// running nginx workers see it on their next request. If the transaction was stored, but not
// published, the error says so; opening the registry again, or publish(), publishes it. Errors
// carry the sentence that the command line prints. Threads: one at a time. Processes: one Registry
// object each. Blocking: all functions wait for the disk, those that write for LMDB's writer lock.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/values/result.hpp"
#include "core/values/timestamp.hpp"
#include "lmdb_store/registry/exchange.hpp"
#include "lmdb_store/registry/rows.hpp"
#include "lmdb_store/store/format.hpp"
#include "lmdb_store/store/master_key.hpp"

namespace sluice::store {

struct NewToken {
    TokenId token_id;
    std::string secret;                    ///< Shown once.
    Status published = Status::success();  ///< An error if nginx does not know the token yet.
};

/// Returns a secret for a new token: 256 random bits as 64 hexadecimal digits.
[[nodiscard]] std::string random_secret();

struct TokenRequest {
    AccountId account_id;
    std::uint8_t scopes = 0;
    std::optional<Timestamp> expires_at;
    std::optional<std::string> secret;  ///< At least 16 bytes. Empty means random.
    ShopId shop_id{};                   ///< Webhooks: the only shop for which it counts.
    std::string label{};                ///< For people, such as the system that uses it.
};

/// A bearer token with its account.
struct Bearer {
    TokenRow token;
    RegisteredAccount account;
    std::optional<PageKey> page_key{};
};

/// An account that a person may read.
struct UserAccount {
    RegisteredAccount account;
    Role role = Role::kViewer;
};

class RegistryAccess;

/// Every change except revoke_token() returns kConflict in a registry that follows another one.
class Registry final {
public:
    enum class Mode {
        kReadOnly,
        kReadWrite,
        kPublished,  ///< Read the copy that nginx reads, and write to nothing.
    };
    /// Publishes the registry if nginx's copy of it is behind, unless the mode is kPublished. Of a
    /// registry that is opened for reading, an error in that is no error, and a process that may
    /// not write to it reads the copy. Each read of a copy opens the present one, so that it sees
    /// every change that was published before it began.
    [[nodiscard]] static Result<std::unique_ptr<Registry>> open(const StorePaths& paths, Mode mode);
    Registry(const Registry&) = delete;
    Registry& operator=(const Registry&) = delete;
    ~Registry();

    /// Returns another number after each change that was published, or 0 if the number is not
    /// known: its page was replaced, or the mode is not kPublished. Makes one system call.
    [[nodiscard]] std::uint64_t generation() const;
    /// Names who makes the changes that follow: the log has it.
    void set_author(Author author);
    /// Logs a change that is kept elsewhere, such as a destination of notifications.
    [[nodiscard]] Status note(const std::string& change);
    /// Returns what commands changed, on this store and on those that it follows, by time.
    [[nodiscard]] Result<std::vector<ChangeRow>> changes();
    /// Publishes the registry as it is now, even if its copy is equal to it.
    [[nodiscard]] Status publish();
    [[nodiscard]] Status create_account(const AccountId& id, std::optional<RateLimit> limit,
                                        Timestamp now);
    /// Sets the account's own limit. Empty restores the default.
    [[nodiscard]] Status set_rate_limit(const AccountId& id, std::optional<RateLimit> limit);
    [[nodiscard]] Status suspend_account(const AccountId& id, bool suspended);
    [[nodiscard]] Status create_shop(const ShopId& id, const AccountId& account, Timestamp now);
    [[nodiscard]] Status suspend_shop(const ShopId& id, bool suspended);
    /// Sets what `change` makes of the shop's platform and its settings. kConflict if another shop
    /// has the domain; kInvalid for a domain that is no host.
    [[nodiscard]] Status set_shop_source(const ShopId& id,
                                         const std::function<void(ShopSource&)>& change);
    /// Returns kLimit if 8 active tokens of the account have one of the scopes; of webhooks, if 8
    /// count for one shop.
    [[nodiscard]] Result<NewToken> create_token(const TokenRequest& request, const MasterKey& key,
                                                Timestamp now);
    [[nodiscard]] Status revoke_token(const TokenId& id, Timestamp now);
    /// Lets a person read an account, or changes the role.
    [[nodiscard]] Status add_user(std::string_view name, const AccountId& account, Role role,
                                  Timestamp now);
    [[nodiscard]] Status remove_user(std::string_view name, const AccountId& account,
                                     Timestamp now);
    /// Encrypts every secret with another key, in one transaction. rotate_master_key() also
    /// replaces the file.
    [[nodiscard]] Status rotate_key(const MasterKey& from, const MasterKey& to);
    /// Returns the key with which the secrets were encrypted, one of those in `file`, or kCorrupt
    /// if it is none of them.
    [[nodiscard]] Result<MasterKey> key_in_force(const MasterKey& file);
    /// Returns kCorrupt if the secrets were encrypted with none of the keys in `file`.
    [[nodiscard]] Status check_key(const MasterKey& file);

    /// Exports the registry. kConflict in a registry that follows another.
    [[nodiscard]] Result<RegistrySnapshot> snapshot(Timestamp now);
    /// Merges another store's registry, completely or not at all, and follows it from now on.
    /// Revoked tokens stay revoked, whatever the snapshot says. Commits nothing if nothing changed.
    /// A registry without tokens adopts `key`, so that a new store can join a fleet.
    [[nodiscard]] Result<std::vector<RegistryChange>> merge(const RegistrySnapshot& snapshot,
                                                            const MasterKey& key, MergeFrom from);
    /// Returns the revision that the registry follows, or nullopt if it follows none.
    [[nodiscard]] Result<std::optional<RegistryRevision>> followed();
    /// Ends following, so that changes are allowed again.
    [[nodiscard]] Status detach();

    [[nodiscard]] Result<std::vector<RegisteredAccount>> accounts();  ///< Sorted by id.
    [[nodiscard]] Result<std::vector<RegisteredShop>> shops(std::optional<AccountId> account);
    [[nodiscard]] Result<std::vector<TokenRow>> tokens(std::optional<AccountId> account);
    /// Returns the users that were not removed, by name and account.
    [[nodiscard]] Result<std::vector<UserRow>> users(const std::optional<AccountId>& account);
    [[nodiscard]] Result<std::optional<RegisteredAccount>> account(const AccountId& id);
    [[nodiscard]] Result<std::optional<RegisteredShop>> shop(const ShopId& id);
    /// Finds the token with this secret, which may be revoked or expired.
    [[nodiscard]] Result<std::optional<Bearer>> bearer(std::string_view secret);
    /// Finds the token with this id, which may be revoked or expired.
    [[nodiscard]] Result<std::optional<Bearer>> token(const TokenId& id);
    /// Returns the accounts that a person may read, by id.
    /// @param name  As user_name() returns it.
    [[nodiscard]] Result<std::vector<UserAccount>> accounts_of(const std::string& name);

private:
    explicit Registry(std::unique_ptr<RegistryAccess> access);

    std::unique_ptr<RegistryAccess> access_;
};

/// Performs `sluice key rotate`: replaces the key in `key_file` by `to`, or by a random one. The
/// file holds both keys before the registry changes, and until the change is published, so that
/// every reader finds the one in force whenever this process is killed. The next call finishes a
/// rotation that was interrupted after the change. Overwrites the file in place, because nginx's
/// workers have it open and read the new key. Waits for a rotation that another process runs.
[[nodiscard]] Status rotate_master_key(const std::filesystem::path& key_file, Registry& registry,
                                       const std::optional<MasterKey>& to = std::nullopt);

}  // namespace sluice::store
