// Bulk files: bodies above 256 KB lie beside the queue, so that no large value ever holds its
// writer lock.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

#include "core/protocol/record.hpp"
#include "core/values/result.hpp"
#include "lmdb_store/store/format.hpp"
#include "os/files/file_io.hpp"

namespace sluice::store {

inline constexpr std::size_t kInlineBodyBytesMax = 256u << 10;

/// A bulk file. Removed when destroyed, unless kept. It is locked as long as this object lives, so
/// that a sweep of orphans leaves it alone however slowly its body comes: the system ends the lock
/// with the process. One thread at a time.
class BulkFile {
public:
    /// The whole of it: create(), add() and seal().
    [[nodiscard]] static Result<BulkFile> write(const StorePaths& paths, std::string_view body,
                                                const Digest256& sha256);
    /// A new, empty one. This and what follows blocks for the disk: kNoSpace, kIo, kPermission.
    [[nodiscard]] static Result<BulkFile> create(const StorePaths& paths);
    BulkFile(BulkFile&&) noexcept;
    BulkFile& operator=(BulkFile&&) noexcept;
    BulkFile(const BulkFile&) = delete;
    BulkFile& operator=(const BulkFile&) = delete;
    ~BulkFile();

    /// Appends. After an error the file is good for nothing.
    [[nodiscard]] Status add(std::string_view piece);
    /// Syncs what was added, and the folder: it may be named in a record now.
    /// @param sha256  Of all that was added.
    [[nodiscard]] Status seal(const Digest256& sha256);
    /// All that was added. @param to  Room for bytes().
    [[nodiscard]] Status read_back(char* to) const;
    [[nodiscard]] std::uint64_t bytes() const noexcept { return bytes_; }

    /// Its record is durable: the file stays.
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
    std::filesystem::path path_;
    std::filesystem::path folder_;
    std::string name_;
    std::uint64_t bytes_ = 0;
    std::uint64_t unsynced_ = 0;
    Digest256 sha256_{};
};

/// True: a living process writes it, or is about to store its record; or it cannot be told.
[[nodiscard]] bool is_in_use(const std::filesystem::path& file) noexcept;
/// As BulkFile names its files. Names come from records, too; one that leaves the folder is damage.
[[nodiscard]] bool is_bulk_name(std::string_view name) noexcept;
/// Reads a bulk body and checks length and digest. kNotFound, kCorrupt, kIo.
[[nodiscard]] Result<std::string> read_bulk(const StorePaths& paths, const BulkRef& ref);
void remove_bulk(const StorePaths& paths, std::string_view file_name);

}  // namespace sluice::store
