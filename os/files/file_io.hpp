// Files of the operating system: descriptors, whole files, folders, and what an errno means.
//
// Errors name the path and the operation. Nothing here creates folders.
#pragma once

#include <sys/types.h>

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

private:
    int fd_ = -1;
};

/// What an errno means for who decides whether to try again. The program's only such table.
[[nodiscard]] ErrorCode code_of_errno(int error) noexcept;
/// The error of a failed system call: `cannot <doing> "<path>": <what the system says>`.
[[nodiscard]] Error system_error(int error, std::string_view doing,
                                 const std::filesystem::path& path);

/// open(), continued after EINTR, with O_CLOEXEC. The descriptor, or -1 and errno.
[[nodiscard]] int open_retrying(const char* path, int flags, mode_t mode = 0) noexcept;
/// Writes all of `bytes`; EINTR and partial writes are continued. 0 or errno.
[[nodiscard]] int write_all(int fd, std::string_view bytes) noexcept;
/// The same at `offset`, wherever the descriptor stands.
[[nodiscard]] int write_at(int fd, std::string_view bytes, std::uint64_t offset) noexcept;
/// Reads `bytes_count` at `offset`, or less at the end of the file. The number read, or -errno.
[[nodiscard]] std::int64_t read_at(int fd, void* buffer, std::size_t bytes_count,
                                   std::uint64_t offset) noexcept;

/// The whole file. kInvalid if it is longer than `bytes_max`.
[[nodiscard]] Result<std::string> read_file(const std::filesystem::path& path,
                                            std::size_t bytes_max);

/// A file of /proc, whose length is not known before it is read. 4 KB at most.
[[nodiscard]] Result<std::string> read_proc(const std::filesystem::path& path);

/// Who a new file belongs to. -1 leaves what the system gave it.
struct FileOwner {
    uid_t user = static_cast<uid_t>(-1);
    gid_t group = static_cast<gid_t>(-1);
    mode_t mode = 0600;
};
/// Sets owner, then mode (chown clears the set-group-id bit).
[[nodiscard]] Status set_owner(const std::filesystem::path& path, const FileOwner& owner);
/// Replaces `path` atomically and durably: temporary file, fsync, rename, fsync of the folder. A
/// reader sees the old contents or the new ones, also after a crash. A process that dies leaves
/// `<path>.new.<process id>`.
[[nodiscard]] Status replace_file(const std::filesystem::path& path, std::string_view bytes,
                                  const FileOwner& owner = {});
/// What lies in `folder`, in no order. std::filesystem's iterator ends the process when memory runs
/// out; this throws std::bad_alloc.
[[nodiscard]] Result<std::vector<std::string>> names_in(const std::filesystem::path& folder);
/// Makes renames and removals in `folder` durable.
[[nodiscard]] Status sync_folder(const std::filesystem::path& folder);

}  // namespace sluice
