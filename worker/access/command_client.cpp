#include "worker/access/command_client.hpp"

#include <chrono>
#include <memory>
#include <optional>
#include <thread>
#include <utility>

#include "core/protocol/record.hpp"
#include "lmdb_store/queue/bulk_file.hpp"
#include "lmdb_store/queue/lock_holders.hpp"
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

Error not_appended(const store::StorePaths& paths, store::AppendOutcome outcome) {
    const std::string holders = outcome == store::AppendOutcome::kUnavailable
                                    ? store::describe_lock_holders(paths, true)
                                    : std::string();
    if (!holders.empty()) {
        return {ErrorCode::kBusy, "the command was not stored, because " + holders};
    }
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
            return {ErrorCode::kIo,
                    "the queue cannot take the command now and it was not stored: `sluice doctor` "
                    "says why"};
    }
}

RecordMeta meta_of(const Request& request, const CommandSender& sender, Timestamp now) {
    return {.topic = topic_of(request.command),
            .account_number = sender.account_number,
            .shop_number = sender.shop_number,
            .account_id = sender.account_id,
            .shop_id = sender.shop_id,
            .received_at = now,
            .actor = sender.actor};
}

/// Seals a command for the number that it gets.
class SealedEnvelope final : public store::NumberedEnvelope {
public:
    SealedEnvelope(const CommandKeys& keys, RecordMeta meta, std::string_view body,
                   const std::string& queue_uuid)
        : keys_(keys), meta_(meta), body_(body), sha256_(sha256(body)), uuid_(queue_uuid) {}

    std::string_view prefix(SequenceNumber seq) override {
        meta_.seal = keys_.seal(meta_, sha256_, uuid_, seq);
        envelope_.encode(meta_, meta_.bulk ? std::string_view() : body_);
        return envelope_.prefix();
    }
    /// Returns the last seal.
    [[nodiscard]] const Digest256& mac() const { return meta_.seal->mac; }

private:
    const CommandKeys& keys_;
    RecordMeta meta_;
    std::string_view body_;
    Digest256 sha256_;
    const std::string& uuid_;
    RecordEnvelope envelope_;
};

/// A command that is in the queue.
struct Appended {
    SequenceNumber seq;
    Digest256 mac{};  ///< Its seal, which names it whatever its number says.
};

Result<Appended> append(const store::StorePaths& paths, store::Queue& queue, const Request& request,
                        const CommandSender& sender) {
    if (Status readable = check_request(request); !readable) {
        return readable.error();
    }
    const std::string body = encode_request(request);
    const Timestamp now = sluice::now();
    RecordMeta meta = meta_of(request, sender, now);
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
    SealedEnvelope sealed(held->keys(), meta, body, queue.uuid());
    const std::string about(sealed.prefix({kSequenceMax}));  // as long as the one that is stored
    store::AppendItem item{.prefix = about,
                           .body = bulk ? std::string_view() : std::string_view(body),
                           .numbered = &sealed,
                           .received_at = now};
    queue.append({&item, 1}, now);
    if (bulk && (item.outcome == store::AppendOutcome::kStored ||
                 item.outcome == store::AppendOutcome::kInDoubt)) {
        bulk->keep();
    }
    if (item.outcome != store::AppendOutcome::kStored) {
        return not_appended(paths, item.outcome);
    }
    return Appended{item.seq, sealed.mac()};
}

/// Returns whether the record has this seal.
bool has_seal(std::string_view record, const Digest256& mac) {
    const Result<RecordView> view = decode_record(record);
    return view && view->meta.seal && view->meta.seal->mac == mac;
}

/// Returns the command's outcome, if it was applied. Work that a later input caused does not count,
/// because the worker finishes the work of an input before it applies the next. The number alone
/// proves nothing, because nginx can set the queue's numbers back (controls K14).
std::optional<CommandResult> find_result(Ledger& ledger, const std::string& node,
                                         const Appended& command) {
    const SequenceNumber seq = command.seq;
    const auto snapshot = ledger.snapshot(node);
    if (snapshot->head().applied_seq < seq) {
        return std::nullopt;
    }
    const WorkLeft work = work_left(*snapshot);
    const std::uint64_t left = work.cause <= seq ? work.pieces : 0;
    UsedSeal used{command.mac, {}};
    const bool is_its = snapshot->load(used) && used.seq == seq;
    if (const auto row = is_its ? snapshot->command(seq) : std::nullopt) {
        const std::string& id = row->first_command.empty() ? row->command_id : row->first_command;
        return CommandResult{
            seq, row->outcome != CommandOutcome::kRefused, row->outcome, id, row->result, left};
    }
    const auto letter = snapshot->dead_letter(seq);
    return CommandResult{seq,
                         false,
                         CommandOutcome::kRefused,
                         {},
                         letter && has_seal(letter->record, command.mac)
                             ? "it went to the dead letters: " + letter->reason
                             : "it was not applied: the ledger has applied another input under its "
                               "number " +
                                   std::to_string(seq.value) +
                                   ", so the queue was set back or changed by another program. Run "
                                   "`sluice doctor` before you repeat the command",
                         left};
}

