#include "lmdb_store/archive/file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <charconv>
#include <cstdio>
#include <cstring>
#include <system_error>
#include <utility>
#include <vector>

#include "lmdb_store/files/file_io.hpp"

namespace sluice::store {
namespace {

constexpr std::string_view kSuffix = ".sla";
constexpr std::string_view kUnfinishedSuffix = ".sla.new";
constexpr std::size_t kOrdinalDigits = 12;
constexpr mode_t kFileMode = 0600;

Error file_error(const std::filesystem::path& path, const char* doing, int code) {
    const std::string message =
        std::string(doing) + " " + path.string() + ": " + std::strerror(code);
    switch (code) {
        case ENOSPC:
        case EDQUOT:
            return {ErrorCode::kNoSpace, message};
        case ENOENT:
            return {ErrorCode::kNotFound, message};
        case EACCES:
        case EPERM:
        case EROFS:
            return {ErrorCode::kPermission, message};
        default:
            return {ErrorCode::kIo, message};
    }
}

int open_flags(ArchiveFile::Mode mode) {
    switch (mode) {
        case ArchiveFile::Mode::kRead:
            return O_RDONLY | O_CLOEXEC;
        case ArchiveFile::Mode::kAppend:
            return O_RDWR | O_CLOEXEC;
        case ArchiveFile::Mode::kCreate:
            break;
    }
    return O_RDWR | O_CLOEXEC | O_CREAT | O_TRUNC;
}

std::optional<std::uint64_t> ordinal_of(const std::string& name) {
    if (name.size() != kOrdinalDigits + kSuffix.size() || !name.ends_with(kSuffix)) {
        return std::nullopt;
    }
    std::uint64_t ordinal = 0;
    const char* end = name.data() + kOrdinalDigits;
    const auto [stopped, error] = std::from_chars(name.data(), end, ordinal);
    if (error != std::errc{} || stopped != end || ordinal == 0) {
        return std::nullopt;
    }
    return ordinal;
}

}  // namespace

Result<ArchiveFile> ArchiveFile::open(const std::filesystem::path& path, Mode mode) {
    const int descriptor = ::open(path.c_str(), open_flags(mode), kFileMode);
    if (descriptor < 0) {
        return file_error(path, "cannot open", errno);
    }
    return ArchiveFile(descriptor, path);
}

ArchiveFile::ArchiveFile(ArchiveFile&& other) noexcept
    : descriptor_(std::exchange(other.descriptor_, -1)), path_(std::move(other.path_)) {}

ArchiveFile& ArchiveFile::operator=(ArchiveFile&& other) noexcept {
    std::swap(descriptor_, other.descriptor_);
    std::swap(path_, other.path_);
    return *this;
}

ArchiveFile::~ArchiveFile() {
    if (descriptor_ >= 0) {
        ::close(descriptor_);
    }
}

Error ArchiveFile::failed(const char* doing, int code) const {
    return file_error(path_, doing, code);
}

Result<std::string> ArchiveFile::read_at(std::uint64_t offset, std::size_t bytes) const {
    std::string buffer(bytes, '\0');
    std::size_t have = 0;
    while (have < bytes) {
        const ssize_t got = ::pread(descriptor_, buffer.data() + have, bytes - have,
                                    static_cast<off_t>(offset + have));
        if (got < 0 && errno == EINTR) {
            continue;
        }
        if (got < 0) {
            return failed("cannot read", errno);
        }
        if (got == 0) {
            break;
        }
        have += static_cast<std::size_t>(got);
    }
    buffer.resize(have);
    return buffer;
}

Status ArchiveFile::write_at(std::uint64_t offset, std::string_view bytes) {
    while (!bytes.empty()) {
        const ssize_t put =
            ::pwrite(descriptor_, bytes.data(), bytes.size(), static_cast<off_t>(offset));
        if (put < 0 && errno == EINTR) {
            continue;
        }
        if (put < 0) {
            return failed("cannot write", errno);
        }
        offset += static_cast<std::uint64_t>(put);
        bytes.remove_prefix(static_cast<std::size_t>(put));
    }
    return Status::success();
}

Status ArchiveFile::truncate(std::uint64_t bytes) {
    return ::ftruncate(descriptor_, static_cast<off_t>(bytes)) == 0
               ? Status::success()
               : Status(failed("cannot truncate", errno));
}

Status ArchiveFile::sync() {
    return ::fdatasync(descriptor_) == 0 ? Status::success() : Status(failed("cannot sync", errno));
}

Result<std::uint64_t> ArchiveFile::size() const {
    struct stat status {};
    if (::fstat(descriptor_, &status) != 0) {
        return failed("cannot look at", errno);
    }
    return static_cast<std::uint64_t>(status.st_size);
}

Result<std::map<std::uint64_t, std::filesystem::path>> list_segments(
    const std::filesystem::path& folder) {
    std::map<std::uint64_t, std::filesystem::path> segments;
    const auto names = names_in(folder);
    if (!names) {
        return names.error();
    }
    for (const std::string& name : *names) {
        if (const auto ordinal = ordinal_of(name)) {
            segments.emplace(*ordinal, folder / name);
        }
    }
    return segments;
}

std::filesystem::path segment_path(const std::filesystem::path& folder, std::uint64_t ordinal) {
    std::array<char, 32> name{};
    std::snprintf(name.data(), name.size(), "%012llu.sla",
                  static_cast<unsigned long long>(ordinal));
    return folder / name.data();
}

Status sync_archive_folder(const std::filesystem::path& folder) {
    const int descriptor = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (descriptor < 0) {
        return file_error(folder, "cannot open", errno);
    }
    const int outcome = ::fsync(descriptor);
    const int code = errno;
    ::close(descriptor);
    return outcome == 0 ? Status::success() : Status(file_error(folder, "cannot sync", code));
}

Result<SegmentHead> read_segment_head(const ArchiveFile& file) {
    const auto bytes = file.read_at(0, kSegmentHeadBytes);
    if (!bytes) {
        return bytes.error();
    }
    auto head = decode_segment_head(*bytes);
    if (!head) {
        return Error{head.error().code, head.error().message + " (" + file.path().string() + ")"};
    }
    return head;
}

Status place_file(const std::filesystem::path& path, std::string_view bytes) {
    const std::filesystem::path temporary =
        path.parent_path() / (path.stem().string() + std::string(kUnfinishedSuffix));
    auto file = ArchiveFile::open(temporary, ArchiveFile::Mode::kCreate);
    if (!file) {
        return file.error();
    }
    if (Status written = file->write_at(0, bytes); !written) {
        ::unlink(temporary.c_str());
        return written;
    }
    if (Status synced = file->sync(); !synced) {
        ::unlink(temporary.c_str());
        return synced;
    }
    if (::rename(temporary.c_str(), path.c_str()) != 0) {
        return file_error(path, "cannot put into place", errno);
    }
    return sync_archive_folder(path.parent_path());
}

Status remove_unfinished(const std::filesystem::path& folder) {
    const auto names = names_in(folder);
    if (!names) {
        return names.error();
    }
    for (const std::string& name : *names) {
        const std::filesystem::path path = folder / name;
        if (name.ends_with(kUnfinishedSuffix) && ::unlink(path.c_str()) != 0 && errno != ENOENT) {
            return file_error(path, "cannot remove", errno);
        }
    }
    return Status::success();
}

}  // namespace sluice::store
