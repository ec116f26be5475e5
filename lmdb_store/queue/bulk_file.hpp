// Bulk files: bodies above 256 KB lie beside the queue, so that no large value ever holds its
// writer lock.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "core/protocol/record.hpp"
#include "core/values/result.hpp"
#include "lmdb_store/store/format.hpp"

namespace sluice::store {

inline constexpr std::size_t kInlineBodyBytesMax = 256u << 10;

/// A written and synced bulk file. Removes it when destroyed, unless kept.
class BulkFile {
public:
    /// Blocks for the disk (file and directory are synced). kNoSpace, kIo, kPermission.
    [[nodiscard]] static Result<BulkFile> write(const StorePaths& paths, std::string_view body,
                                                const Digest256& sha256);
    BulkFile(BulkFile&&) noexcept;
    BulkFile& operator=(BulkFile&&) noexcept;
    BulkFile(const BulkFile&) = delete;
    BulkFile& operator=(const BulkFile&) = delete;
    ~BulkFile();

    /// Its record is durable: the file stays.
    void keep() noexcept { path_.clear(); }
    [[nodiscard]] BulkRef ref() const noexcept;

private:
    BulkFile() = default;
    std::string path_;
    std::string name_;
    std::uint64_t bytes_ = 0;
    Digest256 sha256_{};
};

/// As BulkFile names its files. Names come from records, too; one that leaves the folder is damage.
[[nodiscard]] bool is_bulk_name(std::string_view name) noexcept;
/// Reads a bulk body and checks length and digest. kNotFound, kCorrupt, kIo.
[[nodiscard]] Result<std::string> read_bulk(const StorePaths& paths, const BulkRef& ref);
void remove_bulk(const StorePaths& paths, std::string_view file_name);

}  // namespace sluice::store
