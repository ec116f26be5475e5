#include "lmdb_store/queue/bulk_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>

#include "os/files/file_io.hpp"
#include "os/random/random_bytes.hpp"

namespace sluice::store {
namespace {

namespace fs = std::filesystem;

std::string random_name() {
    std::array<std::uint8_t, 16> bytes{};
    fill_random(bytes);
    return to_hex(bytes) + ".bulk";
}

/// nginx may run as root while the worker runs as the owner of the store.
bool give_to_owner_of_folder(int fd, const fs::path& folder) noexcept {
    if (::geteuid() != 0) {
        return true;
    }
    struct stat info {};
    return ::stat(folder.c_str(), &info) == 0 && ::fchown(fd, info.st_uid, info.st_gid) == 0;
}

/// Synced slice by slice: behind one sync of 20 MB the queue's commits would wait for all of it.
Status write_slices(int fd, const fs::path& path, std::string_view body) {
    constexpr std::size_t kSliceBytes = 1U << 20;
    do {
        const std::string_view slice = body.substr(0, kSliceBytes);
        body.remove_prefix(slice.size());
        if (const int error = write_all(fd, slice); error != 0) {
            return system_error(error, "write", path);
        }
        if (::fdatasync(fd) != 0) {
            return system_error(errno, "sync", path);
        }
    } while (!body.empty());
    return Status::success();
}

Status write_synced(const fs::path& path, std::string_view body) {
    const Fd fd(::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0660));
    if (!fd.ok()) {
        return system_error(errno, "create", path);
    }
    if (!give_to_owner_of_folder(fd.get(), path.parent_path())) {
        return system_error(errno, "set the owner of", path);
    }
    // The umask must not keep the worker's group out.
    if (::fchmod(fd.get(), 0660) != 0) {
        return system_error(errno, "set the mode of", path);
    }
    return write_slices(fd.get(), path, body);
}

}  // namespace

bool is_bulk_name(std::string_view name) noexcept {
    return name.size() == 37 && name.ends_with(".bulk") &&
           name.find_first_not_of("0123456789abcdef") == 32;
}

Result<BulkFile> BulkFile::write(const StorePaths& paths, std::string_view body,
                                 const Digest256& sha256) {
    BulkFile file;
    file.name_ = random_name();
    file.path_ = (paths.bulk / file.name_).string();
    file.bytes_ = body.size();
    file.sha256_ = sha256;
    if (Status ok = write_synced(file.path_, body); !ok) {
        return ok.error();
    }
    if (Status ok = sync_folder(paths.bulk); !ok) {
        return ok.error();
    }
    return file;
}

BulkFile::BulkFile(BulkFile&& other) noexcept
    : path_(std::exchange(other.path_, {})),
      name_(std::move(other.name_)),
      bytes_(other.bytes_),
      sha256_(other.sha256_) {}

BulkFile& BulkFile::operator=(BulkFile&& other) noexcept {
    std::swap(path_, other.path_);
    std::swap(name_, other.name_);
    std::swap(bytes_, other.bytes_);
    std::swap(sha256_, other.sha256_);
    return *this;
}

BulkFile::~BulkFile() {
    if (!path_.empty()) {
        ::unlink(path_.c_str());
    }
}

BulkRef BulkFile::ref() const noexcept {
    return {name_, bytes_, sha256_};
}

Result<std::string> read_bulk(const StorePaths& paths, const BulkRef& ref) {
    if (!is_bulk_name(ref.file_name)) {
        return Error{ErrorCode::kCorrupt, "the record names no bulk file"};
    }
    const fs::path path = paths.bulk / ref.file_name;
    Result<std::string> body = read_file(path, ref.bytes);
    if (!body.ok()) {
        return body.error().code == ErrorCode::kInvalid
                   ? Error{ErrorCode::kCorrupt, "\"" + path.string() + "\" is too long"}
                   : body.error();
    }
    if (body->size() != ref.bytes || sha256(*body) != ref.sha256) {
        return Error{ErrorCode::kCorrupt,
                     "\"" + path.string() + "\" is not the body that was stored"};
    }
    return body;
}

void remove_bulk(const StorePaths& paths, std::string_view file_name) {
    if (is_bulk_name(file_name)) {
        ::unlink((paths.bulk / file_name).c_str());
    }
}

}  // namespace sluice::store
