#include "os/files/file_io.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>

#include <cerrno>
#include <cstring>
#include <memory>

#include "core/values/shell_word.hpp"
#include "os/files/file_owner.hpp"

namespace sluice {
namespace {

int write_synced(const char* path, std::string_view bytes) noexcept {
    const int how = O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW;
    Fd fd(open_retrying(path, how, 0600));
    if (!fd.ok() && errno == EEXIST) {  // left by a killed process with the same id
        ::unlink(path);
        fd = Fd(open_retrying(path, how, 0600));
    }
    if (!fd.ok()) {
        return errno;
    }
    if (const int error = write_all(fd.get(), bytes); error != 0) {
        return error;
    }
    return ::fsync(fd.get()) == 0 ? 0 : errno;
}

const char* kind_of(mode_t mode) noexcept {
    switch (mode & S_IFMT) {
        case S_IFLNK:
            return "a symbolic link";
        case S_IFDIR:
            return "a folder";
        case S_IFIFO:
            return "a FIFO";
        case S_IFSOCK:
            return "a socket";
        default:
            return "a device";
    }
}

/// Returns the path to which a person moves a file that is not a regular one: above its folder if
/// both have one owner, because `sluice doctor` may report it again in a folder of a store.
std::filesystem::path place_aside(const std::filesystem::path& path) {
    const std::filesystem::path folder = path.parent_path();
    const std::filesystem::path above = folder.parent_path();
    struct stat own {};
    struct stat outer {};
    const bool is_above = !above.empty() && ::stat(folder.c_str(), &own) == 0 &&
                          ::stat(above.c_str(), &outer) == 0 && own.st_uid == outer.st_uid;
    return (is_above ? above : folder) / (path.filename().string() + ".refused");
}

Error foreign_file(const std::filesystem::path& path, mode_t mode) {
    const std::string name = "\"" + path.string() + "\"";
    if (S_ISREG(mode)) {  // and it has hard links: the contents may well be the right ones
        return {ErrorCode::kPermission,
                name +
                    " has more than one name (hard links) and should have one: it was not opened. "
                    "Find out who made the other names, and remove them: find / -xdev -samefile " +
                    shell_word(path.native())};
    }
    return {ErrorCode::kCorrupt,
            name + " is " + kind_of(mode) +
                " and should be a regular file with one name: it was not opened. Find out who made "
                "it, move it away (mv -T " +
                shell_word(path.native()) + " " + shell_word(place_aside(path).native()) +
                ", which follows no link), and restore the file from a backup"};
}

/// Calls write(rest) until it has taken all bytes, again after EINTR. Returns 0 or an errno.
template <class Write>
int write_whole(std::string_view bytes, Write&& write) noexcept {
    while (!bytes.empty()) {
        const ssize_t written = write(bytes);
        if (written < 0 && errno == EINTR) {
            continue;
        }
        if (written <= 0) {
            return written < 0 ? errno : EIO;
        }
        bytes.remove_prefix(static_cast<std::size_t>(written));
    }
    return 0;
}

/// Reads up to `bytes` bytes. The path is for the error.
Result<std::string> read_some(const Fd& fd, const std::filesystem::path& path, std::uint64_t offset,
                              std::size_t bytes) {
    std::string buffer(bytes, '\0');
    const std::int64_t got = read_at(fd.get(), buffer.data(), bytes, offset);
    if (got < 0) {
        return system_error(static_cast<int>(-got), "read", path);
    }
    buffer.resize(static_cast<std::size_t>(got));
    return buffer;
}

Result<std::string> read_opened(const Fd& fd, const std::filesystem::path& path,
                                std::size_t bytes_max) {
    struct stat info {};
    if (!fd.ok() || ::fstat(fd.get(), &info) != 0) {
        return system_error(errno, "read", path);
    }
    if (!S_ISREG(info.st_mode) || static_cast<std::uint64_t>(info.st_size) > bytes_max) {
        return invalid("\"" + path.string() + "\" is not a plain file of the expected size");
    }
    return read_some(fd, path, 0, static_cast<std::size_t>(info.st_size));
}

}  // namespace

int open_retrying(const char* path, int flags, mode_t mode) noexcept {
    int fd = -1;
    do {
        fd = ::open(path, flags | O_CLOEXEC, mode);
    } while (fd < 0 && errno == EINTR);
    return fd;
}

Result<Fd> open_plain(const std::filesystem::path& path, int flags, int* error) {
    struct stat info {};
    Fd fd(open_retrying(path.c_str(), flags | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY));
    const int failed = fd.ok() ? 0 : errno;
    if (error != nullptr) {
        *error = failed;
    }
    if (failed != 0) {
        // A link, a socket, or a FIFO without a reader, or one that its owner alone may open.
        const bool is_foreign = ::lstat(path.c_str(), &info) == 0 && !S_ISREG(info.st_mode);
        return is_foreign ? foreign_file(path, info.st_mode) : system_error(failed, "open", path);
    }
    if (::fstat(fd.get(), &info) != 0) {
        return system_error(errno, "inspect", path);
    }
    if (!S_ISREG(info.st_mode) || info.st_nlink > 1) {
        return foreign_file(path, info.st_mode);
    }
    return fd;
}

Status check_plain(const std::filesystem::path& path) {
    struct stat info {};
    struct stat folder {};
    if (::lstat(path.c_str(), &info) != 0 || ::stat(path.parent_path().c_str(), &folder) != 0) {
        return system_error(errno, "inspect", path);
    }
    if (!S_ISREG(info.st_mode) || info.st_nlink > 1) {
        return foreign_file(path, info.st_mode);
    }
    if (info.st_uid != folder.st_uid) {
        const std::string owner = std::to_string(folder.st_uid);
        return Error{ErrorCode::kPermission,
                     "\"" + path.string() + "\" belongs to user " + std::to_string(info.st_uid) +
                         " and should belong to the owner of its folder, user " + owner +
                         ": it was not opened. If it is the right file: chown -h " + owner + " " +
                         shell_word(path.native())};
    }
    return Status::success();
}

Fd::~Fd() {
    if (fd_ >= 0) {
        ::close(fd_);
    }
}

ErrorCode code_of_errno(int error) noexcept {
    switch (error) {
        case ENOENT:
        case ENOTDIR:
            return ErrorCode::kNotFound;
        case EACCES:
        case EPERM:
        case EROFS:  // an administrator must remount, or grant a permission
            return ErrorCode::kPermission;
        case ENOSPC:
        case EDQUOT:
        case EFBIG:
            return ErrorCode::kNoSpace;
        case EEXIST:
            return ErrorCode::kConflict;
        case EAGAIN:
        case EBUSY:
            return ErrorCode::kBusy;
        case EIO:
            return ErrorCode::kIo;
        default:  // bad argument, no memory, no descriptor: not caused by the file
            return ErrorCode::kInternal;
    }
}

Error system_error(int error, std::string_view doing, const std::filesystem::path& path) {
    std::string message = "cannot " + std::string(doing) + " \"" + path.string() + "\"";
    if (error == EROFS) {
        message += ": its file system is mounted read-only, which a store cannot live on";
    } else {
        message += std::string(": ") + std::strerror(error);
    }
    return {code_of_errno(error), std::move(message)};
}

int write_all(int fd, std::string_view bytes) noexcept {
    return write_whole(bytes, [fd](std::string_view rest) noexcept {
        return ::write(fd, rest.data(), rest.size());
    });
}

int write_at(int fd, std::string_view bytes, std::uint64_t offset) noexcept {
    return write_whole(bytes, [&](std::string_view rest) noexcept {
        const std::uint64_t at = offset + (bytes.size() - rest.size());
        return ::pwrite(fd, rest.data(), rest.size(), static_cast<off_t>(at));
    });
}

std::int64_t read_at(int fd, void* buffer, std::size_t bytes_count, std::uint64_t offset) noexcept {
    auto* to = static_cast<char*>(buffer);
    std::size_t done = 0;
    while (done < bytes_count) {
        const ssize_t got =
            ::pread(fd, to + done, bytes_count - done, static_cast<off_t>(offset + done));
        if (got < 0 && errno == EINTR) {
            continue;
        }
        if (got < 0) {
            return -errno;
        }
        if (got == 0) {
            break;
        }
        done += static_cast<std::size_t>(got);
    }
    return static_cast<std::int64_t>(done);
}

Result<OpenFile> OpenFile::open(const std::filesystem::path& path, Mode mode) {
    Result<Fd> fd = open_plain(path, mode == Mode::kRead ? O_RDONLY : O_RDWR);
    return fd ? Result<OpenFile>(OpenFile(std::move(*fd), path)) : Result<OpenFile>(fd.error());
}

Result<std::string> OpenFile::read_at(std::uint64_t offset, std::size_t bytes) const {
    return read_some(fd_, path_, offset, bytes);
}

Status OpenFile::write_at(std::uint64_t offset, std::string_view bytes) {
    const int error = sluice::write_at(fd_.get(), bytes, offset);
    return error == 0 ? Status::success() : Status(system_error(error, "write", path_));
}

Status OpenFile::truncate(std::uint64_t bytes) {
    return ::ftruncate(fd_.get(), static_cast<off_t>(bytes)) == 0
               ? Status::success()
               : Status(system_error(errno, "truncate", path_));
}

Status OpenFile::sync() {
    return ::fdatasync(fd_.get()) == 0 ? Status::success()
                                       : Status(system_error(errno, "sync", path_));
}

Result<std::uint64_t> OpenFile::size() const {
    struct stat status {};
    if (::fstat(fd_.get(), &status) != 0) {
        return system_error(errno, "inspect", path_);
    }
    return static_cast<std::uint64_t>(status.st_size);
}

Result<std::string> read_file(const std::filesystem::path& path, std::size_t bytes_max) {
    return read_opened(Fd(open_retrying(path.c_str(), O_RDONLY | O_NONBLOCK)), path, bytes_max);
}

Result<std::string> read_plain_file(const std::filesystem::path& path, std::size_t bytes_max) {
    const Result<Fd> fd = open_plain(path, O_RDONLY);
    return fd ? read_opened(*fd, path, bytes_max) : Result<std::string>(fd.error());
}

Result<std::string> read_proc(const std::filesystem::path& path) {
    const Fd fd(open_retrying(path.c_str(), O_RDONLY));
    return fd.ok() ? read_some(fd, path, 0, 4096) : system_error(errno, "read", path);
}

Status set_owner(const std::filesystem::path& path, const FileOwner& owner) {
    struct stat info {};
    const bool is_owned =
        ::lstat(path.c_str(), &info) == 0 && has_owner(info, owner.user, owner.group);
    if (!is_owned && ::lchown(path.c_str(), owner.user, owner.group) != 0) {
        return system_error(errno, "set the owner of", path);
    }
    if (::chmod(path.c_str(), owner.mode) != 0) {
        return system_error(errno, "set the mode of", path);
    }
    return Status::success();
}

Status replace_file(const std::filesystem::path& path, std::string_view bytes,
                    const FileOwner& owner) {
    TemporaryFile temporary(path.string() + ".new." + std::to_string(::getpid()));
    if (const int error = write_synced(temporary.c_str(), bytes); error != 0) {
        return system_error(error, "write", temporary.c_str());
    }
    if (Status owned = set_owner(temporary.c_str(), owner); !owned) {
        return owned;
    }
    if (::rename(temporary.c_str(), path.c_str()) != 0) {
        return system_error(errno, "replace", path);
    }
    temporary.keep();
    return sync_folder(path.parent_path());
}

Result<std::vector<std::string>> names_in(const std::filesystem::path& folder) {
    const std::unique_ptr<DIR, int (*)(DIR*)> opened(::opendir(folder.c_str()), &::closedir);
    if (opened == nullptr) {
        return system_error(errno, "list", folder);
    }
    std::vector<std::string> names;
    for (;;) {
        errno = 0;
        const dirent* const entry = ::readdir(opened.get());
        if (entry == nullptr) {
            break;
        }
        const std::string_view name(entry->d_name);
        if (name != "." && name != "..") {
            names.emplace_back(name);
        }
    }
    return errno == 0 ? Result<std::vector<std::string>>(std::move(names))
                      : system_error(errno, "list", folder);
}

Status sync_folder(const std::filesystem::path& folder) {
    const char* path = folder.empty() ? "." : folder.c_str();
    const Fd fd(open_retrying(path, O_RDONLY | O_DIRECTORY));
    // EINVAL: the file system does not sync folders, as some network file systems.
    if (!fd.ok() || (::fsync(fd.get()) != 0 && errno != EINVAL)) {
        return system_error(errno, "sync", folder);
    }
    return Status::success();
}

}  // namespace sluice
