// The queue on LMDB. Internal to this room: the rest of the program sees queue.hpp.
#pragma once

#include <atomic>

#include "lmdb_store/control_file.hpp"
#include "lmdb_store/environment.hpp"
#include "lmdb_store/idempotency.hpp"
#include "lmdb_store/queue.hpp"
#include "lmdb_store/queue_admission.hpp"

namespace sluice::store {

class LmdbQueue final : public Queue {
public:
    LmdbQueue(const StorePaths& paths, const QueueOptions& options, ControlFile control);

    [[nodiscard]] Status open_environment(std::uint64_t map_bytes);

    void append(std::span<AppendItem> batch, Timestamp now) noexcept override;
    [[nodiscard]] std::optional<AppendOutcome> closed_reason() const noexcept override;
    [[nodiscard]] Result<std::vector<QueuedRecord>> read(SequenceNumber from,
                                                         std::size_t records_max,
                                                         std::size_t bytes_max) override;
    [[nodiscard]] Result<std::uint64_t> trim(SequenceNumber upto, std::size_t rows_max) override;
    [[nodiscard]] Result<QueueFill> fill() override;
    [[nodiscard]] const std::string& uuid() const noexcept override { return uuid_; }
    [[nodiscard]] ControlPage& control() noexcept override { return page_; }
    int clear_stale_readers() noexcept override { return env_->clear_stale_readers(); }
    [[nodiscard]] bool still_in_place() noexcept override { return env_->still_in_place(); }

private:
    struct Batch;  ///< What append() knows of the batch it is storing.

    [[nodiscard]] Status read_identity();
    [[nodiscard]] std::optional<AppendOutcome> why_closed() noexcept;
    void answer_replays(std::span<AppendItem> batch, Timestamp now,
                        AppendOutcome otherwise) noexcept;
    [[nodiscard]] bool refuse_what_does_not_fit(std::span<AppendItem> batch,
                                                std::uint64_t room) noexcept;
    [[nodiscard]] int store_batch(Batch& batch) noexcept;
    [[nodiscard]] int store_item(Batch& batch, AppendItem& item) noexcept;
    [[nodiscard]] int check_claim(Batch& batch, AppendItem& item, IdempotencyKey& key) noexcept;
    [[nodiscard]] int make_row_room(Batch& batch, AppendItem& item) noexcept;
    [[nodiscard]] int put_record(Batch& batch, const AppendItem& item) noexcept;
    [[nodiscard]] int delete_applied(MDB_txn* txn, SequenceNumber upto, std::size_t rows_max,
                                     std::uint64_t& deleted) noexcept;
    [[nodiscard]] AppendOutcome failure_of(int rc) noexcept;
    [[nodiscard]] std::uint64_t cost_of(const AppendItem& item) const noexcept;
    [[nodiscard]] bool disk_is_full() const noexcept;
    [[nodiscard]] IdempotencyTable idempotency(const Txn& txn) noexcept {
        return {txn.get(), idempotency_, idempotency_by_age_};
    }
    [[nodiscard]] std::uint64_t idempotency_rows_max() const noexcept;

    StorePaths paths_;
    QueueOptions options_;
    ControlFile control_file_;
    ControlPage page_;
    std::string uuid_;
    std::shared_ptr<Environment> env_;
    MDB_dbi records_ = 0;
    MDB_dbi idempotency_ = 0;
    MDB_dbi idempotency_by_age_ = 0;
    mutable Admission admission_;
    /// The last word of append() about the store; kPending: it can take records.
    mutable std::atomic<AppendOutcome> condition_{AppendOutcome::kPending};
    std::atomic<bool> latched_{false};  ///< After an I/O error, until a restart.
    std::int64_t looked_in_place_ms_ = 0;
};

}  // namespace sluice::store
