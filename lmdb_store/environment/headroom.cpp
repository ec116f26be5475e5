#include "lmdb_store/environment/headroom.hpp"

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
/// What a commit adds beside its records: the copied paths of its trees.
constexpr std::uint64_t kTreesBytes = 128U << 10;
/// Room on the disk that is never taken for zeros: others need it more.
constexpr std::uint64_t kDiskRoomMin = 128 * Headroom::kChunkBytes;
constexpr std::size_t kAlignBytes = 4096;

alignas(kAlignBytes) constinit std::array<char, Headroom::kChunkBytes> zeros{};

bool is_worth_it(const std::filesystem::path& folder) noexcept {
    struct statfs info {};
    if (::statfs(folder.c_str(), &info) != 0) {
        return false;
    }
    const auto magic = static_cast<std::uint32_t>(info.f_type);
    return magic == EXT4_SUPER_MAGIC || magic == kXfsMagic;
}

}  // namespace

Headroom::Headroom(const std::filesystem::path& folder)
    : fd_(is_worth_it(folder)
              ? ::open((folder / "data.mdb").c_str(), O_WRONLY | O_DIRECT | O_CLOEXEC)
              : -1) {}

void Headroom::prepare(const Environment& env, std::uint64_t bytes) noexcept {
    if (!fd_.ok() || bytes + kTreesBytes > kChunkBytes) {
        return;
    }
    const std::uint64_t used_bytes = (env.info().me_last_pgno + 1) * env.page_bytes();
    const std::uint64_t needed_bytes = used_bytes + bytes + kTreesBytes;
    if (needed_bytes <= file_bytes_ || coarse_ms() < paused_until_ms_) {
        return;
    }
    // LMDB or another process may have made it longer. -1 (no case is known) ends this.
    file_bytes_ = static_cast<std::uint64_t>(::lseek(fd_.get(), 0, SEEK_END));
    if (needed_bytes > file_bytes_) {
        grow(env);
    }
}

/// Only behind the end of the file: there is no page that LMDB could have written.
void Headroom::grow(const Environment& env) noexcept {
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

bool Headroom::disk_has_room() const noexcept {
    struct statvfs disk {};
    return ::fstatvfs(fd_.get(), &disk) == 0 &&
           static_cast<std::uint64_t>(disk.f_bavail) * disk.f_frsize >= kDiskRoomMin;
}

}  // namespace sluice::store
