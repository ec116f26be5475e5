// The store's directory and its `format` file: what `nginx -t` reads (it opens no LMDB).
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

#include "core/result.hpp"

namespace sluice::store {

inline constexpr std::uint32_t kStoreFormat = 1;
inline constexpr std::uint32_t kAccountsMaxDefault = 65'536;

struct StoreFormat {
    std::string uuid;
    std::uint32_t format = kStoreFormat;
    std::uint32_t min_reader = kStoreFormat;
    std::uint32_t min_writer = kStoreFormat;
    std::uint32_t max_accounts = kAccountsMaxDefault;
};

/// Paths inside a store. No I/O.
struct StorePaths {
    explicit StorePaths(std::filesystem::path store_root);
    std::filesystem::path root, format, master_key, registry, queue, bulk, control, ledger, archive;
    std::filesystem::path worker_lock;  ///< flock()ed by whoever drains the queue.
};

/// Plain file I/O. kNotFound, kPermission, kCorrupt, kUnsupported; the message names path and
/// remedy.
[[nodiscard]] Result<StoreFormat> read_store_format(const StorePaths& paths);
/// Replaces the file atomically (temporary file, fsync, rename, fsync of the directory).
[[nodiscard]] Status write_store_format(const StorePaths& paths, const StoreFormat& format);

struct InitOptions {
    std::optional<std::string>
        group;  ///< Members (nginx workers) may append and read the registry.
    std::uint32_t max_accounts = kAccountsMaxDefault;
};
/// Creates the store with owners and modes as docs/operations.md lists them, the master key, and
/// the empty registry, queue and ledger environments. kConflict if there is one already.
[[nodiscard]] Status init_store(const StorePaths& paths, const InitOptions& options);

}  // namespace sluice::store
