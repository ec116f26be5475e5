#include "lmdb_store/environment/folder_check.hpp"

#include <fcntl.h>
#include <grp.h>
#include <linux/magic.h>
#include <pwd.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstring>
#include <string>
#include <vector>

#include "core/values/name_table.hpp"
#include "lmdb_store/environment/lmdb_format.hpp"
#include "os/files/file_io.hpp"

namespace sluice::store {
namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t kSmallestData = 2 * 4096;  ///< LMDB's two meta pages.

Error damaged(const fs::path& path, const char* what) {
    return {ErrorCode::kCorrupt, "\"" + path.string() + "\" " + what +
                                     ": the store is damaged; nothing was changed. Stop everything "
                                     "that uses it and restore it from a backup"};
}

std::string name_of_user(uid_t user) {
    const passwd* found = ::getpwuid(user);
    return found != nullptr ? found->pw_name : std::to_string(user);
}

std::string name_of_group(gid_t group) {
    const struct group* found = ::getgrgid(group);
    return found != nullptr ? found->gr_name : std::to_string(group);
}

std::string owner_text(const struct stat& info) {
    return " (it belongs to user " + name_of_user(info.st_uid) + ", group " +
           name_of_group(info.st_gid) + "; this process runs as " + name_of_user(::geteuid()) + ")";
}

Status check_file(const fs::path& path, bool writable, std::uint64_t bytes_min) {
    struct stat info {};
    if (::lstat(path.c_str(), &info) != 0) {
        return errno == ENOENT ? damaged(path, "is missing") : system_error(errno, "inspect", path);
    }
    if (Status plain = check_plain(path); !plain) {
        return plain;
    }
    if (static_cast<std::uint64_t>(info.st_size) < bytes_min) {
        return damaged(path, info.st_size == 0 ? "is empty" : "is cut off");
    }
    const int mode = writable ? R_OK | W_OK : R_OK;
    if (::faccessat(AT_FDCWD, path.c_str(), mode, AT_EACCESS) != 0) {
        const int reason = errno;
        Error error = system_error(reason, writable ? "write" : "read", path);
        if (reason == EACCES || reason == EPERM) {
            error.message += owner_text(info);
        }
        return error;
    }
    return Status::success();
}

/// Network file systems, by the number that statfs() has for them. FUSE is that of sshfs, GlusterFS
/// and s3fs, and may be one.
constexpr NameTable<std::uint64_t, 13> kNetworks{{{NFS_SUPER_MAGIC, "NFS"},
                                                  {0xFF534D42, "SMB"},  // CIFS
                                                  {0xFE534D42, "SMB"},  // SMB2
                                                  {SMB_SUPER_MAGIC, "SMB"},
                                                  {V9FS_MAGIC, "9P"},
                                                  {AFS_SUPER_MAGIC, "AFS"},
                                                  {AFS_FS_MAGIC, "AFS"},
                                                  {CODA_SUPER_MAGIC, "Coda"},
                                                  {0x00C36400, "Ceph"},
                                                  {0x0BD00BD0, "Lustre"},
                                                  {0x01161970, "GFS2"},
                                                  {0x7461636F, "OCFS2"},
                                                  {0x65735546, "FUSE"}}};

// -- The list of free pages -----------------------------------------------------------------------

constexpr std::uint16_t kBranchPage = 0x01;
constexpr std::uint16_t kLeafPage = 0x02;
constexpr std::uint16_t kBigDataNode = 0x01;
constexpr std::uint64_t kPageBytesMin = 512;
constexpr std::uint64_t kPageBytesMax = 64U << 10;
constexpr std::uint64_t kNoPage = ~std::uint64_t{0};

/// Walks the tree of free pages with pread, which never touches addresses outside the file.
class FreeListWalk {
public:
    FreeListWalk(int fd, std::uint64_t pages_in_file, std::uint64_t last_page)
        : fd_(fd), first_missing_(pages_in_file), free_(last_page + 1 - pages_in_file, false) {}

    int run(std::uint64_t txn_id) {
        LmdbMeta meta{};
        if (!load_meta(txn_id, meta)) {
            return failed_;
        }
        std::vector<std::uint64_t> pages;
        if (meta.trees[0].root != kNoPage) {
            pages.push_back(meta.trees[0].root);
        }
        for (std::uint64_t seen = 0; !pages.empty() && failed_ == 0 && sound_; ++seen) {
            sound_ = seen < first_missing_;  // a damaged tree may contain a cycle
            const std::uint64_t page = pages.back();
            pages.pop_back();
            walk_page(page, pages);
        }
        if (failed_ != 0 || !sound_) {
            return failed_;
        }
        return std::ranges::find(free_, false) == free_.end() ? 1 : 0;
    }

private:
    bool read(std::uint64_t offset, void* to, std::size_t bytes_count) {
        const std::int64_t got = read_at(fd_, to, bytes_count, offset);
        failed_ = got < 0 ? static_cast<int>(got) : failed_;
        sound_ = sound_ && got == static_cast<std::int64_t>(bytes_count);
        return sound_;
    }

    bool load_meta(std::uint64_t txn_id, LmdbMeta& meta) {
        if (!read(sizeof(LmdbPageHead), &meta, sizeof(meta)) || meta.magic != kLmdbMagic ||
            meta.version != kLmdbDataVersion) {
            return false;
        }
        page_bytes_ = meta.trees[0].pad;
        if (page_bytes_ < kPageBytesMin || page_bytes_ > kPageBytesMax) {
            return false;
        }
        if (meta.txn_id != txn_id &&
            !read(page_bytes_ + sizeof(LmdbPageHead), &meta, sizeof(meta))) {
            return false;
        }
        return meta.txn_id == txn_id;
    }

