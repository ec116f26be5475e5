#include "worker/system/file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <optional>
#include <utility>

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

namespace {

constexpr std::size_t kSecretBytesMax = 4096;

Result<std::string> read_all(int fd, const std::string& name) {
    std::string text;
    std::array<char, 1024> buffer{};
    while (text.size() <= kSecretBytesMax + 1) {
        const ssize_t got = ::read(fd, buffer.data(), buffer.size());
        if (got == 0) {
            return text;
        }
        if (got > 0) {
            text.append(buffer.data(), static_cast<std::size_t>(got));
        } else if (errno != EINTR) {
            return system_error(errno, "read", name);
        }
    }
    return text;
}

Status check_mode(int fd, const std::string& file) {
    struct stat info {};
    if (::fstat(fd, &info) != 0) {
        return system_error(errno, "look at", file);
    }
    if (S_ISREG(info.st_mode) && (info.st_mode & 077u) != 0) {
        return Error{ErrorCode::kPermission,
                     file + ": others may read this secret; run: chmod 600 " + file};
    }
    return Status::success();
}

}  // namespace

Result<std::string> read_secret(const std::string& file, Exposed exposed) {
    const bool is_stdin = file == "-";
    const std::string name = is_stdin ? "standard input" : file;
    Fd opened;
    if (!is_stdin) {
        opened = Fd(open_retrying(file.c_str(), O_RDONLY));
        if (!opened.ok()) {
            return system_error(errno, "read", file);
        }
        if (Status mode = check_mode(opened.get(), file); !mode.ok()) {
            if (exposed == Exposed::kRefuse) {
                return mode.error();
            }
            std::fprintf(stderr, "sluice: warning: %s\n", mode.error().message.c_str());
        }
    }
    auto text = read_all(is_stdin ? STDIN_FILENO : opened.get(), name);
    if (!text.ok()) {
        return text;
    }
    if (!text->empty() && text->back() == '\n') {
        text->pop_back();
    }
    if (text->empty() || text->size() > kSecretBytesMax) {
        return Error{ErrorCode::kInvalid, name + ": expected a secret of 1 to 4096 bytes"};
    }
    return text;
}

NewSecretFile::NewSecretFile(NewSecretFile&& other) noexcept
    : path_(std::move(other.path_)), keeps_(std::exchange(other.keeps_, true)) {}

NewSecretFile::~NewSecretFile() {
    if (!keeps_) {
        ::unlink(path_.c_str());
    }
}

Result<NewSecretFile> NewSecretFile::create(const std::string& path, const std::string& secret) {
    const Fd fd(open_retrying(path.c_str(), O_WRONLY | O_CREAT | O_EXCL, 0600));
    if (!fd.ok() && errno == EEXIST) {
        return Error{ErrorCode::kConflict, path + " exists; name a file that does not exist yet"};
    }
    if (!fd.ok()) {
        return system_error(errno, "create", path);
    }
    NewSecretFile file(path);
    if (const int failed = write_all(fd.get(), secret + "\n"); failed != 0) {
        return system_error(failed, "write", path);
    }
    if (::fsync(fd.get()) != 0) {
        return system_error(errno, "sync", path);
    }
    return file;
}

}  // namespace sluice::cli
