#include "os/files/open_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

namespace sluice {

Result<OpenFile> OpenFile::open(const std::filesystem::path& path, Mode mode) {
    Fd fd(open_retrying(path.c_str(), mode == Mode::kRead ? O_RDONLY : O_RDWR));
    if (!fd.ok()) {
        return system_error(errno, "open", path);
    }
    return OpenFile(std::move(fd), path);
}

Result<std::string> OpenFile::read_at(std::uint64_t offset, std::size_t bytes) const {
    std::string buffer(bytes, '\0');
    const std::int64_t got = sluice::read_at(fd_.get(), buffer.data(), bytes, offset);
    if (got < 0) {
        return system_error(static_cast<int>(-got), "read", path_);
    }
    buffer.resize(static_cast<std::size_t>(got));
    return buffer;
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
        return system_error(errno, "look at", path_);
    }
    return static_cast<std::uint64_t>(status.st_size);
}

}  // namespace sluice
