#include "program/system/file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdlib>
#include <utility>

#include "core/values/shell_word.hpp"
#include "os/files/file_io.hpp"

namespace sluice::cli {

Result<UniqueFile> open_for_reading(const std::string& path) {
    auto opened = open_input(path);
    if (!opened.ok()) {
        return opened.error();
    }
    struct stat info {};
    if (::fstat(opened->get(), &info) == 0 && S_ISDIR(info.st_mode)) {
        return system_error(EISDIR, "read", path);
    }
    return UniqueFile(::fdopen(opened->release(), "rb"));
}

bool FileLines::next(std::string_view& line) {
    const ssize_t bytes = ::getline(&line_, &room_, file_);
    if (bytes < 0) {
        return false;
    }
    ++number_;
    line = {line_, static_cast<std::size_t>(bytes)};
    return true;
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

namespace {

constexpr std::size_t kSecretBytesMax = 4096;

/// Reads to the end, or until there are more than `bytes_max` bytes.
Result<std::string> read_up_to(int fd, const std::string& name, std::size_t bytes_max) {
    std::string text;
    std::array<char, 1 << 16> buffer{};
    while (text.size() <= bytes_max) {
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
                     file + ": others may read this secret; run: chmod 600 " + shell_word(file)};
    }
    return Status::success();
}

}  // namespace

Result<std::string> read_to_end(const std::string& path, std::size_t bytes_max) {
    const auto opened = open_input(path);
    if (!opened.ok()) {
        return opened.error();
    }
    auto contents = read_up_to(opened->get(), path, bytes_max);
    if (contents.ok() && contents->size() > bytes_max) {
        return invalid(path + ": larger than the " + std::to_string(bytes_max >> 20u) +
                       " MB that one command can carry; split it");
    }
    return contents;
}

Result<std::string> read_secret(const std::string& file, Exposed exposed) {
    const bool is_stdin = file == "-";
    const std::string name = is_stdin ? "standard input" : file;
    Fd opened;
    if (!is_stdin) {
        auto input = open_input(file);
        if (!input.ok()) {
            return input.error();
        }
        opened = std::move(*input);
        if (Status mode = check_mode(opened.get(), file); !mode.ok()) {
            if (exposed == Exposed::kRefuse) {
                return mode.error();
            }
            std::fprintf(stderr, "sluice: warning: %s\n", mode.error().message.c_str());
        }
    }
    auto text = read_up_to(is_stdin ? STDIN_FILENO : opened.get(), name, kSecretBytesMax + 1);
    if (!text.ok()) {
        return text;
    }
    if (!text->empty() && text->back() == '\n') {
        text->pop_back();
    }
    if (text->empty() || text->size() > kSecretBytesMax) {
        return invalid(name + ": expected a secret of 1 to 4096 bytes");
    }
    return text;
}

Result<OutputFile> write_new_secret(const std::string& path, const std::string& secret) {
    auto file = OutputFile::create(path, FileUse::kNewOutput);
    if (!file.ok()) {
        return file;
    }
    Status written = file->write(secret + "\n");
    written = written ? file->place() : written;
    return written ? std::move(file) : Result<OutputFile>(written.error());
}

Result<TemporaryFolder> TemporaryFolder::make(const std::string& name) {
    const char* const given = std::getenv("TMPDIR");
    const std::string below = given != nullptr && *given != '\0' ? given : "/tmp";
    std::string made = below + "/" + name + "-XXXXXX";
    if (::mkdtemp(made.data()) != nullptr) {
        return TemporaryFolder(made);
    }
    // root's TMPDIR may be private to it, and root has become the owner of the store.
    const int reason = errno;
    made = "/var/tmp/" + name + "-XXXXXX";
    if ((reason != EACCES && reason != ENOENT) || ::mkdtemp(made.data()) == nullptr) {
        return system_error(reason, "make a folder below", below);
    }
    std::fprintf(
        stderr,
        "sluice: the owner of the store cannot write below TMPDIR; the temporary files are "
        "in /var/tmp\n");
    return TemporaryFolder(made);
}

TemporaryFolder::TemporaryFolder(TemporaryFolder&& other) noexcept
    : path_(std::exchange(other.path_, {})) {}

TemporaryFolder::~TemporaryFolder() {
    std::error_code ignored;
    if (!path_.empty()) {
        std::filesystem::remove_all(path_, ignored);
    }
}

}  // namespace sluice::cli
