// The registry's environment on disk. Internal to this room.
//
//   main table      "format" u32 LE | "next_account" | "next_shop" u32 BE | "key_check" sealed
//                   "follows" u64 BE revision and UUID of the store that this registry follows
//                   "follows_digest" u64 BE revision and its digest
//                   "history/" u64 BE revision -> digest, u64 BE id of the transaction
//   accounts        account id -> Account            account_ids  number u32 BE -> account id
//   shops           shop id -> Shop
//   tokens          token id -> Token
//   account_tokens  account number u32 BE | token id -> empty; revoked tokens are not in it, but in
//                   ffffffff | account number u32 BE | ~seconds u64 BE | token id -> empty
//                   (since when it is retired: the last come first, and only so many stay)
//   bearers         SHA-256 of the secret -> token id
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "core/values/ids.hpp"
#include "lmdb_store/environment/environment.hpp"
#include "lmdb_store/store/format.hpp"
#include "lmdb_store/store/master_key.hpp"

namespace sluice::store {

inline constexpr std::size_t kRegistryMapBytes = std::size_t{4}
                                                 << 30;  ///< Sparse; same everywhere.
inline constexpr std::string_view kNextAccountKey = "next_account";
inline constexpr std::string_view kNextShopKey = "next_shop";
/// Tells a foreign master key before it turns every token away.
inline constexpr std::string_view kKeyCheckKey = "key_check";
inline constexpr std::string_view kKeyCheckText = "sluice";
inline constexpr std::string_view kFollowsKey = "follows";
inline constexpr std::string_view kFollowsDigestKey = "follows_digest";

/// An open registry environment and its tables.
struct RegistryTables {
    std::shared_ptr<Environment> environment;
    MDB_dbi main = 0, accounts = 0, account_ids = 0, shops = 0, tokens = 0, account_tokens = 0,
            bearers = 0;

    [[nodiscard]] static Result<RegistryTables> open(const StorePaths& paths, bool read_only);
    /// kCorrupt if `key` is not the one that sealed this registry's secrets.
    [[nodiscard]] Status check_key(const Txn& txn, const MasterKey& key) const;
    /// Of a row that cannot be decoded.
    [[nodiscard]] Error damaged(std::string_view row_kind) const;
};

/// For $sluice_reason, which names those only.
inline constexpr std::size_t kRetiredTokensKept = 16;

[[nodiscard]] std::string account_number_key(AccountNumber number);
/// The prefix of an account's retired tokens, the last retired first.
[[nodiscard]] std::string retired_tokens_key(AccountNumber number);
/// Of one of them. `seconds` since the epoch.
[[nodiscard]] std::string retired_token_key(AccountNumber number, std::int64_t seconds,
                                            std::string_view token_id);
/// The token id in such a key.
[[nodiscard]] std::string_view token_of_retired_key(std::string_view key);
/// Both series are dense: the first account has number 1 and slot 0.
[[nodiscard]] constexpr AccountSlot slot_of(AccountNumber number) noexcept {
    return {number.value - 1};
}
[[nodiscard]] constexpr AccountNumber number_of(AccountSlot slot) noexcept {
    return {slot.value + 1};
}

/// Fills a new environment.
[[nodiscard]] int create_registry_tables(MDB_txn* txn, const MasterKey& key);

}  // namespace sluice::store
