// LmdbQueue: the queue on LMDB. Internal to lmdb_store; the rest of the program sees queue.hpp.
//
// lmdb_queue.cpp opens, reads, trims and latches; append.cpp appends; lane_moves.cpp moves
// and recovers lanes; lane_claims.cpp claims one; lane_reads.cpp reads lanes without moving them.
#pragma once

#include <atomic>

#include "lmdb_store/environment/environment.hpp"
#include "lmdb_store/environment/preallocation.hpp"
#include "lmdb_store/lanes/lane_recovery.hpp"
#include "lmdb_store/lanes/lane_set.hpp"
#include "lmdb_store/lanes/mover.hpp"
#include "lmdb_store/queue/admission.hpp"
#include "lmdb_store/queue/queue.hpp"
#include "lmdb_store/queue/tables.hpp"
#include "lmdb_store/store/control_page.hpp"

namespace sluice::store {

class LmdbQueue final : public Queue {
public:
    LmdbQueue(const StorePaths& paths, const QueueOptions& options, ControlFile control,
              std::string uuid);

    /// Throws StoreFailure.
    void open_environment(std::uint64_t map_bytes);

    void append(std::span<AppendItem> batch, Timestamp now) noexcept override;
    void find_replay(AppendItem& item, Timestamp now) noexcept override;
    [[nodiscard]] std::optional<AppendOutcome> closed_reason() const noexcept override;
    [[nodiscard]] bool is_half_full() const noexcept override { return admission_.is_half_full(); }
    [[nodiscard]] Result<std::vector<QueuedRecord>> read(SequenceNumber from,
                                                         std::size_t records_max,
                                                         std::size_t bytes_max) override;
    [[nodiscard]] Status begin_drain(SequenceNumber applied) override;
    [[nodiscard]] Result<std::uint64_t> trim(SequenceNumber upto, std::size_t rows_max) override;
    [[nodiscard]] Result<SequenceNumber> last_seq() override;
    [[nodiscard]] Result<std::optional<SequenceRange>> first_gap(SequenceNumber after) override;
    [[nodiscard]] Status fill_gap(SequenceNumber after, const SequenceRange& gap,
                                  std::string_view record) override;
    [[nodiscard]] Result<QueueFill> fill() override;
    [[nodiscard]] Result<QueueFill> fill_with_lanes() override;
    [[nodiscard]] const std::string& uuid() const noexcept override { return uuid_; }
    [[nodiscard]] ControlPage& control() noexcept override { return page_; }
    int clear_stale_readers() noexcept override { return env_->clear_stale_readers(); }
    [[nodiscard]] bool still_in_place() noexcept override;

    [[nodiscard]] Result<std::unique_ptr<LaneWriter>> take_lane() override;
    [[nodiscard]] bool takes_lanes() const noexcept override;
    [[nodiscard]] LanesLeft lanes_left() noexcept override {
        return {page_.words().lanes_left.load(std::memory_order_relaxed),
                page_.words().lanes_batch_bytes.load(std::memory_order_relaxed)};
    }
    [[nodiscard]] Status move_lanes() override;
    [[nodiscard]] Status empty_lanes() override;
    [[nodiscard]] Status recover_lanes() override;
    [[nodiscard]] Status recover_lanes_in_turn() override;
    [[nodiscard]] Result<std::vector<LaneRecord>> read_lanes(std::size_t bytes_max) override;
    [[nodiscard]] Result<std::vector<std::string>> drop_missing_lanes() override;
    void latch(Latch latch, std::string_view text) noexcept override;
    [[nodiscard]] std::optional<Latch> latched() const noexcept override;
    [[nodiscard]] std::string latch_text() const override { return page_.latch_text(); }
    [[nodiscard]] Status unlatch() override;

private:
    /// Bytes that one move transaction moves. A longer one would delay the batches that wait for
    /// the same disk.
    static constexpr std::uint64_t kMoveBytes = 512U << 10;

    /// A write transaction that stores records.
    struct AppendTxn {
        static constexpr std::uint64_t kUnknown = ~std::uint64_t{0};

        std::span<AppendItem> items = {};
        std::int64_t now_second = 0;
        std::uint64_t cut_ns = 0;  ///< Records of lanes that are stamped later may come later.
        WriteTxn txn = {};
        Cursor records = {};                 ///< Closed before the transaction ends.
        std::uint64_t first_seq = kUnknown;  ///< First number of this transaction.
        std::uint64_t next_seq = kUnknown;
        std::uint64_t rows = 0;         ///< Idempotency rows, those of this batch included.
        std::uint64_t rows_stored = 0;  ///< Idempotency rows of this batch.
        std::uint64_t moved_cost = 0;   ///< Cost of the records that came from lanes.
        Moved moved = {};
        std::optional<LaneSources> sources = {};  ///< Outlives the mover.
        std::optional<LaneMover> mover = {};
    };

    // These two throw StoreFailure.
    void read_identity();
    [[nodiscard]] QueueFill measure_fill(const Txn& snapshot);
    [[nodiscard]] std::uint64_t idempotency_rows_max() const noexcept;
    [[nodiscard]] bool expired(const IdempotencyRow& row, std::int64_t now_second) const noexcept;
    [[nodiscard]] std::uint64_t cost_of(const AppendItem& item) const noexcept;
    [[nodiscard]] std::uint64_t cost_of_stored(std::span<const AppendItem> part) const noexcept;
    [[nodiscard]] int find_gap(const Txn& txn, SequenceNumber after,
                               std::optional<SequenceRange>& gap) const noexcept;

