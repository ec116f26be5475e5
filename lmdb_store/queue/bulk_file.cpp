#include "lmdb_store/queue/bulk_file.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

#include "os/random/random_bytes.hpp"

namespace sluice::store {
namespace {

namespace fs = std::filesystem;

/// Gives the file to the owner of the store, because nginx may run as root, and the worker does
/// not.
bool give_to_owner_of_folder(int fd, const fs::path& folder) noexcept {
    if (::geteuid() != 0) {
        return true;
    }
    struct stat info {};
    return ::stat(folder.c_str(), &info) == 0 && ::fchown(fd, info.st_uid, info.st_gid) == 0;
}

/// Bytes between syncs. One sync of 20 MB would delay the queue's commits.
constexpr std::uint64_t kSliceBytes = 1U << 20;

}  // namespace

bool is_bulk_name(std::string_view name) noexcept {
    return name.size() == 37 && name.ends_with(".bulk") &&
           name.find_first_not_of("0123456789abcdef") == 32;
}

Result<BulkFile> BulkFile::write(const StorePaths& paths, std::string_view body,
                                 const Digest256& sha256) {
    Result<BulkFile> file = create(paths);
    if (!file) {
        return file;
    }
    if (Status ok = file->add(body); !ok) {
        return ok.error();
    }
    if (Status ok = file->seal(sha256); !ok) {
        return ok.error();
    }
    return file;
}

Result<BulkFile> BulkFile::create(const StorePaths& paths) {
    BulkFile file;
    file.name_ = random_hex(16) + ".bulk";
    file.folder_ = paths.bulk;
    fs::path path = paths.bulk / file.name_;
    file.fd_ = Fd(open_retrying(path.c_str(), O_RDWR | O_CREAT | O_EXCL, 0660));
    if (!file.fd_.ok()) {
        return system_error(errno, "create", path);
    }
    file.path_ = std::move(path);  // from here on the destructor removes it
    if (Status ok = file.prepare(); !ok) {
        return ok.error();
    }
    return file;
}

Status BulkFile::prepare() {
    if (::flock(fd_.get(), LOCK_SH | LOCK_NB) != 0) {
        return system_error(errno, "lock", path_);
    }
    if (!give_to_owner_of_folder(fd_.get(), folder_)) {
        return system_error(errno, "set the owner of", path_);
    }
    // The worker's group needs access whatever the umask is.
    return ::fchmod(fd_.get(), 0660) == 0 ? Status::success()
                                          : system_error(errno, "set the mode of", path_);
}

BulkFile& BulkFile::operator=(BulkFile&& other) noexcept {
    std::swap(fd_, other.fd_);
    std::swap(path_, other.path_);
    std::swap(folder_, other.folder_);
    std::swap(name_, other.name_);
    std::swap(bytes_, other.bytes_);
    std::swap(unsynced_, other.unsynced_);
    std::swap(sha256_, other.sha256_);
    return *this;
}

BulkFile::~BulkFile() {
    if (!path_.empty()) {
        ::unlink(path_.c_str());
    }
}

Status BulkFile::add(std::string_view piece) {
    while (!piece.empty()) {
        const std::string_view slice = piece.substr(0, kSliceBytes - unsynced_);
        piece.remove_prefix(slice.size());
        if (const int error = write_all(fd_.get(), slice); error != 0) {
            return system_error(error, "write", path_);
        }
        bytes_ += slice.size();
        unsynced_ += slice.size();
        if (unsynced_ == kSliceBytes) {
            if (Status ok = sync(); !ok) {
                return ok;
            }
        }
    }
    return Status::success();
}

Status BulkFile::sync() {
    if (::fdatasync(fd_.get()) != 0) {
        return system_error(errno, "sync", path_);
    }
    unsynced_ = 0;
    return Status::success();
}

Status BulkFile::seal(const Digest256& sha256) {
    if (unsynced_ > 0 || bytes_ == 0) {
        if (Status ok = sync(); !ok) {
            return ok;
        }
    }
    if (Status ok = sync_folder(folder_); !ok) {
        return ok;
    }
    sha256_ = sha256;
    return Status::success();
}

Status BulkFile::read_back(char* to) const {
    const std::int64_t got = read_at(fd_.get(), to, bytes_, 0);
    if (got < 0) {
        return system_error(static_cast<int>(-got), "read", path_);
    }
    return static_cast<std::uint64_t>(got) == bytes_
               ? Status::success()
               : Status(Error{ErrorCode::kIo,
                              "\"" + path_.string() + "\" is shorter than what was written to it"});
}

bool is_in_use(const fs::path& file) noexcept {
    const Result<Fd> fd = open_plain(file, O_RDONLY);
    return !fd || ::flock(fd->get(), LOCK_EX | LOCK_NB) != 0;
}

BulkRef BulkFile::ref() const noexcept {
    return {name_, bytes_, sha256_};
}

Result<std::string> read_bulk(const StorePaths& paths, const BulkRef& ref) {
    if (!is_bulk_name(ref.file_name)) {
        return corrupt("the record names no bulk file");
    }
    const fs::path path = paths.bulk / ref.file_name;
    Result<std::string> body = read_plain_file(path, ref.bytes);
    if (!body.ok()) {
        return body.error().code == ErrorCode::kInvalid
                   ? corrupt("\"" + path.string() + "\" is too long")
                   : body.error();
    }
    if (body->size() != ref.bytes || sha256(*body) != ref.sha256) {
        return corrupt("\"" + path.string() + "\" is not the body that was stored");
    }
    return body;
}

void remove_bulk(const StorePaths& paths, std::string_view file_name) {
    if (is_bulk_name(file_name)) {
        ::unlink((paths.bulk / file_name).c_str());
    }
}

}  // namespace sluice::store
