// Bulk files: bodies above 256 KB are stored outside the queue, so that no large value holds its
// writer lock for long.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <utility>

#include "core/protocol/record.hpp"
#include "core/values/result.hpp"
#include "lmdb_store/store/format.hpp"
#include "os/files/file_io.hpp"

namespace sluice::store {

inline constexpr std::size_t kInlineBodyBytesMax = 256u << 10;

/// A bulk file that is removed when destroyed, unless keep() was called. Locked while this object
/// lives, so that a sweep of orphans leaves it alone however slowly its body arrives; the system
/// ends the lock with the process. Threads: one at a time. Blocking: all functions but bytes() and
/// ref().
class BulkFile {
public:
    /// Calls create(), add() and seal().
    [[nodiscard]] static Result<BulkFile> write(const StorePaths& paths, std::string_view body,
                                                const Digest256& sha256);
    /// Creates an empty file. Errors, here and below: kNoSpace, kIo, kPermission.
    [[nodiscard]] static Result<BulkFile> create(const StorePaths& paths);
    BulkFile(BulkFile&& other) noexcept { *this = std::move(other); }
    BulkFile& operator=(BulkFile&&) noexcept;
    BulkFile(const BulkFile&) = delete;
    BulkFile& operator=(const BulkFile&) = delete;
    ~BulkFile();

    /// Appends. After an error the file is unusable.
    [[nodiscard]] Status add(std::string_view piece);
    /// Syncs file and folder, so that a record may name the file.
    /// @param sha256  Digest of the whole contents.
    [[nodiscard]] Status seal(const Digest256& sha256);
    /// Reads the whole contents.
    /// @param to  Has room for bytes().
    [[nodiscard]] Status read_back(char* to) const;
    [[nodiscard]] std::uint64_t bytes() const noexcept { return bytes_; }

    /// Keeps the file, because its record is durable.
    void keep() noexcept {
        path_.clear();
        fd_ = Fd();
    }
    /// Requires: sealed.
    [[nodiscard]] BulkRef ref() const noexcept;

private:
    BulkFile() = default;
    [[nodiscard]] Status prepare();
    [[nodiscard]] Status sync();

    Fd fd_;
    std::filesystem::path path_;  ///< Empty once it is kept.
    std::filesystem::path folder_;
    std::string name_;
    std::uint64_t bytes_ = 0;
    std::uint64_t unsynced_ = 0;
    Digest256 sha256_{};
};

/// Returns true if a running process writes the file or is about to store its record, or if that is
/// unknown.
[[nodiscard]] bool is_in_use(const std::filesystem::path& file) noexcept;
/// Returns true for a name that BulkFile makes. A record with another name is damaged, because the
/// name could leave the folder.
[[nodiscard]] bool is_bulk_name(std::string_view name) noexcept;
/// Reads a bulk body and checks length and digest. kNotFound, kCorrupt, kIo.
[[nodiscard]] Result<std::string> read_bulk(const StorePaths& paths, const BulkRef& ref);
void remove_bulk(const StorePaths& paths, std::string_view file_name);

}  // namespace sluice::store
