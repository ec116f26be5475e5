#include "worker/drain/drain.hpp"

#include <algorithm>
#include <new>
#include <thread>
#include <utility>

#include "os/clock/clock.hpp"
#include "worker/drain/applying.hpp"
#include "worker/drain/archive_follower.hpp"
#include "worker/drain/forget_part.hpp"
#include "worker/drain/housekeeping.hpp"
#include "worker/drain/link_publisher.hpp"
#include "worker/drain/retry.hpp"
#include "worker/drain/store_seals.hpp"
#include "worker/drain/store_senders.hpp"

namespace sluice::worker {
namespace {

using std::chrono::milliseconds;

/// Longest delay after a lost wake-up.
constexpr std::uint32_t kPollMs = 50;
constexpr milliseconds kStopCheckEvery{50};  ///< Interval of checks for a stop during a pause.

/// Interval between the beginnings of two batches while many events arrive. Each batch costs two
/// syncs of the disk, for which appending processes wait as well, and a large batch writes fewer
/// pages.
constexpr milliseconds kBatchEvery{200};
constexpr milliseconds kComing{10};  ///< If no event arrives for this long, gather() ends.
constexpr std::size_t kManyInputs =
    8;  ///< A batch with at least this many inputs shows that many events arrive.

constexpr milliseconds kHeartbeat{250};
constexpr milliseconds kFinishTime{2000};  ///< Time limit of the cleaning when the loop ends.

/// The condition on which the loop ends by itself.
struct Goal {
    bool until_empty = false;
    SequenceNumber seq;        ///< 0 means none.
    bool leaves_work = false;  ///< Pending attribution is left to the next drain.

    /// Returns true if the loop runs until it is stopped.
    [[nodiscard]] bool is_none() const { return !until_empty && seq.value == 0; }
    [[nodiscard]] bool is_reached(bool worked, SequenceNumber applied, bool work_is_left) const {
        const bool there = (until_empty && !worked) || (seq.value != 0 && applied >= seq);
        return there && (!work_is_left || leaves_work);
    }
};

}  // namespace

/// The loop. Each pass applies a batch, archives it, publishes the checkpoint and performs the
/// periodic work.
class Drain::Loop {
public:
    Loop(const store::StorePaths& paths, store::Queue& queue, LedgerOpener opener,
         const DrainOptions& options, DrainEvents events)
        : paths_(paths),
          queue_(queue),
          events_(std::move(events)),
          keeper_(paths, queue),
          seals_(paths.command_key),
          senders_(paths),
          applying_(paths, queue, std::move(opener),
                    {options.batch, options.read_bytes_max, &seals_, &senders_, options.threads,
                     options.help_from},
                    [this](const ForgetNotSearched& wanted) {
                        return forgets_.search(wanted, applying_.ledger());
                    }),
          archive_(
              options.archive ? std::optional(ArchiverParts{
                                    paths, queue, *options.archive,
                                    [this] { return applying_.ledger().snapshot(queue_.uuid()); },
                                    [this] { alive(); }, [this] { return start_; }})
                              : std::nullopt,
              [this](const Error& error) { archive_failed(error); },
              [this](const Error& error) {
                  warn("old segments of the archive cannot be removed: " + error.message);
              }),
          forgets_(queue, archive_),
          links_(paths, queue.control().words()),
          retry_(options.retry_seconds_max) {
        keeper_.starting(options.version);
    }

    [[nodiscard]] Status open();
    [[nodiscard]] Status run(const std::atomic<bool>& stop, const Goal& goal);
    [[nodiscard]] Applying& applying() noexcept { return applying_; }

private:
    [[nodiscard]] Result<bool> step();
    [[nodiscard]] Status pause_after(const Error& error, const std::atomic<bool>& stop);
    void gather();
    void begin_archive();
    void follow_and_publish(bool flush_now);
    [[nodiscard]] Result<bool> turn(bool idle);
    [[nodiscard]] Result<bool> guarded_turn(bool idle);
    void finish_forgets();
    void finish_links();
    void check_links();
    void links_failed(const Error& error) const;
    [[nodiscard]] Status finish(bool trims);
    void archive_failed(const Error& error) const;
    void check_lanes();
    void warn(const std::string& text) const {
        if (events_.warning) {
            events_.warning(text);
        }
    }
    /// Sends signs of life while an archive is read, which may take long.
    void alive() {
        if (steady_now() - last_heartbeat_ >= kHeartbeat) {
            last_heartbeat_ = steady_now();
            keeper_.heartbeat();
            heartbeat();
        }
    }
    void heartbeat() const {
        if (events_.heartbeat) {
            events_.heartbeat();
        }
    }

