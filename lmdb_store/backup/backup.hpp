// Backup: a copy of a store that is in use, and the store that is made of it.
//
// The folder of a backup has the layout of a store, without lock files, lanes and control page, and
// a list of its files with their checksums, which is written last: a folder without it is no
// backup.
//
// Consistency. A ledger that has applied the inputs up to A fits a queue that holds A+1 to its last
// input. So the ledger's snapshot is taken first and the queue's next, at once again if the queue
// was trimmed between the two. The archive is copied afterwards, and cut after the queue's last
// input: it then has every input that the queue has trimmed, and none that the restored queue would
// number again. The registry is copied last, so that it has every shop that an input names. The
// destinations of notifications are copied first, so that the ledger's copy has their places.
//
// Processes: nginx and the worker may use the store meanwhile. Blocking: all functions.
#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <string>

#include "core/values/ids.hpp"
#include "core/values/result.hpp"
#include "lmdb_store/backup/list.hpp"
#include "lmdb_store/queue/queue.hpp"
#include "lmdb_store/store/format.hpp"

namespace sluice::store {

struct BackupSource {
    StorePaths paths;
    Queue& queue;
    bool has_ledger = true;
    /// Returns the last input that the ledger has applied.
    std::function<Result<SequenceNumber>()> applied;
};

/// Examines a copy before it becomes a backup or a store.
using CopyCheck = std::function<Status(const StorePaths& copy, const Backup& backup)>;

/// Writes a backup into `folder`, which is created, or is empty. Everything that was durable before
/// the call is in it. Leaves nothing behind after an error.
/// Returns kConflict for a folder that is not empty.
[[nodiscard]] Result<Backup> write_backup(const BackupSource& source,
                                          const std::filesystem::path& folder,
                                          const CopyCheck& examine);

/// Reads every record of the queue's copy, and the bodies of those above `applied`. Returns what
/// the queue holds, or kCorrupt if a record or body is damaged.
[[nodiscard]] Result<QueueFill> check_queue_copy(const StorePaths& paths, SequenceNumber applied);

/// Returns the group of nginx's workers for a restored store: `given`, or if that is empty the one
/// of the store that was backed up, if it exists here.
[[nodiscard]] std::optional<std::string> group_for(const Backup& backup, const std::string& given);

/// Makes a store of a backup for the user who runs it, with the modes of `sluice init`. Retires the
/// key that sealed the backup's commands, so that commands of the time which the restore undoes are
/// not applied again. Leaves nothing behind after an error. A process that is killed leaves the
/// whole store, or a folder that no program opens.
/// Returns kConflict if the target exists and is not an empty folder.
[[nodiscard]] Status restore_backup(const std::filesystem::path& folder, const Backup& backup,
                                    const StorePaths& target, std::optional<std::string> group,
                                    const CopyCheck& examine);

}  // namespace sluice::store
