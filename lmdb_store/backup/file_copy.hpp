// Copies of files, with their checksums.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string_view>

#include "core/values/result.hpp"
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

}  // namespace sluice::store
