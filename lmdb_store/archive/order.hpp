// Batch order of an archive: a file next to the segments that says when, among the batches of all
// nodes, this queue's inputs were applied (controls K9; docs/record-format.md has the bytes).
//
// It has the queue's rows of the table `batches`. The last row is open: it covers every input after
// its first. So the file of a store with a ledger of its own is written once, and again only while
// the queue's inputs leave work. Functions that return no Result throw StoreFailure.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/ledger/batch.hpp"
#include "core/values/result.hpp"
#include "os/files/file_io.hpp"

namespace sluice::store {

/// Returns the file of a queue.
[[nodiscard]] std::filesystem::path order_path(const std::filesystem::path& folder,
                                               std::string_view queue_uuid);
/// Returns the UUIDs of the queues that have a batch order in a folder, sorted.
[[nodiscard]] std::vector<std::string> list_orders(const std::filesystem::path& folder);
/// Returns the bytes of a queue's file up to its last row that concerns inputs up to `last`.
[[nodiscard]] Result<std::uint64_t> order_bytes_up_to(const std::filesystem::path& folder,
                                                      std::string_view queue_uuid,
                                                      SequenceNumber last);
/// Returns the number, from 1, of the first row of a queue's file that is damaged or incomplete, or
/// nothing. A worker that starts writes such a row and all later rows again.
[[nodiscard]] std::optional<std::uint64_t> damaged_row(const std::filesystem::path& folder,
                                                       std::string_view queue_uuid);
/// Returns a sentence for each batch order of a folder that has a damaged or incomplete row.
[[nodiscard]] Result<std::vector<std::string>> order_faults(const std::filesystem::path& folder);
/// Returns the last row of a queue's file, or nothing.
[[nodiscard]] Result<std::optional<AppliedBatch>> last_in_order(const std::filesystem::path& folder,
                                                                std::string_view queue_uuid);

/// One thread at a time. Requires: the folder's archive writer is open here.
class OrderWriter {
public:
    /// Opens the queue's file, or makes it. Drops a row that a power failure has torn, and the rows
    /// after it. Reads up to 640 KB.
    [[nodiscard]] static Result<OrderWriter> open(const std::filesystem::path& folder,
                                                  const std::string& queue_uuid);
    /// Makes a file without rows next to the queue's file, which publish() replaces.
    [[nodiscard]] static Result<OrderWriter> begin_anew(const std::filesystem::path& folder,
                                                        const std::string& queue_uuid);
    /// Returns the last row, or nothing.
    [[nodiscard]] const std::optional<AppliedBatch>& last() const noexcept { return last_; }
    /// Takes a row of the ledger as it is now. Rows come by number; the last row may come again.
    /// Returns kConflict if the number runs back. Durable after flush().
    [[nodiscard]] Status put(const AppliedBatch& row);
    /// Returns true if flush() has something to write or to make durable.
    [[nodiscard]] bool is_dirty() const noexcept {
        return dirty_ || (last_ && last_->slices != written_slices_);
    }
    [[nodiscard]] Status flush();
    /// Replaces the queue's file, durably. Requires: begin_anew() made it. Ends its use.
    [[nodiscard]] Status publish();

private:
    OrderWriter(OpenFile file, std::string queue_uuid)
        : file_(std::move(file)), queue_uuid_(std::move(queue_uuid)) {}
    void write(std::uint64_t place, const AppliedBatch& row);

    OpenFile file_;
    std::string queue_uuid_;
    std::uint64_t rows_ = 0;
    std::uint64_t synced_rows_ = 0;  ///< The rows before are durable, but for the last of them.
    std::optional<AppliedBatch> last_;
    std::optional<std::uint64_t> written_slices_;  ///< Slices of the file's last row.
    bool dirty_ = false;                           ///< Something is written and not synced.
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
