// Housekeeping: the drain's work that correctness does not depend on.
//
// Publishes the checkpoint (which lets nginx trim) and the figures, trims when no process appends
// or the queue is above its high-water mark, unlinks the bodies of applied inputs, frees the slots
// of dead readers. Not thread-safe.
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
#include "worker/drain/archive_follower.hpp"
#include "worker/drain/input_batch.hpp"
#include "worker/drain/token_days.hpp"

namespace sluice::worker {

class Housekeeping {
public:
    Housekeeping(const store::StorePaths& paths, store::Queue& queue);

    void starting(std::uint64_t version);
    void state(store::WorkerState state, const Error* waiting_for);
    void heartbeat();

    /// Publishes that everything up to `durable` is in the ledger and in the archive, so that
    /// appenders may trim it; unlinks its bulk files.
    void publish(SequenceNumber durable);
    /// Finds the bulk files of inputs in the queue up to `applied`, which a killed worker left.
    /// Call it once, before anything is published.
    void find_applied_bulk(SequenceNumber applied);
    /// Notes the bulk files of inputs that were just applied. publish() unlinks them.
    void applied_bulk(const std::vector<OwnedInput>& inputs, std::size_t first, std::size_t count);
    /// Notes the tokens that signed or bore inputs that were just applied.
    void applied_tokens(const std::vector<OwnedInput>& inputs, std::size_t first,
                        std::size_t count);
    /// Writes the day on which each token was used last.
    [[nodiscard]] Status save_token_days() { return token_days_.save(); }
    /// Publishes the worker's figures.
    /// @param work_pieces  Attribution to be tried again (work_left()).
    void figures(const LedgerHead& head, std::uint64_t work_pieces);
    /// Publishes the figures of one batch.
    void batch_figures(std::uint64_t inputs, std::chrono::microseconds took);

    /// Deletes up to a slice of applied inputs. @return true if there is more to trim.
    [[nodiscard]] Result<bool> trim_slice();
    /// Trims a slice if no process has appended for a while. @return true if there may be more.
    [[nodiscard]] Result<bool> trim_when_idle();
    /// Trims a slice if the queue is above its high-water mark. Checks at most once a second.
    [[nodiscard]] Status trim_when_crowded();
    /// Returns true if the queue is half way to its high-water mark.
    [[nodiscard]] bool is_crowded() const;
    /// Removes bulk files that no record names, if that is due or under way: at least a slice, and
    /// more until `until`. A short queue takes one call.
    void sweep_orphans(Clock::time_point until);
    /// Performs the periodic checks: stale readers, orphans, open dead letters, sizes.
    void periodic(Ledger& ledger, const std::string& node, const ArchiveFollower& archive);

    /// Moves lanes whose owner is gone, once a second. Returns nothing if that is not due.
    [[nodiscard]] std::optional<Status> recover_lanes();
    /// Moves everything in lanes to the queue.
    /// @param applied  The last input that was applied.
    /// @return true if the queue then has inputs that the caller may not have read.
    [[nodiscard]] Result<bool> move_lanes(SequenceNumber applied);

    /// Checks once a second; returns false if the store's path leads to other files.
    [[nodiscard]] bool store_in_place(Ledger& ledger);

private:
    /// Publishes the queue's last number, from which readers tell how many inputs wait.
    void note_queue();

    /// Returns true once every `period`.
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
    SequenceNumber moved_by_nginx_;  ///< Last number of the queue that move_lanes() found.
    SequenceNumber noted_;           ///< Last number of the queue at ControlWords::queue_noted_ms.
    std::deque<BulkFile> bulk_;
    std::uint64_t dead_counted_ = 0;
    TokenDays token_days_;
    Every queue_check_{std::chrono::milliseconds(200)};
    Every mark_check_{std::chrono::seconds(1)};
    Every files_check_{std::chrono::seconds(1)};
    Every lanes_check_{std::chrono::seconds(1)};
    Every clear_readers_{std::chrono::seconds(10)};
    Every sweep_orphans_{std::chrono::minutes(10)};
    store::BulkSweep sweep_;
};

}  // namespace sluice::worker
