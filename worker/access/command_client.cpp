#include "worker/access/command_client.hpp"

#include <chrono>
#include <memory>
#include <optional>
#include <thread>
#include <utility>

#include "core/protocol/record.hpp"
#include "lmdb_store/queue/bulk_file.hpp"
#include "lmdb_store/store/command_key.hpp"
#include "os/clock/clock.hpp"
#include "worker/drain/housekeeping.hpp"
#include "worker/drain/retry.hpp"
#include "worker/drain/worker_lock.hpp"

namespace sluice::worker {
namespace {

constexpr std::chrono::milliseconds kPoll{10};
/// The command stops waiting for a worker that has retried for this long.
constexpr std::chrono::seconds kWorkerFailingMax{15};
/// Interval of checks whether the client still reads the primary. A former primary that was cut off
/// keeps answering, and never has the result.
constexpr std::chrono::seconds kConfirmEvery{5};
constexpr std::uint32_t kOwnRetrySeconds = 15;

Error not_appended(store::AppendOutcome outcome) {
    switch (outcome) {
        case store::AppendOutcome::kFull:
            return {ErrorCode::kFull, "the queue is full: the command was not stored, try later"};
        case store::AppendOutcome::kNoSpace:
            return {ErrorCode::kNoSpace, "the disk is full: the command was not stored"};
        case store::AppendOutcome::kTooLarge:
            return {ErrorCode::kInvalid, "the command is too large for the queue"};
        case store::AppendOutcome::kInDoubt:
            return {ErrorCode::kIo,
                    "an I/O error: whether the command was stored is not known, look at `sluice "
                    "queue peek` before running it again"};
        default:
            return {ErrorCode::kIo, "the queue cannot take the command now"};
    }
}

Result<SequenceNumber> append(const store::StorePaths& paths, store::Queue& queue,
                              const Request& request, const CommandSender& sender) {
    const std::string body = encode_request(request);
    const Timestamp now = sluice::now();
    RecordMeta meta;
    meta.topic = topic_of(request.command);
    meta.account_number = sender.account_number;
    meta.shop_number = sender.shop_number;
    meta.account_id = sender.account_id;
    meta.shop_id = sender.shop_id;
    meta.received_at = now;
    meta.actor = sender.actor;
    std::optional<store::BulkFile> bulk;
    if (body.size() > store::kInlineBodyBytesMax) {
        auto written = store::BulkFile::write(paths, body, sha256(body));
        if (!written) {
            return written.error();
        }
        bulk = std::move(*written);
        meta.bulk = bulk->ref();
    }
    const auto held = store::HeldCommandKeys::load(paths.command_key);
    if (!held) {
        return held.error();
    }
    meta.seal = held->keys().seal(meta, sha256(body), queue.uuid());
    store::AppendItem item;
    item.body = bulk ? std::string_view() : std::string_view(body);
    RecordEnvelope envelope;
    envelope.encode(meta, item.body);
    item.prefix = envelope.prefix();
    item.received_at = now;
    queue.append({&item, 1}, now);
    if (bulk && (item.outcome == store::AppendOutcome::kStored ||
                 item.outcome == store::AppendOutcome::kInDoubt)) {
        bulk->keep();
    }
    if (item.outcome != store::AppendOutcome::kStored) {
        return not_appended(item.outcome);
    }
    return item.seq;
}

/// Returns the command's outcome, if it was applied. Work that a later input caused does not count,
/// because the worker finishes the work of an input before it applies the next.
std::optional<CommandResult> find_result(Ledger& ledger, const std::string& node,
                                         SequenceNumber seq) {
    const auto snapshot = ledger.snapshot(node);
    if (snapshot->head().applied_seq < seq) {
        return std::nullopt;
    }
    const WorkLeft work = work_left(*snapshot);
    const std::uint64_t left = work.cause <= seq ? work.pieces : 0;
    if (const auto row = snapshot->command(seq)) {
        const std::string& id = row->first_command.empty() ? row->command_id : row->first_command;
        return CommandResult{
            seq, row->outcome != CommandOutcome::kRefused, row->outcome, id, row->result, left};
    }
    const auto letter = snapshot->dead_letter(seq);
    return CommandResult{seq,
                         false,
                         CommandOutcome::kRefused,
                         {},
                         letter ? "it went to the dead letters: " + letter->reason
                                : "it was applied, but its result is not in the ledger",
                         left};
}

/// Waits for a running worker, or applies the queue if none runs.
class Waiter {
public:
    Waiter(const store::StorePaths& paths, store::Queue& queue, SequenceNumber seq,
           const CommandOptions& options, const std::atomic<bool>& stop)
        : paths_(paths), queue_(queue), seq_(seq), options_(options), stop_(stop) {}

