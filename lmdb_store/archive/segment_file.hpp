// The files of an archive: their names, their heads, and what a process that died left of one.
//
// Inner header of the room: only its sources use it.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>

#include "core/values/result.hpp"
#include "lmdb_store/archive/format.hpp"
#include "os/files/open_file.hpp"

namespace sluice::store {

/// The segments of a folder by ordinal. kNotFound and kPermission name the folder.
[[nodiscard]] Result<std::map<std::uint64_t, std::filesystem::path>> list_segments(
    const std::filesystem::path& folder);
[[nodiscard]] std::filesystem::path segment_path(const std::filesystem::path& folder,
                                                 std::uint64_t ordinal);
/// Reads and checks the head of a segment.
[[nodiscard]] Result<SegmentHead> read_segment_head(const OpenFile& file);
/// Removes what replace_file() left of a segment when its process died.
[[nodiscard]] Status remove_unfinished(const std::filesystem::path& folder);

}  // namespace sluice::store
