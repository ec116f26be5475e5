// Copies of files, with their checksums, and of an environment's rows. Functions throw
// StoreFailure.
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

/// Reads a whole file.
[[nodiscard]] FileSum read_whole(const std::filesystem::path& path);

inline constexpr std::uint64_t kWholeFile = ~std::uint64_t{0};
/// Copies a file to `to`, synced. An existing file keeps its owner and mode, a new one gets
/// `owner`.
void copy_whole(const std::filesystem::path& from, const std::filesystem::path& to,
                const FileOwner& owner = {});
/// Copies the first `bytes_max` bytes of an open file, which may have been removed, as copy_whole()
/// does.
void copy_part(const OpenFile& from, const std::filesystem::path& to, std::uint64_t bytes_max,
               const FileOwner& owner = {});

/// Creates `folder`/data.mdb with all tables of the snapshot, synced. The pages are full, so the
/// copy is not larger than the rows need.
/// @param keeps  Returns false for a row of the main table that is left out.
void copy_environment(const ReadTxn& snapshot, const std::filesystem::path& folder,
                      const std::function<bool(std::string_view key)>& keeps);

}  // namespace sluice::store
