// LMDB's version: the one place that knows which library and which files the store is written for.
//
// LMDB 0.9 and 1.0 cannot read each other's files: the heads of 1.0's pages are 8 bytes longer, and
// its lock file has another order. The store also knows what LMDB's interface does not show, of 0.9
// only (lmdb_format.hpp). So every environment is opened or made behind check_library(), and opened
// behind check_format(). Neither refusal speaks of damage, because there is none.
#pragma once

#include <filesystem>
#include <string>

#include "core/values/result.hpp"

namespace sluice::store {

/// Returns "LMDB 0.9.24", of the library that this process has loaded.
[[nodiscard]] std::string lmdb_name();

/// Returns kUnsupported if the library is not LMDB 0.9. It may be another one than at compile time,
/// also one that the program brings along which loads this code.
[[nodiscard]] Status check_library();

/// Returns kUnsupported, with the version, for a data file of another LMDB. Any other file passes,
/// because LMDB says what is wrong with it. Opens the file for a moment, which costs no lock:
/// LMDB's are on lock.mdb.
[[nodiscard]] Status check_format(const std::filesystem::path& data_file);

}  // namespace sluice::store
