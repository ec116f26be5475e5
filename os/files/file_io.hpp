// Files of the operating system: descriptors, open files, whole files, folders, and the meaning of
// an errno.
//
// Errors name the operation and the path. No function creates folders.
// Blocking: every function may wait for the disk. Threads: any, unless a class says otherwise.
#pragma once

#include <sys/types.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/values/result.hpp"

namespace sluice {

/// A file descriptor that closes itself.
class Fd {
public:
    Fd() = default;
    explicit Fd(int fd) noexcept : fd_(fd) {}
    Fd(Fd&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
    Fd& operator=(Fd&& other) noexcept {
        std::swap(fd_, other.fd_);
        return *this;
    }
    Fd(const Fd&) = delete;
    Fd& operator=(const Fd&) = delete;
    ~Fd();

    [[nodiscard]] int get() const noexcept { return fd_; }
    [[nodiscard]] bool ok() const noexcept { return fd_ >= 0; }
    /// Returns the descriptor, which the caller closes from now on.
    [[nodiscard]] int release() noexcept { return std::exchange(fd_, -1); }

private:
    int fd_ = -1;
};

/// Maps an errno to the code that decides whether to retry. The program's only such table.
[[nodiscard]] ErrorCode code_of_errno(int error) noexcept;
/// Returns the error of a failed system call: `cannot <doing> "<path>": <text of the errno>`.
[[nodiscard]] Error system_error(int error, std::string_view doing,
                                 const std::filesystem::path& path);

/// Calls open() with O_CLOEXEC, again after EINTR. Returns the descriptor, or -1 and sets errno.
[[nodiscard]] int open_retrying(const char* path, int flags, mode_t mode = 0) noexcept;
/// Opens an existing file that other processes may have replaced, such as one of a store: follows
/// no link at `path` itself and never blocks. Returns an error with the remedy for everything that
/// is no regular file (kCorrupt) or has further names (hard links, kPermission).
/// @param flags  As for open(), without O_CREAT.
/// @param error  Unless it is nullptr, gets the errno of a failed open(), or 0.
[[nodiscard]] Result<Fd> open_plain(const std::filesystem::path& path, int flags,
                                    int* error = nullptr);
/// Checks a file that another library opens by its name, as open_plain() does, and that it belongs
/// to the owner of its folder. Requires a folder where only its owner may rename files.
[[nodiscard]] Status check_plain(const std::filesystem::path& path);
/// Writes all of `bytes`, again after EINTR and partial writes. Returns 0 or an errno.
[[nodiscard]] int write_all(int fd, std::string_view bytes) noexcept;
/// Writes all of `bytes` at `offset`, wherever the descriptor stands. Returns 0 or an errno.
[[nodiscard]] int write_at(int fd, std::string_view bytes, std::uint64_t offset) noexcept;
/// Reads `bytes_count` bytes at `offset`, fewer at the end of the file. Returns their number, or
/// -errno.
[[nodiscard]] std::int64_t read_at(int fd, void* buffer, std::size_t bytes_count,
                                   std::uint64_t offset) noexcept;

/// A file that stays open. Closes itself when destroyed, without a sync. One thread at a time
/// writes.
class OpenFile {
public:
    enum class Mode : std::uint8_t { kRead, kReadWrite };

    /// Opens an existing file by open_plain(). Use replace_file() to create one.
    [[nodiscard]] static Result<OpenFile> open(const std::filesystem::path& path, Mode mode);

    /// Returns `bytes` bytes from `offset` on, fewer only at the end of the file.
    [[nodiscard]] Result<std::string> read_at(std::uint64_t offset, std::size_t bytes) const;
    /// Writes all of `bytes` at `offset`. After an error the contents from `offset` on are
    /// undefined.
    [[nodiscard]] Status write_at(std::uint64_t offset, std::string_view bytes);
    [[nodiscard]] Status truncate(std::uint64_t bytes);
    /// Syncs contents and length, but not the times (fdatasync).
    [[nodiscard]] Status sync();
    [[nodiscard]] Result<std::uint64_t> size() const;
    [[nodiscard]] const std::filesystem::path& path() const noexcept { return path_; }

private:
    OpenFile(Fd fd, std::filesystem::path path) : fd_(std::move(fd)), path_(std::move(path)) {}

    Fd fd_;
    std::filesystem::path path_;
};

/// Returns the contents of a file. kInvalid if it is no regular file or longer than `bytes_max`.
[[nodiscard]] Result<std::string> read_file(const std::filesystem::path& path,
                                            std::size_t bytes_max);
/// As read_file(), but opens the file by open_plain().
[[nodiscard]] Result<std::string> read_plain_file(const std::filesystem::path& path,
                                                  std::size_t bytes_max);
/// Returns up to 4 KB of a file of /proc, whose length is unknown before it is read.
[[nodiscard]] Result<std::string> read_proc(const std::filesystem::path& path);

/// The name of a temporary file, which is removed unless keep() was called.
class TemporaryFile {
public:
    explicit TemporaryFile(std::string path) noexcept : path_(std::move(path)) {}
    TemporaryFile(const TemporaryFile&) = delete;
    TemporaryFile& operator=(const TemporaryFile&) = delete;
    ~TemporaryFile() {
        if (!path_.empty()) {
            ::unlink(path_.c_str());
        }
    }
    [[nodiscard]] const char* c_str() const noexcept { return path_.c_str(); }
    void keep() noexcept { path_.clear(); }

private:
    std::string path_;
};

/// Owner and mode of a new file. -1 keeps what the system chose.
struct FileOwner {
    uid_t user = static_cast<uid_t>(-1);
    gid_t group = static_cast<gid_t>(-1);
    mode_t mode = 0600;
};
/// Sets the owner, then the mode, because chown clears the set-group-id bit.
[[nodiscard]] Status set_owner(const std::filesystem::path& path, const FileOwner& owner);
/// Replaces `path` atomically and durably: temporary file, fsync, rename, fsync of the folder. A
/// reader sees the old or the new contents, even after a crash. A killed process leaves
/// `<path>.new.<process id>`.
[[nodiscard]] Status replace_file(const std::filesystem::path& path, std::string_view bytes,
                                  const FileOwner& owner = {});
/// Returns the names in `folder`, unsorted. Throws std::bad_alloc if memory runs out, where
/// std::filesystem's iterator would end the process.
[[nodiscard]] Result<std::vector<std::string>> names_in(const std::filesystem::path& folder);
/// Makes renames and removals in `folder` durable.
[[nodiscard]] Status sync_folder(const std::filesystem::path& folder);

}  // namespace sluice
