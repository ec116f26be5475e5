#include "worker/system/file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>

namespace sluice::cli {
namespace {

Status write_synced(int fd, const std::string& path, std::string_view contents) {
    while (!contents.empty()) {
        const ssize_t put = ::write(fd, contents.data(), contents.size());
        if (put < 0 && errno != EINTR) {
            return system_error(path, errno);
        }
        contents.remove_prefix(put < 0 ? 0 : static_cast<std::size_t>(put));
    }
    return ::fdatasync(fd) == 0 ? Status::success() : Status(system_error(path, errno));
}

}  // namespace

UniqueFd::~UniqueFd() {
    if (fd_ >= 0) {
        ::close(fd_);
    }
}

Error system_error(const std::string& path, int error_number) {
    const std::string message = path + ": " + std::strerror(error_number);
    switch (error_number) {
        case ENOENT:
        case ENOTDIR:
            return {ErrorCode::kNotFound, message};
        case EACCES:
        case EPERM:
        case EROFS:
            return {ErrorCode::kPermission, message};
        case ENOSPC:
        case EDQUOT:
            return {ErrorCode::kNoSpace, message};
        default:
            return {ErrorCode::kIo, message};
    }
}

Result<UniqueFile> open_for_reading(const std::string& path) {
    UniqueFile file(std::fopen(path.c_str(), "rbe"));
    if (!file) {
        return system_error(path, errno);
    }
    struct stat info {};
    if (::fstat(::fileno(file.get()), &info) == 0 && S_ISDIR(info.st_mode)) {
        return system_error(path, EISDIR);
    }
    return file;
}

Result<std::string> read_file(const std::string& path, std::size_t bytes_max) {
    auto file = open_for_reading(path);
    if (!file.ok()) {
        return file.error();
    }
    std::string contents;
    std::array<char, 1 << 16> buffer{};
    while (const std::size_t got = std::fread(buffer.data(), 1, buffer.size(), file->get())) {
        contents.append(buffer.data(), got);
        if (contents.size() > bytes_max) {
            return Error{ErrorCode::kInvalid, path + ": larger than the " +
                                                  std::to_string(bytes_max >> 20u) +
                                                  " MB that one command can carry; split it"};
        }
    }
    if (std::ferror(file->get()) != 0) {
        return system_error(path, EIO);
    }
    return contents;
}

Status replace_file(const std::string& path, std::string_view contents) {
    const std::string temporary = path + ".tmp";
    {
        const UniqueFd fd(
            ::open(temporary.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600));
        if (!fd.valid()) {
            return system_error(temporary, errno);
        }
        if (Status written = write_synced(fd.get(), temporary, contents); !written.ok()) {
            return written;
        }
    }
    if (::rename(temporary.c_str(), path.c_str()) != 0) {
        return system_error(path, errno);
    }
    return Status::success();
}

}  // namespace sluice::cli
