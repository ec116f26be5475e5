// Housekeeping: what the drain does beside applying. None of it is needed for correctness.
//
// Publishes the position (which lets nginx trim) and the figures, trims when nobody appends,
// unlinks bodies that were applied, frees the slots of dead readers. Not thread-safe.
#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <vector>

#include "core/ledger/ledger.hpp"
#include "core/values/ids.hpp"
#include "core/values/result.hpp"
#include "lmdb_store/queue/bulk_sweep.hpp"
#include "lmdb_store/queue/queue.hpp"
#include "lmdb_store/store/format.hpp"
#include "os/clock/clock.hpp"
#include "worker/drain/archiver.hpp"
#include "worker/drain/input_batch.hpp"

namespace sluice::worker {

class Housekeeping {
public:
    Housekeeping(const store::StorePaths& paths, store::Queue& queue);

    void starting(std::uint64_t version);
    void state(store::WorkerState state, const Error* waiting_for);
    void heartbeat();

    /// Everything up to `durable` is in the ledger and in the archive: appenders may trim it, and
    /// its bulk files go.
    void publish(SequenceNumber durable);
    /// Bulk files that a killed worker left: of inputs in the queue up to `applied`, which the
    /// ledger holds. Call it once, before anything is published.
    void find_applied_bulk(SequenceNumber applied);
    /// Bulk files of inputs that were just applied; unlinked when their position is published.
    void applied_bulk(const std::vector<OwnedInput>& inputs, std::size_t first, std::size_t count);
    /// @param work_pieces  Attribution to be tried again (work_left()).
    void figures(const LedgerHead& head, std::uint64_t work_pieces);
    void batch_figures(std::uint64_t inputs, std::chrono::microseconds took);

    /// Trims one slice if nobody appended for a while. @return true if there may be more to trim.
    /// Deletes up to a slice of what was applied. True: there is more.
    [[nodiscard]] Result<bool> trim_slice();
    [[nodiscard]] Result<bool> trim_when_idle();
    /// Trims one slice if the queue is above its mark. Looks at most once a second.
    [[nodiscard]] Status trim_when_crowded();
    /// The queue is half way to its high-water mark: appending will soon need room.
    [[nodiscard]] bool is_crowded() const;
    /// Removes bulk files that no record names, if that is due or under way: a slice at least, and
    /// more until then. A short queue takes one call.
    void sweep_orphans(Clock::time_point until);
    /// What is due every so often: stale readers, orphans, open dead letters, sizes.
    /// @param archiver  Nothing: off, or not open now.
    void periodic(Ledger& ledger, const std::string& node, const Archiver* archiver);

    /// Moves lanes whose owner is gone, once a second. Nothing: it is not time yet.
    [[nodiscard]] std::optional<Status> recover_lanes();
    /// Moves what is in lanes, all of it. True: there was something.
    [[nodiscard]] Result<bool> move_lanes();

    /// False once a second's look finds other files below the store's path.
    [[nodiscard]] bool store_in_place(Ledger& ledger);

private:
    /// True once every `period`.
    class Every {
    public:
        explicit Every(Clock::duration period) : period_(period) {}
        bool due();

    private:
        Clock::duration period_;
        Clock::time_point next_{};
    };
    struct BulkFile {
        SequenceNumber seq;
        std::string name;
    };
    void count_dead(Ledger& ledger, const std::string& node);

    store::StorePaths paths_;
    store::Queue& queue_;
    store::ControlWords& words_;
    SequenceNumber published_;
    SequenceNumber trimmed_;
    std::deque<BulkFile> bulk_;
    std::uint64_t dead_counted_ = 0;
    Every look_at_mark_{std::chrono::seconds(1)};
    Every look_at_files_{std::chrono::seconds(1)};
    Every look_at_lanes_{std::chrono::seconds(1)};
    Every clear_readers_{std::chrono::seconds(10)};
    Every sweep_orphans_{std::chrono::minutes(10)};
    store::BulkSweep sweep_;
};

}  // namespace sluice::worker
