// Reaction: what the processes of a store do after an error of the disk or of LMDB. The one table.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string_view>

#include "core/values/result.hpp"

namespace sluice::store {

enum class Reaction : std::uint8_t {
    kRetry,         ///< The error passes by itself; this attempt stored nothing.
    kBackpressure,  ///< No room. Requests are refused until there is room again.
    kLatch,         ///< The disk is suspect, or the store is damaged. All processes stop.
};

/// Returns the reaction to an errno or a code of LMDB. Every error that is not listed latches: a
/// kernel reports a failing disk in many words (EIO, ENODATA, EREMOTEIO, ENOLINK, EBADMSG ...).
[[nodiscard]] Reaction reaction_to(int rc) noexcept;
/// Returns the reaction to an error of a lane.
[[nodiscard]] Reaction reaction_to(ErrorCode code) noexcept;

/// Returns true if the file system has no room for a write. Tells by allocating a temporary file,
/// which waits for the disk.
[[nodiscard]] bool disk_is_full(const std::filesystem::path& folder) noexcept;

/// Returns the error of a failed read, write or sync: kBusy, kNoSpace or kIo by reaction_to().
[[nodiscard]] Error disk_error(int error, std::string_view doing,
                               const std::filesystem::path& path);

}  // namespace sluice::store
