// The store's directory and its `format` file: what `nginx -t` reads (it opens no LMDB).
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

#include "core/values/result.hpp"

namespace sluice::store {

inline constexpr std::uint32_t kStoreFormat = 2;
inline constexpr std::uint32_t kAccountsMaxDefault = 65'536;

struct StoreFormat {
    std::string uuid;
    std::uint32_t format = kStoreFormat;
    std::uint32_t min_reader = kStoreFormat;
    std::uint32_t min_writer = kStoreFormat;
    std::uint32_t max_accounts = kAccountsMaxDefault;
};

/// A random UUID (version 4), lower case.
[[nodiscard]] std::string make_uuid();

/// Paths inside a store. No I/O.
struct StorePaths {
    explicit StorePaths(std::filesystem::path store_root);
    std::filesystem::path root, format, master_key, registry, queue, bulk, control, ledger, archive;
    std::filesystem::path lanes, lane_cells;
    std::filesystem::path worker_lock;  ///< flock()ed by the process that drains the queue.
};

/// Plain file I/O. kNotFound, kPermission, kCorrupt, kUnsupported; the message names path and
/// remedy.
[[nodiscard]] Result<StoreFormat> read_store_format(const StorePaths& paths);
/// Replaces the file atomically (temporary file, fsync, rename, fsync of the directory); owner and
/// mode stay.
[[nodiscard]] Status write_store_format(const StorePaths& paths, const StoreFormat& format);
/// kUnsupported if this build may read the store but must not write it.
[[nodiscard]] Status check_writable_format(const StoreFormat& format);

/// `sluice store set --max-accounts`. Raises only: slots that were given out stay.
[[nodiscard]] Status set_max_accounts(const StorePaths& paths, std::uint32_t max_accounts);
inline constexpr std::uint32_t kAccountsMaxLimit = 1U << 24;

/// `sluice store upgrade`: makes this build's format the store's. kConflict while a module that
/// knows an older format only is alive (its heartbeat is younger than some seconds).
[[nodiscard]] Status upgrade_store(const StorePaths& paths, std::uint64_t now_ms);

struct InitOptions {
    /// Members (nginx workers) may append and read the registry.
    std::optional<std::string> group;
    std::uint32_t max_accounts = kAccountsMaxDefault;
};
/// Creates the store with owners and modes as docs/operations.md lists them, the master key, and
/// the empty registry, queue and ledger environments. Run by root, everything belongs to the user
/// `sluice`, if there is one. kConflict if there is a store already, or a folder that is not empty.
/// The format file is written last: a folder without one is no store.
[[nodiscard]] Status init_store(const StorePaths& paths, const InitOptions& options);

}  // namespace sluice::store