    void walk_page(std::uint64_t number, std::vector<std::uint64_t>& pages) {
        page_.resize(page_bytes_);
        if (!read(number * page_bytes_, page_.data(), page_bytes_)) {
            return;
        }
        LmdbPageHead head{};
        std::memcpy(&head, page_.data(), sizeof(head));
        sound_ = head.number == number && head.lower >= sizeof(head) && head.lower <= page_bytes_ &&
                 (head.flags & (kBranchPage | kLeafPage)) != 0;
        if (!sound_) {
            return;
        }
        const std::size_t nodes_count = (head.lower - sizeof(head)) / sizeof(std::uint16_t);
        for (std::size_t i = 0; i < nodes_count && sound_; ++i) {
            walk_node(i, (head.flags & kBranchPage) != 0, pages);
        }
    }

    void walk_node(std::size_t index, bool is_branch, std::vector<std::uint64_t>& pages) {
        std::uint16_t offset = 0;
        std::memcpy(&offset, page_.data() + sizeof(LmdbPageHead) + index * sizeof(offset),
                    sizeof(offset));
        LmdbNodeHead node{};
        if (offset + sizeof(node) > page_bytes_) {
            sound_ = false;
            return;
        }
        std::memcpy(&node, page_.data() + offset, sizeof(node));
        const std::uint64_t word = node.low | (std::uint64_t{node.high} << 16);
        if (is_branch) {
            pages.push_back(word | (std::uint64_t{node.flags} << 32));
            return;
        }
        const std::size_t data_offset = offset + sizeof(node) + node.key_bytes;
        const std::size_t data_bytes =
            (node.flags & kBigDataNode) != 0 ? sizeof(std::uint64_t) : word;
        if (data_offset + data_bytes > page_bytes_ || word > first_missing_ * page_bytes_) {
            sound_ = false;
            return;
        }
        std::vector<std::uint64_t> list((word + 7) / 8);
        if ((node.flags & kBigDataNode) == 0) {
            std::memcpy(list.data(), page_.data() + data_offset, word);
        } else if (!read_overflow(data_offset, word, list)) {
            return;
        }
        mark(list);
    }

    bool read_overflow(std::size_t data_offset, std::uint64_t bytes_count,
                       std::vector<std::uint64_t>& list) {
        std::uint64_t first_page = 0;
        std::memcpy(&first_page, page_.data() + data_offset, sizeof(first_page));
        return read(first_page * page_bytes_ + sizeof(LmdbPageHead), list.data(), bytes_count);
    }

    /// Marks the pages of a list, whose first number is its length.
    void mark(const std::vector<std::uint64_t>& list) {
        for (std::size_t i = 1; i < list.size() && i <= list[0]; ++i) {
            if (list[i] >= first_missing_ && list[i] - first_missing_ < free_.size()) {
                free_[list[i] - first_missing_] = true;
            }
        }
    }

    int fd_;
    std::uint64_t first_missing_;
    std::vector<bool> free_;
    std::uint64_t page_bytes_ = 0;
    std::vector<char> page_;
    int failed_ = 0;
    bool sound_ = true;
};

Status check_folder_itself(const fs::path& folder) {
    struct stat info {};
    if (::stat(folder.c_str(), &info) != 0) {
        const int error = errno;
        if (error == ENOENT || error == ENOTDIR) {
            return not_found(
                "\"" + folder.string() +
                "\" does not exist: is this the right store? If it is, restore it from a backup");
        }
        return system_error(error, "inspect", folder);
    }
    return check_file_system(folder);
}

}  // namespace

Status check_folder(const fs::path& folder, bool read_only) {
    Status ok = check_folder_itself(folder);
    ok = ok ? check_file(folder / "data.mdb", !read_only, kSmallestData) : ok;
    // Readers write their slot into the lock file; without permission LMDB would use no locks.
    return ok ? check_file(folder / "lock.mdb", true, 1) : ok;
}

Status check_copy(const fs::path& file) {
    Status ok = check_folder_itself(file.parent_path());
    return ok ? check_file(file, false, kSmallestData) : ok;
}

Status check_file_system(const fs::path& folder) {
    struct statfs info {};
    if (::statfs(folder.c_str(), &info) != 0) {
        return system_error(errno, "inspect the file system of", folder);
    }
    const std::uint64_t type = static_cast<std::uint32_t>(info.f_type);
    if (const std::string_view name = name_in(kNetworks, type, {}); !name.empty()) {
        return unsupported("\"" + folder.string() + "\" is on " + std::string(name) +
                           ": a store needs a local disk, because memory maps and locks are not "
                           "shared over a network");
    }
    return Status::success();
}

int missing_pages_are_free(int fd, std::uint64_t txn_id, std::uint64_t pages_in_file,
                           std::uint64_t last_page) {
    constexpr std::uint64_t kTailPagesMax = 1U << 24;
    if (pages_in_file > last_page || last_page - pages_in_file > kTailPagesMax) {
        return pages_in_file > last_page ? 1 : 0;
    }
    return FreeListWalk(fd, pages_in_file, last_page).run(txn_id);
}

}  // namespace sluice::store
