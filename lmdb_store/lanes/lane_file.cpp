#include "lmdb_store/lanes/lane_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "lmdb_store/environment/lock_wait.hpp"
#include "lmdb_store/environment/reaction.hpp"
#include "os/files/file_owner.hpp"

namespace sluice::store {
namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t kZeroBytes = 1U << 20;

int sync_flag(bool direct, bool sync) noexcept {
    return direct && sync ? O_DIRECT | O_DSYNC : direct ? O_DIRECT : 0;
}

Error lane_error(const fs::path& path, const Error& error) {
    return {error.code, "\"" + path.string() + "\" " + error.message};
}

}  // namespace

void FreeAligned::operator()(char* bytes) const noexcept {
    std::free(bytes);
}

AlignedBytes allocate_aligned(std::size_t bytes) noexcept {
    return AlignedBytes(static_cast<char*>(std::aligned_alloc(kLaneBlockBytes, bytes)));
}

Result<LaneFile> LaneFile::create(const fs::path& path, const LaneHead& head,
                                  const FileOwner& owner, bool sync) {
    constexpr int kFlags = O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW;
    const AlignedBytes bytes = allocate_aligned(kZeroBytes);
    if (bytes == nullptr) {
        return Error{ErrorCode::kBusy, "not enough memory to create a lane"};
    }
    std::memset(bytes.get(), 0, kZeroBytes);
    int error = EINVAL;
    for (const bool direct :
         {true, false}) {  // some file systems refuse O_DIRECT only at the write
        Fd fd(open_retrying(path.c_str(), kFlags | (direct ? O_DIRECT : 0), owner.mode));
        error = fd.ok() ? 0 : errno;
        LaneFile file(std::move(fd), path, direct, sync);
        file.head_ = head;
        for (std::uint64_t at = kLaneBlockBytes; error == 0 && at < kLaneBlockBytes + head.bytes;
             at += kZeroBytes) {
            const std::uint64_t left = kLaneBlockBytes + head.bytes - at;
            error = file.write_at(at, {bytes.get(), std::min(kZeroBytes, left)});
        }
        if (error == 0) {
            encode_lane_head(head, std::span<char, kLaneBlockBytes>(bytes.get(), kLaneBlockBytes));
            error = file.write_at(0, {bytes.get(), kLaneBlockBytes});
            error =
                error == 0 ? set_owner(file.fd_.get(), owner.user, owner.group, owner.mode) : error;
            error = error == 0 && ::fsync(file.fd_.get()) != 0 ? errno : error;
        }
        if (error == 0) {
            return LaneFile::open(path, sync);
        }
        ::unlink(path.c_str());
        if (error != EINVAL) {
            break;
        }
    }
    // A folder that this user may not write to says nothing about the disk.
    return code_of_errno(error) == ErrorCode::kPermission ? system_error(error, "create", path)
                                                          : disk_error(error, "create", path);
}

Result<LaneFile> LaneFile::open(const fs::path& path, bool sync) {
    for (const bool direct : {true, false}) {
        int error = 0;
        Result<Fd> fd = open_plain(path, O_RDWR | sync_flag(direct, sync), &error);
        if (!fd) {
            if (direct && error == EINVAL) {
                continue;  // the file system has no O_DIRECT
            }
            return fd.error().code == ErrorCode::kNotFound
                       ? Error{ErrorCode::kNotFound, "\"" + path.string() + "\" is missing"}
                       : fd.error();
        }
        LaneFile file(std::move(*fd), path, direct, sync);
        Status read = file.read_head();
        if (read) {
            return file;
        }
        if (!direct || read.error().code != ErrorCode::kInternal) {
            return read.error();
        }
    }
    return system_error(EINVAL, "open", path);
}

