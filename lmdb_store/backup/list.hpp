// The list of a backup's files, and the folders that backup and restore fill.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "core/values/ids.hpp"
#include "core/values/result.hpp"

namespace sluice::store {

struct BackupFile {
    std::string path;  ///< Within the folder.
    std::uint64_t bytes = 0;
    std::uint32_t crc = 0;  ///< CRC-32C.
};

/// The list of a backup.
struct Backup {
    std::string queue_uuid;
    std::string group;          ///< Group of the nginx workers, or empty.
    bool has_ledger = true;     ///< False if the ledger is in PostgreSQL.
    SequenceNumber applied;     ///< The ledger has applied at least the inputs up to it.
    SequenceNumber last;        ///< Last number that the queue has assigned.
    std::uint64_t waiting = 0;  ///< Records in the queue.
    std::vector<BackupFile> files;
    /// A fault of the store's newest segment that the copy does not show, or empty. Not in the
    /// list.
    std::string archive_fault;

    [[nodiscard]] std::uint64_t bytes() const noexcept;
};

/// Reads the list of a backup. Returns kNotFound if the folder is no complete backup.
[[nodiscard]] Result<Backup> read_backup(const std::filesystem::path& folder);
// The functions below throw StoreFailure.

/// Reads every file again. Throws kCorrupt if one differs from the list.
void check_files(const std::filesystem::path& folder, const Backup& backup);
/// Reads all files of a copy, adds them to `backup`, and writes the list, durably. Removes lock
/// files.
void seal_backup(const std::filesystem::path& folder, Backup& backup);

/// A folder that is filled. Its contents are removed when destroyed, unless keep() was called; so
/// is the folder, if it was created.
class NewFolder {
public:
    /// Throws kConflict if the path exists and is not an empty folder.
    explicit NewFolder(const std::filesystem::path& folder);
    NewFolder(const NewFolder&) = delete;
    NewFolder& operator=(const NewFolder&) = delete;
    ~NewFolder();

    void keep() noexcept { folder_.clear(); }

private:
    std::filesystem::path folder_;
    bool is_created_ = false;
};

}  // namespace sluice::store
