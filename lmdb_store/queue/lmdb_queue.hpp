// The queue on LMDB. Internal to this room: the rest of the program sees queue.hpp.
#pragma once

#include <atomic>

#include "lmdb_store/environment/environment.hpp"
#include "lmdb_store/environment/headroom.hpp"
#include "lmdb_store/queue/admission.hpp"
#include "lmdb_store/queue/idempotency.hpp"
#include "lmdb_store/queue/queue.hpp"
#include "lmdb_store/store/control_file.hpp"

namespace sluice::store {

class LmdbQueue final : public Queue {
public:
    LmdbQueue(const StorePaths& paths, const QueueOptions& options, ControlFile control);

    [[nodiscard]] Status open_environment(std::uint64_t map_bytes);

    void append(std::span<AppendItem> batch, Timestamp now) noexcept override;
    void find_replay(AppendItem& item, Timestamp now) noexcept override;
    [[nodiscard]] std::optional<AppendOutcome> closed_reason() const noexcept override;
    [[nodiscard]] Result<std::vector<QueuedRecord>> read(SequenceNumber from,
                                                         std::size_t records_max,
                                                         std::size_t bytes_max) override;
    [[nodiscard]] Status begin_drain(SequenceNumber applied) override;
    [[nodiscard]] Result<std::uint64_t> trim(SequenceNumber upto, std::size_t rows_max) override;
    [[nodiscard]] Result<QueueFill> fill() override;
    [[nodiscard]] const std::string& uuid() const noexcept override { return uuid_; }
    [[nodiscard]] ControlPage& control() noexcept override { return page_; }
    int clear_stale_readers() noexcept override { return env_->clear_stale_readers(); }
    [[nodiscard]] bool still_in_place() noexcept override;

private:
    struct Batch;  ///< What append() knows of the transaction that it is in.

    [[nodiscard]] Status read_identity();
    [[nodiscard]] std::uint64_t idempotency_rows_max() const noexcept;
    [[nodiscard]] bool expired(const IdempotencyRow& row, std::int64_t now_second) const noexcept;
    [[nodiscard]] std::uint64_t cost_of(const AppendItem& item) const noexcept;
    /// Of what was stored of `part`.
    [[nodiscard]] std::uint64_t cost_of(std::span<const AppendItem> part) const noexcept;

    // append(), step by step
    [[nodiscard]] bool look_in_place() noexcept;
    void answer_known_claims(std::span<AppendItem> batch, Timestamp now) noexcept;
    void answer_claim(const Txn& snapshot, AppendItem& item, std::int64_t now_second) noexcept;
    void refuse_what_does_not_fit(std::span<AppendItem> batch, std::uint64_t room) noexcept;
    void store_in_parts(std::span<AppendItem> batch, Timestamp now) noexcept;
    [[nodiscard]] int store_part(std::span<AppendItem> part, Timestamp now,
                                 AppendOutcome& why) noexcept;
    [[nodiscard]] AppendOutcome failed(int rc, bool committing) noexcept;

    // under the writer lock
    [[nodiscard]] int fill_transaction(Batch& batch) noexcept;
    [[nodiscard]] int store_item(Batch& batch, AppendItem& item) noexcept;
    [[nodiscard]] int decide_claim(Batch& batch, AppendItem& item, IdempotencyKey& key) noexcept;
    [[nodiscard]] int put_record(Batch& batch, const AppendItem& item) noexcept;
    [[nodiscard]] int clean_up(Batch& batch) noexcept;
    [[nodiscard]] int delete_applied(const Txn& txn, SequenceNumber upto, std::uint64_t rows_max,
                                     std::uint64_t& deleted) noexcept;

    [[nodiscard]] IdempotencyTable idempotency(const Txn& txn) noexcept {
        return {txn.get(), idempotency_, idempotency_by_age_};
    }

    StorePaths paths_;
    QueueOptions options_;
    ControlFile control_file_;
    ControlPage page_;
    std::string uuid_;
    std::shared_ptr<Environment> env_;
    MDB_dbi records_ = 0;
    MDB_dbi idempotency_ = 0;
    MDB_dbi idempotency_by_age_ = 0;
    Admission admission_;
    std::optional<Headroom> headroom_;  ///< None if commits are not synced.
    ReadTxn claims_txn_;  ///< append(): kept for its reader's slot, reset after each use.
    std::int64_t looked_at_ms_ = 0;
    std::atomic<bool> in_place_{true};
    /// Why this process may not write any more; kPending: it may. Stays until a restart.
    std::atomic<AppendOutcome> latched_{AppendOutcome::kPending};
};

}  // namespace sluice::store
