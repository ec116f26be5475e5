// What must be true of an environment's files before LMDB may touch them. Internal to this room.
//
// LMDB maps data.mdb and trusts it: a file that is shorter than its last page opens without an
// error and kills the process with SIGBUS later; a missing file is created anew.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <filesystem>

#include "core/values/result.hpp"

namespace sluice::store {

/// Folder, data.mdb and lock.mdb: there, not empty, readable, writable as far as it is needed, on
/// a local file system that is mounted for writing. Opens nothing: closing lock.mdb would drop the
/// locks of an environment that this process has open.
[[nodiscard]] Status check_folder(const std::filesystem::path& folder, bool read_only);

/// Refuses network file systems: their maps and locks are not shared between machines.
[[nodiscard]] Status check_file_system(const std::filesystem::path& folder);

/// Is a file that ends before `last_page` whole all the same? LMDB does not write pages at its end
/// that a transaction took and gave back: they are then in the list of free pages.
/// @param fd      The environment's own descriptor of data.mdb.
/// @param txn_id  A snapshot that is held meanwhile.
/// @return 1 yes, 0 no, else -errno.
[[nodiscard]] int missing_pages_are_free(int fd, std::uint64_t txn_id, std::uint64_t pages_in_file,
                                         std::uint64_t last_page);

}  // namespace sluice::store