    // append(), step by step
    [[nodiscard]] bool check_in_place() noexcept;
    void answer_known_claims(std::span<AppendItem> batch, Timestamp now) noexcept;
    void answer_claim(const Txn& snapshot, AppendItem& item, std::int64_t now_second) noexcept;
    void reject_oversized_items(std::span<AppendItem> batch, std::uint64_t room) noexcept;
    void store_in_parts(std::span<AppendItem> batch, Timestamp now, std::uint64_t cut_ns) noexcept;
    [[nodiscard]] int store_part(AppendTxn& batch, Timestamp now, AppendOutcome& why) noexcept;
    [[nodiscard]] AppendOutcome failed(int rc, bool committing) noexcept;
    [[nodiscard]] AppendOutcome environment_failed(int failure, bool committing) noexcept;
    [[nodiscard]] bool free_last_pages() noexcept;
    void stored(std::uint64_t cost, Timestamp now) noexcept;
    void latch_commit(Latch latch, int rc) noexcept;

    // under the writer lock; these return 0 or LMDB's code
    [[nodiscard]] int fill_transaction(AppendTxn& batch) noexcept;
    [[nodiscard]] int read_next_seq(AppendTxn& batch) noexcept;
    [[nodiscard]] int finish_transaction(AppendTxn& batch) noexcept;
    [[nodiscard]] int store_item(AppendTxn& batch, AppendItem& item) noexcept;
    [[nodiscard]] int decide_claim(AppendTxn& batch, AppendItem& item,
                                   IdempotencyKey& key) noexcept;
    [[nodiscard]] int put_record(AppendTxn& batch, std::string_view front,
                                 std::string_view back) noexcept;
    [[nodiscard]] int delete_old_rows(AppendTxn& batch) noexcept;
    [[nodiscard]] int trim_once(SequenceNumber upto, std::size_t rows_max, std::uint64_t& deleted);
    [[nodiscard]] bool adopt_map_size();
    [[nodiscard]] int delete_applied(const Txn& txn, SequenceNumber upto, std::uint64_t rows_max,
                                     std::uint64_t& deleted) noexcept;
    [[nodiscard]] IdempotencyTable idempotency(const Txn& txn) noexcept {
        return {txn.get(), idempotency_, idempotency_by_age_};
    }

    // lanes
    void open_lanes();  ///< Throws StoreFailure.
    [[nodiscard]] Result<std::vector<LaneRow>> lane_rows();
    /// Throws StoreFailure.
    [[nodiscard]] LanesFill fill_of(const std::vector<LaneRow>& rows);
    [[nodiscard]] LaneMover mover_for(AppendTxn& batch, LaneSources& sources, std::uint64_t cut_ns);
    void publish_lane_backlog(const Moved& moved) noexcept;
    /// Moves the records that were stamped up to the batch's cut before those of the batch. Returns
    /// 0 or LMDB's code.
    [[nodiscard]] int move_lanes_first(AppendTxn& batch) noexcept;
    /// Leaves little to move_lanes_first(). Returns false if the lanes cannot be moved.
    [[nodiscard]] bool prepare_lanes(std::uint64_t cut_ns) noexcept;
    [[nodiscard]] Result<std::uint64_t> lanes_backlog();
    [[nodiscard]] Result<bool> move_once(LaneSources& sources, std::uint64_t cut_ns,
                                         std::uint64_t bytes_max);
    /// Moves the records that are stamped up to `cut_ns`. Ends however many arrive meanwhile.
    [[nodiscard]] Status move_all(std::uint64_t cut_ns);
    [[nodiscard]] Status settle();
    [[nodiscard]] Status settle_once();
    /// @param rc  LMDB's code, if LMDB failed.
    const Error& lane_failure(const Error& error, int rc = 0) noexcept;
    [[nodiscard]] Result<bool> has_room_for_lane();
    [[nodiscard]] Result<std::optional<ClaimedLane>> claim_empty_lane(std::uint64_t bytes_min);
    [[nodiscard]] Status move_earlier_boots();
    [[nodiscard]] Result<std::optional<ClaimedLane>> claim_lane();
    [[nodiscard]] Result<std::optional<ClaimedLane>> create_lane();
    [[nodiscard]] Status begin_lap(ClaimedLane& claimed);
    [[nodiscard]] std::uint64_t lane_bytes() const noexcept;
    [[nodiscard]] std::uint64_t lanes_room() const noexcept;

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
    std::optional<Preallocation> preallocation_;  ///< Empty if commits are not synced.
    ReadTxn claims_txn_;  ///< append(): reset after each use, and kept for its reader slot.
    std::int64_t checked_at_ms_ = 0;
    std::atomic<bool> in_place_{true};
    std::unique_ptr<LaneSet> lanes_;
    std::optional<LaneRecovery> recovery_;
    std::atomic<bool> settled_{false};  ///< Lanes without an owner were settled once.
    std::uint64_t latch_boot_ = 0;
    /// Why this process may not write until it opens the queue again; kPending means that it may.
    std::atomic<AppendOutcome> process_latch_{AppendOutcome::kPending};
};

}  // namespace sluice::store
