// The registry's environment on disk. Internal to this room.
//
//   main table      "format" | "next_account" | "next_shop" u32 BE | "key_check" sealed
//   accounts        account id -> fbs::Account          account_ids  number u32 BE -> account id
//   shops           shop id -> fbs::Shop
//   tokens          token id -> fbs::Token
//   account_tokens  account number u32 BE | token id -> empty
//   bearers         SHA-256 of the secret -> token id
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "lmdb_store/environment.hpp"
#include "lmdb_store/master_key.hpp"

namespace sluice::store {

inline constexpr std::uint32_t kRegistryFormat = 1;
inline constexpr std::size_t kRegistryMapBytes = std::size_t{4}
                                                 << 30;  ///< Sparse; same everywhere.
inline constexpr std::array<const char*, 6> kRegistryTables = {
    "accounts", "account_ids", "shops", "tokens", "account_tokens", "bearers"};

inline constexpr std::string_view kNextAccountKey = "next_account";
inline constexpr std::string_view kNextShopKey = "next_shop";
/// Tells a foreign master key before it turns every token away.
inline constexpr std::string_view kKeyCheckKey = "key_check";
inline constexpr std::string_view kKeyCheckText = "sluice";

/// Fills a new environment.
[[nodiscard]] int create_registry_tables(MDB_txn* txn, const MasterKey& key);

}  // namespace sluice::store
