#include "worker/system/file.hpp"

#include <fcntl.h>
#include <sys/stat.h>

#include <array>
#include <cerrno>

#include "os/files/file_io.hpp"

namespace sluice::cli {

Result<UniqueFile> open_for_reading(const std::string& path) {
    UniqueFile file(std::fopen(path.c_str(), "rbe"));
    if (!file) {
        return system_error(errno, "read", path);
    }
    struct stat info {};
    if (::fstat(::fileno(file.get()), &info) == 0 && S_ISDIR(info.st_mode)) {
        return system_error(EISDIR, "read", path);
    }
    return file;
}

Result<UniqueFile> open_for_writing(const std::string& path, Existing existing) {
    const bool appends = existing == Existing::kAppendedTo;
    const int fd =
        open_retrying(path.c_str(), O_WRONLY | O_CREAT | (appends ? O_APPEND : O_TRUNC), 0600);
    if (fd < 0) {
        return system_error(errno, "write", path);
    }
    return UniqueFile(::fdopen(fd, appends ? "ab" : "wb"));
}

Result<std::string> read_to_end(const std::string& path, std::size_t bytes_max) {
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
        return system_error(EIO, "read", path);
    }
    return contents;
}

}  // namespace sluice::cli
