// Folder check: the conditions that an environment's files must meet before LMDB opens them.
// Internal to lmdb_store.
//
// LMDB maps data.mdb and trusts it. It opens a file that is shorter than its last page without an
// error, and the process dies of SIGBUS later; it creates a missing file.
#pragma once

#include <cstdint>
#include <filesystem>

#include "core/values/result.hpp"

namespace sluice::store {

/// Checks that folder, data.mdb and lock.mdb exist, are not empty, are regular files of the
/// folder's owner, may be read and written as far as needed, and lie on a local file system. Opens
/// no file, because closing lock.mdb would drop the locks of an environment that this process has
/// open.
[[nodiscard]] Status check_folder(const std::filesystem::path& folder, bool read_only);

/// Checks the same of a single file that is read without locks.
[[nodiscard]] Status check_copy(const std::filesystem::path& file);

/// Refuses network file systems, because their maps and locks are not shared between machines.
[[nodiscard]] Status check_file_system(const std::filesystem::path& folder);

/// Returns 1 if all pages from the end of the file up to `last_page` are free, 0 if not, or -errno.
/// LMDB does not write pages at its end that a transaction allocated and freed, so such a file is
/// whole.
/// @param fd      The environment's own descriptor of data.mdb.
/// @param txn_id  A snapshot that the caller holds.
[[nodiscard]] int missing_pages_are_free(int fd, std::uint64_t txn_id, std::uint64_t pages_in_file,
                                         std::uint64_t last_page);

}  // namespace sluice::store
