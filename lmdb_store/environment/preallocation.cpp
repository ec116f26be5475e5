#include "lmdb_store/environment/preallocation.hpp"

#include <fcntl.h>
#include <linux/magic.h>
#include <sys/statvfs.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <array>

#include "os/clock/clock.hpp"

namespace sluice::store {
namespace {

constexpr std::uint32_t kXfsMagic = 0x58465342;
constexpr std::int64_t kPauseMs = 1000;
/// Bytes of a commit besides its records: the copied paths of its trees.
constexpr std::uint64_t kTreesBytes = 128U << 10;
/// Zeros are not written if less room is left on the disk.
constexpr std::uint64_t kDiskRoomMin = 128 * Preallocation::kChunkBytes;
constexpr std::size_t kAlignBytes = 4096;

alignas(kAlignBytes) constinit std::array<char, Preallocation::kChunkBytes> zeros{};

bool is_supported(const std::filesystem::path& folder) noexcept {
    struct statfs info {};
    if (::statfs(folder.c_str(), &info) != 0) {
        return false;
    }
    const auto magic = static_cast<std::uint32_t>(info.f_type);
    return magic == EXT4_SUPER_MAGIC || magic == kXfsMagic;
}

}  // namespace

Preallocation::Preallocation(const std::filesystem::path& folder)
    : fd_(is_supported(folder)
              ? ::open((folder / "data.mdb").c_str(), O_WRONLY | O_DIRECT | O_NOFOLLOW | O_CLOEXEC)
              : -1) {}

void Preallocation::prepare(const Environment& env, std::uint64_t bytes) noexcept {
    if (!fd_.ok() || bytes + kTreesBytes > kChunkBytes) {
        return;
    }
    const std::uint64_t used_bytes = (env.info().me_last_pgno + 1) * env.page_bytes();
    const std::uint64_t needed_bytes = used_bytes + bytes + kTreesBytes;
    if (needed_bytes <= file_bytes_ || coarse_ms() < paused_until_ms_) {
        return;
    }
    // LMDB or another process may have made it longer. -1, an error, stops preallocation.
    file_bytes_ = static_cast<std::uint64_t>(::lseek(fd_.get(), 0, SEEK_END));
    if (needed_bytes > file_bytes_) {
        grow(env);
    }
}

/// Writes only after the end of the file, where LMDB can have written no page.
void Preallocation::grow(const Environment& env) noexcept {
    const std::uint64_t from = (file_bytes_ + kAlignBytes - 1) / kAlignBytes * kAlignBytes;
    if (from + zeros.size() > env.map_bytes()) {
        return;
    }
    const bool grown = disk_has_room() &&
                       ::pwrite(fd_.get(), zeros.data(), zeros.size(), static_cast<off_t>(from)) ==
                           static_cast<ssize_t>(zeros.size());
    if (grown) {
        file_bytes_ = from + zeros.size();
    } else {
        paused_until_ms_ = coarse_ms() + kPauseMs;
    }
}

bool Preallocation::disk_has_room() const noexcept {
    struct statvfs disk {};
    return ::fstatvfs(fd_.get(), &disk) == 0 &&
           static_cast<std::uint64_t>(disk.f_bavail) * disk.f_frsize >= kDiskRoomMin;
}

}  // namespace sluice::store