/// Waits for a running worker, or applies the queue if none runs.
class Waiter {
public:
    Waiter(const store::StorePaths& paths, store::Queue& queue, const Appended& command,
           const CommandOptions& options, const std::atomic<bool>& stop)
        : paths_(paths), queue_(queue), command_(command), options_(options), stop_(stop) {}

    Result<CommandResult> wait() {
        while (!stop_) {
            Result<WorkerLock> lock = WorkerLock::take(paths_);
            if (lock) {
                return drain();
            }
            if (lock.error().code != ErrorCode::kBusy) {
                return unfinished(lock.error().message);
            }
            if (Status read = read_result(); !read && !retries_after(read.error())) {
                return unfinished(read.error().message);
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
            return {ErrorCode::kBusy, "the command is number " +
                                          std::to_string(command_.seq.value) +
                                          " in the queue and will be finished later: " + why};
        }
        return {ErrorCode::kBusy, applied_->text + "; " + work_text(applied_->work_left) +
                                      ", which the worker finishes later: " + why};
    }

private:
    [[nodiscard]] bool is_finished() const {
        return applied_ && (applied_->work_left == 0 || options_.leaves_work);
    }
    Status read_result() {
        try {
            if (!reading_) {
                auto opened = options_.open_for_reading();
                if (!opened) {
                    return opened.error();
                }
                reading_ = std::move(*opened);
            }
            auto found = find_result(*reading_, queue_.uuid(), command_);
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
    bool retries_after(const Error& error) {
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
            if (options_.progress && drain->applied_seq() >= command_.seq) {
                options_.progress(drain->work().pieces);
            }
        };
        auto opened = Drain::open(paths_, queue_, options_.open_for_writing, chosen, events);
        if (!opened) {
            return unfinished(opened.error().message);
        }
        drain = opened->get();
        const Status drained = (*opened)->run_up_to(command_.seq, options_.leaves_work, stop_);
        if (!drained) {
            return unfinished(drained.error().message);
        }
        applied_ = find_result((*opened)->ledger(), queue_.uuid(), command_);
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
    Appended command_;
    const CommandOptions& options_;
    const std::atomic<bool>& stop_;
    std::unique_ptr<Ledger> reading_;
    std::optional<CommandResult> applied_;  ///< As found last; its work may be unfinished.
    Clock::time_point failing_since_{};
    Clock::time_point unreadable_since_{};
    Clock::time_point confirmed_ = steady_now();
};

/// Waits until the command is applied.
Result<CommandResult> finish(const store::StorePaths& paths, store::Queue& queue,
                             const Appended& command, const CommandOptions& options,
                             const std::atomic<bool>& stop) {
    Waiter waiter(paths, queue, command, options, stop);
    try {
        return waiter.wait();
    } catch (const LedgerFailure& failure) {
        return waiter.unfinished(failure.error().message);
    }
}

}  // namespace

Result<CommandResult> run_command(const store::StorePaths& paths, store::Queue& queue,
                                  const Request& request, const CommandSender& sender,
                                  const CommandOptions& options, const std::atomic<bool>& stop) {
    const auto appended = append(paths, queue, request, sender);
    return appended ? finish(paths, queue, *appended, options, stop)
                    : Result<CommandResult>(appended.error());
}

Result<CommandResult> accept_gap(const store::StorePaths& paths, store::Queue& queue,
                                 SequenceNumber applied, const Request& request,
                                 const CommandSender& sender, const CommandOptions& options,
                                 const std::atomic<bool>& stop) {
    const auto& gap = std::get<AcceptGap>(request.command);
    const std::string body = encode_request(request);
    const auto held = store::HeldCommandKeys::load(paths.command_key);
    if (!held) {
        return held.error();
    }
    SealedEnvelope sealed(held->keys(), meta_of(request, sender, sluice::now()), body,
                          queue.uuid());
    const std::string record = std::string(sealed.prefix(gap.first)) + body;
    if (Status filled = queue.fill_gap(applied, {gap.first, gap.last}, record); !filled) {
        return filled.error();
    }
    return finish(paths, queue, {gap.first, sealed.mac()}, options, stop);
}

}  // namespace sluice::worker
