// Batch order of an archive: a file next to the segments that says when, among the batches of all
// nodes, this queue's inputs were applied (controls K9; docs/record-format.md has the bytes).
//
// It has the queue's rows of the table `batches`. The last row is open: it covers every input after
// its first. So the file of a store with a ledger of its own is written once.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

#include "core/ledger/batch.hpp"
#include "core/values/result.hpp"
#include "os/files/file_io.hpp"

namespace sluice::store {

/// Returns true for the name of such a file, without its folder.
[[nodiscard]] bool is_order_name(std::string_view name) noexcept;

/// One thread at a time. Requires: the folder's archive writer is open here.
class OrderWriter {
public:
    /// Opens the queue's file, or makes it. Drops a row that a crash has torn.
    [[nodiscard]] static Result<OrderWriter> open(const std::filesystem::path& folder,
                                                  const std::string& queue_uuid);
    /// Returns the last row, or nothing.
    [[nodiscard]] const std::optional<AppliedBatch>& last() const noexcept { return last_; }
    /// Takes a row of the ledger as it is now. Rows come by number; a row may come again. Durable
    /// after flush(). If numbers run back, the file begins again.
    [[nodiscard]] Status put(const AppliedBatch& row);
    [[nodiscard]] Status flush();

private:
    OrderWriter(OpenFile file, std::string queue_uuid)
        : file_(std::move(file)), queue_uuid_(std::move(queue_uuid)) {}
    [[nodiscard]] Status write(std::uint64_t place, const AppliedBatch& row);

    OpenFile file_;
    std::string queue_uuid_;
    std::uint64_t rows_ = 0;
    std::optional<AppliedBatch> last_;
    bool dirty_ = false;
};

/// Reads the rows of one queue in order, one at a time.
class OrderReader {
public:
    /// Without a file there are no rows.
    [[nodiscard]] static Result<OrderReader> open(const std::filesystem::path& folder,
                                                  std::string_view queue_uuid);
    /// Returns the next row, or nothing at the end. kCorrupt: a row before the last is damaged.
    [[nodiscard]] Result<std::optional<AppliedBatch>> next();

private:
    OrderReader(std::optional<OpenFile> file, std::string queue_uuid, std::uint64_t rows)
        : file_(std::move(file)), queue_uuid_(std::move(queue_uuid)), rows_(rows) {}

    std::optional<OpenFile> file_;
    std::string queue_uuid_;
    std::uint64_t rows_;
    std::uint64_t next_ = 0;
};

}  // namespace sluice::store