Status LaneFile::read_head() {
    struct stat info {};
    if (::fstat(fd_.get(), &info) != 0) {
        return disk_error(errno, "inspect", path_);
    }
    const AlignedBytes block = allocate_aligned(kLaneBlockBytes);
    if (block == nullptr) {
        return Error{ErrorCode::kBusy, "not enough memory to read a lane"};
    }
    const std::int64_t got = read_at(fd_.get(), block.get(), kLaneBlockBytes, 0);
    if (got == -EINVAL && direct_) {
        return system_error(EINVAL, "read", path_);  // open() tries again without O_DIRECT
    }
    if (got < 0) {
        return disk_error(static_cast<int>(-got), "read", path_);
    }
    const Result<LaneHead> head = decode_lane_head({block.get(), static_cast<std::size_t>(got)});
    if (!head) {
        return lane_error(path_, head.error());
    }
    if (static_cast<std::uint64_t>(info.st_size) != kLaneBlockBytes + head->bytes) {
        return Error{ErrorCode::kCorrupt, "\"" + path_.string() +
                                              "\" has another length than its "
                                              "head says: it was truncated or extended"};
    }
    head_ = *head;
    return Status::success();
}

bool LaneFile::try_lock() noexcept {
    struct flock lock = write_lock(0, 0);
    return ::fcntl(fd_.get(), F_OFD_SETLK, &lock) == 0;
}

bool LaneFile::is_locked(const fs::path& path) noexcept {
    const Fd fd(open_retrying(path.c_str(), O_RDWR | O_NOFOLLOW | O_NONBLOCK));
    struct flock lock = write_lock(0, 0);
    return fd.ok() && ::fcntl(fd.get(), F_OFD_GETLK, &lock) == 0 && lock.l_type != F_UNLCK;
}

bool LaneFile::is_locked_elsewhere() const noexcept {
    struct flock lock = write_lock(0, 0);
    return ::fcntl(fd_.get(), F_OFD_GETLK, &lock) != 0 || lock.l_type != F_UNLCK;
}

int LaneFile::write_at(std::uint64_t at, std::string_view bytes) noexcept {
    while (!bytes.empty()) {
        const ssize_t done =
            ::pwrite(fd_.get(), bytes.data(), bytes.size(), static_cast<off_t>(at));
        if (done < 0 && errno == EINTR) {
            continue;
        }
        if (done <= 0) {
            return done < 0 ? errno : EIO;
        }
        if (direct_ && static_cast<std::size_t>(done) % kLaneBlockBytes != 0) {
            return EIO;  // the rest would not be aligned
        }
        bytes.remove_prefix(static_cast<std::size_t>(done));
        at += static_cast<std::uint64_t>(done);
    }
    return 0;
}

int LaneFile::write(std::uint64_t offset, std::string_view bytes) noexcept {
    const std::uint64_t at = offset % head_.bytes;
    const std::uint64_t first = std::min<std::uint64_t>(bytes.size(), head_.bytes - at);
    int error = write_at(kLaneBlockBytes + at, bytes.substr(0, first));
    if (error == 0 && first < bytes.size()) {
        error = write_at(kLaneBlockBytes, bytes.substr(first));
    }
    return error == 0 && !direct_ ? sync() : error;
}

int LaneFile::sync() const noexcept {
    return sync_ && ::fdatasync(fd_.get()) != 0 ? errno : 0;
}

int LaneFile::read(std::uint64_t offset, char* to, std::uint64_t bytes) const noexcept {
    while (bytes > 0) {
        const std::uint64_t at = offset % head_.bytes;
        const std::uint64_t part = std::min(bytes, head_.bytes - at);
        const std::int64_t got = read_at(fd_.get(), to, part, kLaneBlockBytes + at);
        if (got != static_cast<std::int64_t>(part)) {
            return got < 0 ? static_cast<int>(-got) : EIO;
        }
        offset += part;
        to += part;
        bytes -= part;
    }
    return 0;
}

bool LaneFile::still_in_place() const noexcept {
    struct stat named {};
    struct stat opened {};
    return ::stat(path_.c_str(), &named) == 0 && ::fstat(fd_.get(), &opened) == 0 &&
           named.st_dev == opened.st_dev && named.st_ino == opened.st_ino &&
           static_cast<std::uint64_t>(opened.st_size) == kLaneBlockBytes + head_.bytes;
}

}  // namespace sluice::store