    Result<CommandResult> wait() {
        while (!stop_) {
            Result<WorkerLock> lock = WorkerLock::take(paths_);
            if (lock) {
                return drain();
            }
            if (lock.error().code != ErrorCode::kBusy) {
                return unfinished(lock.error().message);
            }
            if (Status looked = look(); !looked && !looks_again_after(looked.error())) {
                return unfinished(looked.error().message);
            }
            if (is_finished()) {
                return std::move(*applied_);
            }
            if (worker_is_failing()) {
                return unfinished("the worker cannot apply now, see its log");
            }
            std::this_thread::sleep_for(kPoll);
        }
        return unfinished("the waiting was interrupted");
    }

    [[nodiscard]] Error unfinished(const std::string& why) const {
        if (!applied_) {
            return {ErrorCode::kBusy, "the command is number " + std::to_string(seq_.value) +
                                          " in the queue and will be finished later: " + why};
        }
        return {ErrorCode::kBusy, applied_->text + "; " + work_text(applied_->work_left) +
                                      ", which the worker finishes later: " + why};
    }

private:
    [[nodiscard]] bool is_finished() const {
        return applied_ && (applied_->work_left == 0 || options_.leaves_work);
    }
    Status look() {
        try {
            if (!reading_) {
                auto opened = options_.open_for_reading();
                if (!opened) {
                    return opened.error();
                }
                reading_ = std::move(*opened);
            }
            auto found = find_result(*reading_, queue_.uuid(), seq_);
            if ((found && !applied_) || steady_now() - confirmed_ >= kConfirmEvery) {
                reading_->confirm();
                confirmed_ = steady_now();
            }
            applied_ = std::move(found);
        } catch (const LedgerFailure& failure) {
            return failure.error();
        }
        unreadable_since_ = Clock::time_point{};
        if (applied_ && options_.progress) {
            options_.progress(applied_->work_left);
        }
        return Status::success();
    }
    /// Retries, because the command is in the queue and a failover of the primary passes.
    bool looks_again_after(const Error& error) {
        reading_.reset();
        if (unreadable_since_ == Clock::time_point{}) {
            unreadable_since_ = steady_now();
        }
        return may_pass(error.code) && steady_now() - unreadable_since_ < kWorkerFailingMax;
    }

    Result<CommandResult> drain() {
        reading_.reset();  // a process opens an environment once
        DrainOptions chosen = options_.drain;
        chosen.retry_seconds_max = kOwnRetrySeconds;
        const Drain* drain = nullptr;  // the events are called by its loop only
        DrainEvents events;
        events.heartbeat = [&] {
            if (options_.progress && drain->applied_seq() >= seq_) {
                options_.progress(drain->work().pieces);
            }
        };
        auto opened = Drain::open(paths_, queue_, options_.open_for_writing, chosen, events);
        if (!opened) {
            return unfinished(opened.error().message);
        }
        drain = opened->get();
        const Status drained = (*opened)->run_up_to(seq_, options_.leaves_work, stop_);
        if (!drained) {
            return unfinished(drained.error().message);
        }
        applied_ = find_result((*opened)->ledger(), queue_.uuid(), seq_);
        if (!is_finished()) {
            return unfinished("the waiting was interrupted");
        }
        return std::move(*applied_);
    }

    bool worker_is_failing() {
        const auto state = queue_.control().words().worker_state.load();
        if (state != static_cast<std::uint64_t>(store::WorkerState::kRetrying)) {
            failing_since_ = Clock::time_point{};
            return false;
        }
        if (failing_since_ == Clock::time_point{}) {
            failing_since_ = steady_now();
        }
        return steady_now() - failing_since_ > kWorkerFailingMax;
    }

    const store::StorePaths& paths_;
    store::Queue& queue_;
    SequenceNumber seq_;
    const CommandOptions& options_;
    const std::atomic<bool>& stop_;
    std::unique_ptr<Ledger> reading_;
    std::optional<CommandResult> applied_;  ///< As found last; its work may be unfinished.
    Clock::time_point failing_since_{};
    Clock::time_point unreadable_since_{};
    Clock::time_point confirmed_ = steady_now();
};

}  // namespace

Result<CommandResult> run_command(const store::StorePaths& paths, store::Queue& queue,
                                  const Request& request, const CommandSender& sender,
                                  const CommandOptions& options, const std::atomic<bool>& stop) {
    const auto seq = append(paths, queue, request, sender);
    if (!seq) {
        return seq.error();
    }
    Waiter waiter(paths, queue, *seq, options, stop);
    try {
        return waiter.wait();
    } catch (const LedgerFailure& failure) {
        return waiter.unfinished(failure.error().message);
    }
}

}  // namespace sluice::worker
