// Format: the paths of a store and its `format` file, which `nginx -t` reads without opening LMDB.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

#include "core/values/result.hpp"
#include "os/files/file_io.hpp"

namespace sluice::store {

/// The only format that this release reads and writes.
inline constexpr std::uint32_t kStoreFormat = 4;
inline constexpr std::uint32_t kAccountsMaxDefault = 65'536;

struct StoreFormat {
    /// Names the store and its queue, and so the inputs of its queue in a ledger.
    std::string uuid;
    std::uint32_t format = kStoreFormat;
    std::uint32_t min_reader = kStoreFormat;
    std::uint32_t min_writer = kStoreFormat;
    std::uint32_t max_accounts = kAccountsMaxDefault;
};

/// The paths inside a store. Performs no I/O.
struct StorePaths {
    explicit StorePaths(std::filesystem::path store_root);
    std::filesystem::path root, format, master_key, command_key, registry, queue, bulk, control,
        ledger, archive;
    std::filesystem::path exports;    ///< Made by the first export of a bank file.
    std::filesystem::path snapshots;  ///< Made by the first `sluice ledger snapshot`.
    std::filesystem::path lanes, lane_cells;
    std::filesystem::path links;        ///< The links that nginx serves.
    std::filesystem::path worker_lock;  ///< Locked (flock) with `archive` by who drains.
};

/// Reads the format file. Returns kNotFound, kPermission, kCorrupt or kUnsupported, with a message
/// that names path and remedy. Refuses a store of an older release.
[[nodiscard]] Result<StoreFormat> read_store_format(const StorePaths& paths);
/// Replaces the file atomically and durably. Keeps its owner and mode; a new one gets `new_owner`.
[[nodiscard]] Status write_store_format(const StorePaths& paths, const StoreFormat& format,
                                        const FileOwner& new_owner = {});
/// Returns kUnsupported if this release may read the store but not write it.
[[nodiscard]] Status check_writable_format(const StoreFormat& format);

/// Performs `sluice store set --max-accounts`. Only raises the number, because accounts keep their
/// slots.
[[nodiscard]] Status set_max_accounts(const StorePaths& paths, std::uint32_t max_accounts);
inline constexpr std::uint32_t kAccountsMaxLimit = 1U << 24;

struct InitOptions {
    /// Members of this group (the nginx workers) may append and read the registry.
    std::optional<std::string> group;
    std::uint32_t max_accounts = kAccountsMaxDefault;
    /// False leaves the format file to the caller. No program opens a folder without one.
    bool is_complete = true;
};
/// Creates a store: the master key and empty environments for registry, queue and ledger, with the
/// owners and modes of docs/operations.md. Everything belongs to the user that runs it.
/// kConflict if the folder is a store or not empty. Writes the format file last, because a folder
/// without one is no store.
[[nodiscard]] Status init_store(const StorePaths& paths, const InitOptions& options);

}  // namespace sluice::store