    store::StorePaths paths_;
    store::Queue& queue_;
    DrainEvents events_;
    Housekeeping keeper_;
    StoreSeals seals_;
    StoreSenders senders_;
    LedgerHead start_;  ///< The ledger's head when the drain began.
    Applying applying_;
    ArchiveFollower archive_;
    ForgetParts forgets_;
    LinkPublisher links_;
    Retry retry_;
    bool runs_on_ = false;  ///< Until it is stopped.
    Clock::time_point last_heartbeat_{};
    std::string last_lanes_warning_;  ///< The last warning about lanes.
};

Status Drain::Loop::open() {
    Status opened = seals_.load();
    opened = opened ? applying_.open() : opened;
    if (!opened) {
        return opened;
    }
    start_ = applying_.head();
    const SequenceNumber applied = start_.applied_seq;
    const SequenceNumber published = queue_.control().applied();
    // Published inputs are archived; the ledger may be ahead of them.
    if (Status begun = queue_.begin_drain(std::min(applied, published)); !begun) {
        return begun;
    }
    const auto fill = queue_.fill();
    if (!fill) {
        return fill.error();
    }
    keeper_.figures(applying_.head(), applying_.work().pieces);
    if (Status fits = check_position(*fill, applied); !fits) {
        return fits;
    }
    if (published > applied) {
        warn("the ledger lacks inputs " + std::to_string(applied.value + 1) + " to " +
             std::to_string(published.value) +
             ", which it had acknowledged: a server took over without them, or a backup was "
             "restored. They are applied again, from the queue: look again at what commands among "
             "them had told");
    }
    keeper_.find_applied_bulk(applied);
    return Status::success();
}

/// Applies one batch. Returns true if there was anything to do.
Result<bool> Drain::Loop::step() {
    links_.release();
    const auto step = applying_.step();
    if (!step) {
        return step.error();
    }
    const BatchOutcome& done = step->outcome;
    if (step->worked) {
        if (const auto failed_for = retry_.succeeded(steady_now());
            failed_for && events_.recovered) {
            events_.recovered(*failed_for);
        }
        archive_.add(applying_.shared_inputs(), step->first, done.inputs_done, done.batch,
                     applying_.is_helped());
        try {
            keeper_.applied_bulk(applying_.inputs(), step->first, done.inputs_done);
        } catch (const std::bad_alloc&) {
            warn("not enough memory for the names of bulk files; the sweep removes them later");
        }
        keeper_.applied_tokens(applying_.inputs(), step->first, done.inputs_done);
        keeper_.figures(applying_.head(), applying_.work().pieces);
    }
    if (done.inputs_applied != 0) {
        keeper_.batch_figures(done.inputs_applied, step->took);
    }
    return step->worked;
}

/// Waits before the next attempt. Returns the error if it is permanent, or was retried for too
/// long.
Status Drain::Loop::pause_after(const Error& error, const std::atomic<bool>& stop) {
    const Clock::time_point now = steady_now();
    const Retry::Decision decision = retry_.failed(error.code, now);
    if (decision.next == Retry::Next::kGiveUp) {
        return error;
    }
    archive_.reread_order();
    if (error.code == ErrorCode::kIo) {
        links_.settle();
        applying_.close_ledger();  // LMDB may have given up on its environment
    }
    if (decision.is_failure) {
        keeper_.state(store::WorkerState::kRetrying, &error);
    }
    if (decision.is_logged && events_.retrying) {
        events_.retrying(error);
    }
    for (const Clock::time_point end = now + decision.pause; steady_now() < end && !stop;) {
        std::this_thread::sleep_for(std::min<Clock::duration>(kStopCheckEvery, end - steady_now()));
        keeper_.heartbeat();
        heartbeat();
    }
    return Status::success();
}

/// Waits for more inputs while many arrive, unless more are known to wait.
void Drain::Loop::gather() {
    bool coming = !applying_.has_backlog() && applying_.inputs().size() >= kManyInputs;
    while (coming && steady_now() < applying_.batch_began() + kBatchEvery) {
        const std::uint32_t before = queue_.control().words().wake.load();
        std::this_thread::sleep_for(kComing);
        coming = queue_.control().words().wake.load() != before && !keeper_.is_crowded();
    }
}

void Drain::Loop::archive_failed(const Error& error) const {
    warn("the archive cannot be written: " + error.message +
         " (orders are still applied; the queue keeps them until it can be written)");
}

/// Moves lanes whose owner is gone. Warns once about a problem or a latch.
void Drain::Loop::check_lanes() {
    const std::optional<Status> recovered = keeper_.recover_lanes();
    if (!recovered) {
        return;
    }
    std::string problem = recovered->ok() ? std::string() : recovered->error().message;
    if (const auto latch = queue_.latched()) {
        problem = "nginx accepts no request, because " + queue_.latch_text() + "; " +
                  store::latch_remedy(*latch);
    }
    if (!problem.empty() && problem != last_lanes_warning_) {
        warn(problem + " (the queue is still applied)");
    }
    last_lanes_warning_ = std::move(problem);
}

/// Publishes changed links, unless a command drains: it publishes when it ends.
void Drain::Loop::check_links() {
    if (!runs_on_) {
        return;
    }
    if (Status published = links_.turn(applying_.ledger(), queue_.uuid()); !published) {
        links_failed(published.error());
    }
}

void Drain::Loop::links_failed(const Error& error) const {
    warn("nginx keeps the links that it has, because the new ones cannot be written: " +
         error.message);
}

void Drain::Loop::follow_and_publish(bool flush_now) {
    if (const auto durable = archive_.turn(applying_.head().applied_seq, flush_now)) {
        keeper_.publish(*durable);
    }
}

/// Performs the periodic work after a step. @return true if there is more to trim, so that the loop
/// should not sleep.
Result<bool> Drain::Loop::turn(bool idle) {
    if (steady_now() - last_heartbeat_ >= kHeartbeat) {
        last_heartbeat_ = steady_now();
        keeper_.state(store::WorkerState::kRunning, nullptr);
        heartbeat();
    }
    if (!keeper_.store_in_place(applying_.ledger())) {
        return Error{ErrorCode::kConflict,
                     "the files below \"" + paths_.root.string() +
                         "\" are not the ones that were opened, or LMDB failed to write to them: "
                         "start the worker again on the store that is meant"};
    }
    check_lanes();
    follow_and_publish(false);
    keeper_.periodic(applying_.ledger(), queue_.uuid(), archive_);
    check_links();
    if (applying_.work().pieces == 0) {
        if (Status done = forgets_.turn(applying_.ledger(), applying_.head().applied_seq, idle);
            !done) {
            return done.error();
        }
    }
    if (idle) {
        return keeper_.trim_when_idle();
    }
    if (Status trimmed = keeper_.trim_when_crowded(); !trimmed) {
        return trimmed.error();
    }
    return true;
}

/// Warns about a temporary error of turn(), which the next iteration retries.
Result<bool> Drain::Loop::guarded_turn(bool idle) {
    try {
        Result<bool> more = turn(idle);
        if (more || !may_pass(more.error().code)) {
            return more;
        }
        warn(more.error().message);
    } catch (const LedgerFailure& failure) {
        if (failure.error().code == ErrorCode::kConflict) {
            return failure.error();
        }
        warn(failure.error().message);
    } catch (const std::bad_alloc&) {
        warn("not enough memory for the housekeeping");
    }
    return false;
}

/// Publishes the links. Only warns about an error, so that an unreachable database does not prevent
/// stopping; the next worker publishes them.
void Drain::Loop::finish_links() {
    if (!applying_.has_ledger()) {
        return;
    }
    Status done;
    try {
        done = links_.finish(applying_.ledger(), queue_.uuid());
    } catch (const LedgerFailure& failure) {
        done = failure.error();
    }
    if (!done) {
        links_failed(done.error());
    }
}

/// Performs due forgets. Only warns about an error, for the same reason as finish_links().
void Drain::Loop::finish_forgets() {
    if (!applying_.has_ledger() || applying_.work().pieces != 0) {
        return;
    }
    Status done;
    try {
        done = forgets_.turn(applying_.ledger(), applying_.head().applied_seq, false, true);
    } catch (const LedgerFailure& failure) {
        done = failure.error();
    }
    if (!done) {
        warn("the search for data to forget failed: " + done.error().message);
    }
}

/// @param trims  False for a person's command, because the person waits for its result.
Status Drain::Loop::finish(bool trims) {
    const Clock::time_point end = steady_now() + kFinishTime;
    if (applying_.has_ledger()) {  // the ledger is closed after an I/O error
        do {
            follow_and_publish(true);
        } while (archive_.is_behind() && steady_now() < end);
    }
    finish_links();
    finish_forgets();
    if (Status saved = keeper_.save_token_days(); !saved) {
        warn("the days on which tokens were used: " + saved.error().message);
    }
    // If admission stopped at the high-water mark, only this trimming lets nginx append again.
    while (trims && steady_now() < end) {
        const auto more = keeper_.trim_slice();
        if (!more || !*more) {
            break;
        }
    }
    if (trims) {
        keeper_.sweep_orphans(end);
    }
    keeper_.state(store::WorkerState::kStopped, nullptr);
    return Status::success();
}

/// Opens the archive before the first batch, so that no input is read from the queue again for it.
/// Ignores an error: the first turn() tries again and reports it.
void Drain::Loop::begin_archive() {
    try {
        static_cast<void>(archive_.turn(applying_.head().applied_seq, false));
    } catch (const LedgerFailure&) {
    } catch (const std::bad_alloc&) {
    }
}

Status Drain::Loop::run(const std::atomic<bool>& stop, const Goal& goal) {
    Status outcome = Status::success();
    runs_on_ = goal.is_none();
    begin_archive();
    while (!stop) {
        const std::uint32_t wake = queue_.control().words().wake.load();
        const auto did = step();
        if (!did) {
            if (Status paused = pause_after(did.error(), stop); !paused) {
                keeper_.state(store::WorkerState::kStopped, &did.error());
                return paused;
            }
            continue;
        }
        if (goal.is_reached(*did, applying_.head().applied_seq, applying_.work().pieces != 0)) {
            // Events in lanes that were answered before this command began count as well.
            const Result<bool> moved =
                goal.until_empty ? keeper_.move_lanes(applying_.head().applied_seq) : false;
            if (moved && *moved) {
                continue;
            }
            outcome = moved ? Status::success() : Status(moved.error());
            break;
        }
        const auto more = guarded_turn(!*did);
        if (!more) {
            keeper_.state(store::WorkerState::kStopped, &more.error());
            return more.error();
        }
        if (!*did && !*more) {
            queue_.control().wait_for_append(wake, kPollMs);
        } else if (*did && goal.is_none()) {
            gather();
        }
    }
    try {
        Status finished = finish(goal.seq.value == 0);
        return outcome ? finished : outcome;
    } catch (const LedgerFailure& failure) {
        return failure.error();
    }
}

Drain::Drain(std::unique_ptr<Loop> loop) : loop_(std::move(loop)) {}
Drain::~Drain() = default;

Result<std::unique_ptr<Drain>> Drain::open(const store::StorePaths& paths, store::Queue& queue,
                                           LedgerOpener open_ledger, const DrainOptions& options,
                                           DrainEvents events) {
    auto loop =
        std::make_unique<Loop>(paths, queue, std::move(open_ledger), options, std::move(events));
    if (Status opened = loop->open(); !opened) {
        return opened.error();
    }
    return std::unique_ptr<Drain>(new Drain(std::move(loop)));
}

Status Drain::run(const std::atomic<bool>& stop) {
    return loop_->run(stop, {});
}

Status Drain::run_until_empty(const std::atomic<bool>& stop) {
    return loop_->run(stop, {true, {}, false});
}

Status Drain::run_up_to(SequenceNumber seq, bool leaves_work, const std::atomic<bool>& stop) {
    return loop_->run(stop, {false, seq, leaves_work});
}

WorkLeft Drain::work() const noexcept {
    return loop_->applying().work();
}

SequenceNumber Drain::applied_seq() const noexcept {
    return loop_->applying().head().applied_seq;
}

Ledger& Drain::ledger() noexcept {
    return loop_->applying().ledger();
}

}  // namespace sluice::worker
