// The registry's environment on disk. Internal to lmdb_store.
//
//   main table      "format" u32 LE | "next_account" | "next_shop" u32 BE | "key_check" sealed
//                   "follows" u64 BE revision and UUID of the store that this registry follows
//                   "follows_digest" u64 BE revision and its digest
//                   "history/" u64 BE revision -> digest, u64 BE id of the transaction
//                   "user/" name, 0x00, account id -> User
//                   "change/" UUID of a store, "/", u64 BE number -> Change | "next_change" u32 BE
//                   "domain/" platform, "/", host -> shop id
//   accounts        account id -> Account            account_ids  number u32 BE -> account id
//   shops           shop id -> Shop
//   tokens          token id -> Token
//   account_tokens  account number u32 BE | token id -> empty; revoked tokens are not in it, but in
//                   ffffffff | account number u32 BE | ~seconds u64 BE | token id -> empty
//                   (time of retirement; the latest come first, and kRetiredTokensKept are kept)
//   bearers         SHA-256 of the secret -> token id
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "core/shops/source.hpp"
#include "core/values/ids.hpp"
#include "lmdb_store/environment/table_access.hpp"
#include "lmdb_store/registry/published.hpp"
#include "lmdb_store/registry/registry_size.hpp"
#include "lmdb_store/store/format.hpp"
#include "lmdb_store/store/master_key.hpp"

namespace sluice::store {

inline constexpr std::size_t kRegistryMapBytes = std::size_t{4}
                                                 << 30;  ///< Sparse; same everywhere.
inline constexpr std::string_view kNextAccountKey = "next_account";
inline constexpr std::string_view kNextShopKey = "next_shop";
inline constexpr std::string_view kUserKey = "user/";
inline constexpr std::string_view kChangeKey = "change/";
inline constexpr std::string_view kNextChangeKey = "next_change";
inline constexpr std::string_view kDomainKey = "domain/";
/// A known text under the master key. Reveals a wrong key before every token is refused.
inline constexpr std::string_view kKeyCheckKey = "key_check";
inline constexpr std::string_view kKeyCheckText = "sluice";
inline constexpr std::string_view kFollowsKey = "follows";
inline constexpr std::string_view kFollowsDigestKey = "follows_digest";

/// An open registry environment and its tables.
struct RegistryTables {
    std::shared_ptr<Environment> environment;
    MDB_dbi main = 0, accounts = 0, account_ids = 0, shops = 0, tokens = 0, account_tokens = 0,
            bearers = 0;
    std::uint32_t signing_tokens_max = 1;  ///< An account has no more. Known by open_published().

    [[nodiscard]] static Result<RegistryTables> open(const StorePaths& paths);
    /// Opens the published copy, for reading. Returns kCorrupt if it is older than `generation`.
    [[nodiscard]] static Result<RegistryTables> open_published(const StorePaths& paths,
                                                               std::uint64_t generation);
    /// Opens the registry of a backup, which no process writes to, without a lock file.
    [[nodiscard]] static Result<RegistryTables> open_copy(const StorePaths& copy);
    /// Returns the key with which this registry's secrets were encrypted, one of those in `file`,
    /// or kCorrupt if it is none of them.
    [[nodiscard]] Result<MasterKey> key_in_force(const Txn& txn, const MasterKey& file) const;
    /// Returns how much the published copy of this generation has. Reads no row.
    [[nodiscard]] RegistrySize size(const Txn& txn, std::uint64_t generation) const;
    /// Returns the number of slots in use. Throws StoreFailure if it is damaged.
    [[nodiscard]] std::uint64_t slots_used(const Txn& txn) const;
    /// Returns the error of a row that cannot be decoded.
    [[nodiscard]] Error damaged(std::string_view row_kind) const;
    /// Returns a decoded row. Throws that error if there is none.
    template <class Row>
    [[nodiscard]] Row sound(std::optional<Row> row, std::string_view row_kind) const {
        if (!row) {
            throw StoreFailure(damaged(row_kind));
        }
        return *std::move(row);
    }

private:
    [[nodiscard]] static RegistryTables of(const StorePaths& paths,
                                           std::shared_ptr<Environment> environment);
};

/// The published registry, for a process that reads it again and again.
class CurrentRegistry {
public:
    CurrentRegistry(StorePaths paths, PublishedGeneration generation)
        : paths_(std::move(paths)), generation_(std::move(generation)) {}
    /// Returns true if no other copy was published since refresh(). No system call.
    [[nodiscard]] bool is_current() const noexcept { return generation_.current() == opened_; }
    /// Opens the copy that is published now, and reads all of it: 0.1 ms for 1,100 shops, each with
    /// an account and a token (1.5 MB), if it is in the page cache. A damaged copy is not read
    /// again for a second, so that the requests that are refused for it cost little. Requires: no
    /// transaction of tables() is open.
    [[nodiscard]] Status refresh();
    [[nodiscard]] const RegistryTables& tables() const noexcept { return tables_; }
    /// Generation of tables().
    [[nodiscard]] std::uint64_t opened() const noexcept { return opened_; }
    [[nodiscard]] bool still_in_place() const noexcept { return generation_.still_in_place(); }

private:
    StorePaths paths_;
    PublishedGeneration generation_;
    RegistryTables tables_;
    std::uint64_t opened_ = ~std::uint64_t{0};
    std::optional<Error> damage_;  ///< The reason why the last copy is not used.
    std::uint64_t damaged_generation_ = 0;
    std::int64_t damage_seen_ms_ = 0;  ///< By coarse_ms().
};

/// Retired tokens of an account that $sluice_reason can name.
inline constexpr std::size_t kRetiredTokensKept = 16;

[[nodiscard]] inline std::string account_number_key(AccountNumber number) {
    return big_endian(number.value);
}
/// Returns the key in the main table of a shop's domain on its platform.
[[nodiscard]] std::string domain_key(Platform platform, std::string_view domain);
/// Returns the prefix of an account's retired tokens, the latest first.
[[nodiscard]] std::string retired_tokens_key(AccountNumber number);
/// Returns the key of a retired token.
/// @param seconds  Time of retirement, since 1970.
[[nodiscard]] std::string retired_token_key(AccountNumber number, std::int64_t seconds,
                                            std::string_view token_id);
/// Returns the token id in such a key.
[[nodiscard]] std::string_view token_of_retired_key(std::string_view key);
/// Number and slot are dense series: the first account has number 1 and slot 0.
[[nodiscard]] constexpr AccountSlot slot_of(AccountNumber number) noexcept {
    return {number.value - 1};
}
[[nodiscard]] constexpr AccountNumber number_of(AccountSlot slot) noexcept {
    return {slot.value + 1};
}

/// Fills a new environment. Returns 0 or LMDB's code.
[[nodiscard]] int create_registry_tables(MDB_txn* txn, const MasterKey& key);

}  // namespace sluice::store
