// The queue on LMDB. Internal to this room: the rest of the program sees queue.hpp.
#pragma once

#include <atomic>

#include "lmdb_store/environment/environment.hpp"
#include "lmdb_store/environment/headroom.hpp"
#include "lmdb_store/lanes/lane_set.hpp"
#include "lmdb_store/lanes/mover.hpp"
#include "lmdb_store/queue/admission.hpp"
#include "lmdb_store/queue/idempotency.hpp"
#include "lmdb_store/queue/queue.hpp"
#include "lmdb_store/store/control_file.hpp"

namespace sluice::store {

class LmdbQueue final : public Queue {
public:
    LmdbQueue(const StorePaths& paths, const QueueOptions& options, ControlFile control,
              std::string store_uuid);

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
    [[nodiscard]] Result<QueueFill> fill_with_lanes() override;
    [[nodiscard]] const std::string& uuid() const noexcept override { return uuid_; }
    [[nodiscard]] ControlPage& control() noexcept override { return page_; }
    int clear_stale_readers() noexcept override { return env_->clear_stale_readers(); }
    [[nodiscard]] bool still_in_place() noexcept override;
    [[nodiscard]] bool is_outdated() const noexcept override { return outdated_.load(); }

    [[nodiscard]] Result<std::unique_ptr<LaneWriter>> take_lane() override;
    [[nodiscard]] bool takes_lanes() const noexcept override;
    [[nodiscard]] LanesLeft lanes_left() noexcept override {
        return {page_.words().lanes_left.load(std::memory_order_relaxed),
                page_.words().lanes_batch_bytes.load(std::memory_order_relaxed)};
    }
    [[nodiscard]] Status move_lanes() override;
    [[nodiscard]] Status empty_lanes() override;
    [[nodiscard]] Status recover_lanes() override;
    [[nodiscard]] Result<std::vector<LaneRecord>> read_lanes(std::size_t bytes_max) override;
    [[nodiscard]] Result<std::vector<std::string>> drop_missing_lanes() override;
    void latch(Latch latch, std::string_view text) noexcept override;
    [[nodiscard]] std::optional<Latch> latched() const noexcept override;
    [[nodiscard]] std::string latch_text() const override { return page_.latch_text(); }
    [[nodiscard]] bool has_lanes() const noexcept override { return lanes_ != nullptr; }
    [[nodiscard]] Status unlatch() override;

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
    [[nodiscard]] int fill_transaction(Batch& batch, std::optional<LaneMover>& mover) noexcept;
    [[nodiscard]] int read_next_seq(Batch& batch) noexcept;
    [[nodiscard]] int finish_transaction(Batch& batch) noexcept;
    [[nodiscard]] int store_item(Batch& batch, AppendItem& item) noexcept;
    [[nodiscard]] int decide_claim(Batch& batch, AppendItem& item, IdempotencyKey& key) noexcept;
    [[nodiscard]] int put_record(Batch& batch, std::string_view front,
                                 std::string_view back) noexcept;
    [[nodiscard]] int clean_up(Batch& batch) noexcept;
    [[nodiscard]] int delete_applied(const Txn& txn, SequenceNumber upto, std::uint64_t rows_max,
                                     std::uint64_t& deleted) noexcept;

    [[nodiscard]] Status look_at_fill(const Txn& txn, QueueFill& fill);

    // lanes
    struct Taken;  ///< A lane that this process has locked.
    [[nodiscard]] Status open_lanes();
    [[nodiscard]] Result<std::vector<LaneRow>> lane_rows();
    [[nodiscard]] Result<LanesFill> fill_of(const std::vector<LaneRow>& rows);
    [[nodiscard]] LaneMover mover_for(Batch& batch, bool recovers, std::uint64_t cut_ns_max);
    void tell_moved(const Moved& moved) noexcept;
    /// All that lanes hold, in front of what a batch stores. 0, or LMDB's code.
    [[nodiscard]] int move_first(Batch& batch, std::optional<LaneMover>& mover) noexcept;
    /// So that little is left for that transaction, and nothing that nobody owns. False: they
    /// cannot be moved.
    [[nodiscard]] bool clear_lanes() noexcept;
    [[nodiscard]] Result<std::uint64_t> lanes_backlog();
    [[nodiscard]] Result<bool> move_once(bool recovers, std::uint64_t cut_ns_max, Taken* taken);
    /// What lanes hold now. What is written meanwhile stays, so that it ends, however much that is.
    [[nodiscard]] Status move_all(bool recovers, Taken* taken);
    [[nodiscard]] Status lane_failure(const Error& error, int rc) noexcept;
    [[nodiscard]] Status make_lane(Taken& taken);
    [[nodiscard]] Status begin_lap(Taken& taken);
    [[nodiscard]] std::uint64_t lane_bytes() const noexcept;
    void stored(std::uint64_t cost, Timestamp now) noexcept;
    void latch_commit(int rc) noexcept;

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
    std::atomic<bool> outdated_{false};  ///< Its format was upgraded since it was opened.
    std::uint32_t format_ = 0;
    std::string store_uuid_;
    std::unique_ptr<LaneSet> lanes_;      ///< nullptr: the format has none.
    Fd mover_lock_;                       ///< One process moves at a time.
    std::atomic<bool> recovered_{false};  ///< Lanes that nobody owns were moved once.
    std::uint64_t latch_boot_ = 0;
    /// Why this process may not write any more; kPending: it may. Stays until a restart.
    std::atomic<AppendOutcome> latched_{AppendOutcome::kPending};
};

}  // namespace sluice::store
