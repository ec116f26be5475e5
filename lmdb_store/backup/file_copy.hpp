// Copies of files, with their checksums, and of an environment's rows.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string_view>

#include "core/values/result.hpp"
#include "lmdb_store/environment/environment.hpp"
#include "os/files/file_io.hpp"

namespace sluice::store {

/// Length and checksum of what was read.
struct FileSum {
    std::uint64_t bytes = 0;
    std::uint32_t crc = 0;  ///< CRC-32C.
};

/// Calls `visit` for the file's bytes in pieces, up to `bytes_max`. Returns their sum.
[[nodiscard]] Result<FileSum> read_pieces(const std::filesystem::path& path,
                                          std::uint64_t bytes_max,
                                          const std::function<Status(std::string_view)>& visit);
/// Copies up to `bytes_max` bytes to `to`, synced. An existing file keeps its owner and mode, a new
/// one gets `owner`.
[[nodiscard]] Status copy_file(const std::filesystem::path& from, const std::filesystem::path& to,
                               std::uint64_t bytes_max, const FileOwner& owner);
/// As above, from a file that is open and may have been removed.
[[nodiscard]] Status copy_file(const OpenFile& from, const std::filesystem::path& to,
                               std::uint64_t bytes_max, const FileOwner& owner);
inline constexpr std::uint64_t kWholeFile = ~std::uint64_t{0};

/// Creates `folder`/data.mdb with all tables of the snapshot, synced. The pages are full, so the
/// copy is not larger than the rows need.
/// @param keeps  Returns false for a row of the main table that is left out.
[[nodiscard]] Status copy_environment(const ReadTxn& snapshot, const std::filesystem::path& folder,
                                      const std::function<bool(std::string_view key)>& keeps);

}  // namespace sluice::store
