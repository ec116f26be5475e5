#include "worker/drain/drain.hpp"

#include <algorithm>
#include <chrono>
#include <new>
#include <thread>
#include <utility>

#include "lmdb_store/ledger/ledger.hpp"
#include "worker/drain/archiver.hpp"
#include "worker/drain/housekeeping.hpp"
#include "worker/drain/position.hpp"
#include "worker/drain/queue_source.hpp"
#include "worker/system/crash_point.hpp"

namespace sluice::worker {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

/// A wake-up that got lost costs at most this.
constexpr std::uint32_t kPollMs = 50;
constexpr milliseconds kBackoffFirst{50};
constexpr milliseconds kBackoffMax{5000};
constexpr milliseconds kStopLook{50};  ///< How late a stop is seen while backing off.
constexpr milliseconds kArchiveRetry{1000};

/// While events keep coming, many of them, a batch begins this long after the last one: each costs
/// two syncs of the disk, which appending processes wait for, too, and large batches write fewer
/// pages.
constexpr milliseconds kBatchEvery{200};
constexpr milliseconds kComing{10};     ///< None for so long: they do not keep coming.
constexpr std::size_t kManyInputs = 8;  ///< Of one batch.

constexpr unsigned kNoMemoryMax = 10;
constexpr milliseconds kHeartbeat{250};
constexpr milliseconds kFinishTime{2000};  ///< For cleaning, when the loop ends.

/// When the loop ends by itself.
struct Goal {
    bool until_empty = false;
    SequenceNumber seq;        ///< 0: none.
    bool leaves_work = false;  ///< Attribution that is to be tried again is left to the next one.

    /// Nobody waits for the end.
    [[nodiscard]] bool is_none() const { return !until_empty && seq.value == 0; }
    [[nodiscard]] bool is_reached(bool worked, SequenceNumber applied, bool work_is_left) const {
        const bool there = (until_empty && !worked) || (seq.value != 0 && applied >= seq);
        return there && (!work_is_left || leaves_work);
    }
};

/// Nothing in the inputs is wrong: the same again can succeed.
bool may_pass(ErrorCode code) {
    switch (code) {
        case ErrorCode::kFull:  // the map grows with the next transaction
        case ErrorCode::kNoSpace:
        case ErrorCode::kBusy:
        case ErrorCode::kIo:
        case ErrorCode::kLimit:
            return true;
        default:
            return false;
    }
}

Timestamp wall_clock() {
    const std::uint64_t ms = wall_clock_ms();
    return {static_cast<std::int64_t>(ms / 1000),
            static_cast<std::uint32_t>(ms % 1000) * 1'000'000};
}

}  // namespace

LedgerOpener embedded_ledger(const store::StorePaths& paths) {
    return [folder = paths.ledger]() -> Result<std::unique_ptr<Ledger>> {
        auto opened = store::EmbeddedLedger::open(folder, store::EmbeddedLedger::Mode::kReadWrite);
        if (!opened) {
            return opened.error();
        }
        return std::unique_ptr<Ledger>(std::move(*opened));
    };
}

struct Drain::State {
    State(const store::StorePaths& store_paths, store::Queue& opened_queue, LedgerOpener opener,
          const DrainOptions& chosen, DrainEvents told)
        : paths(store_paths),
          queue(opened_queue),
          open_ledger(std::move(opener)),
          options(chosen),
          events(std::move(told)),
          keeper(store_paths, opened_queue) {}

    [[nodiscard]] Status open();
    [[nodiscard]] Status reopen_ledger();
    [[nodiscard]] Result<bool> guarded_step();
    [[nodiscard]] Result<bool> apply_batch();
    [[nodiscard]] Error no_memory();
    void read_outcome(const BatchOutcome& outcome);
    void gather();
    [[nodiscard]] Status back_off(const Error& error, const std::atomic<bool>& stop);
    void follow_with_archive(std::size_t first, std::size_t count);
    void turn_archive(bool flush_now);
    void archive_failed(const Error& error);
    [[nodiscard]] Result<bool> turn(bool idle);
    [[nodiscard]] Result<bool> guarded_turn(bool idle);
    [[nodiscard]] Status finish(bool trims);
    [[nodiscard]] Status loop(const std::atomic<bool>& stop, const Goal& goal);
    void warn(const std::string& text) const {
        if (events.warning) {
            events.warning(text);
        }
    }

    store::StorePaths paths;
    store::Queue& queue;
    LedgerOpener open_ledger;
    DrainOptions options;
    DrainEvents events;
    Housekeeping keeper;
    std::unique_ptr<Ledger> ledger;
    std::unique_ptr<Archiver> archiver;
    Clock::time_point archive_retry_at{};
    BatchApplier applier;
    BatchLimits limits = options.batch;

    LedgerHead head;
    WorkLeft work;
    std::vector<OwnedInput> inputs;
    std::size_t next = 0;  ///< In inputs: not applied yet.

    unsigned no_memory_count = 0;
    milliseconds backoff = kBackoffFirst;
    Clock::time_point batch_began{};
    Clock::time_point failing_since{};
    Clock::time_point last_told{};
    Clock::time_point last_heartbeat{};
};

// ---- Opening ------------------------------------------------------------------------------------

Status Drain::State::reopen_ledger() {
    ledger.reset();
    auto opened = open_ledger();
    if (!opened) {
        return opened.error();
    }
    ledger = std::move(*opened);
    return Status::success();
}

Status Drain::State::open() {
    keeper.starting(options.version);
    if (Status opened = reopen_ledger(); !opened) {
        return opened;
    }
    try {
        const auto snapshot = ledger->snapshot(queue.uuid());
        head = snapshot->head();
        work = work_left(*snapshot);
    } catch (const LedgerFailure& failure) {
        return failure.error();
    }
    // What was published is in the archive, too; the ledger may be ahead of it.
    const SequenceNumber trimmable = std::min(head.applied_seq, queue.control().applied());
    if (Status begun = queue.begin_drain(trimmable); !begun) {
        return begun;
    }
    const auto fill = queue.fill();
    if (!fill) {
        return fill.error();
    }
    keeper.figures(head, work.pieces);
    if (Status fits = check_position(*fill, head.applied_seq); !fits) {
        return fits;
    }
    keeper.find_applied_bulk(head.applied_seq);
    return Status::success();
}

// ---- One batch ----------------------------------------------------------------------------------

Result<bool> Drain::State::apply_batch() {
    if (next == inputs.size()) {
        inputs.clear();
        next = 0;
        auto read = read_inputs(queue, paths, {head.applied_seq.value + 1}, limits.records_max,
                                options.read_bytes_max);
        if (!read) {
            return read.error();
        }
        inputs = std::move(*read);
        crash_point("read");
    }
    if (inputs.empty() && work.pieces == 0) {
        return false;
    }
    batch_began = Clock::now();
    auto outcome = applier.apply(*ledger, queue.uuid(), inputs, next, limits);
    if (!outcome) {
        return outcome.error();
    }
    const bool worked = outcome->inputs_done != 0 || work.pieces != 0;
    follow_with_archive(next, outcome->inputs_done);
    keeper.applied_bulk(inputs, next, outcome->inputs_done);
    read_outcome(*outcome);
    return worked;
}

void Drain::State::read_outcome(const BatchOutcome& outcome) {
    next += outcome.inputs_done;
    work = outcome.work;
    head = outcome.head;
    limits = options.batch;
    no_memory_count = 0;
    backoff = kBackoffFirst;
    failing_since = {};
    keeper.figures(head, work.pieces);
    if (outcome.inputs_applied != 0) {
        keeper.batch_figures(
            outcome.inputs_applied,
            std::chrono::duration_cast<std::chrono::microseconds>(Clock::now() - batch_began));
    }
}

/// Lets more inputs come together, unless there are more already.
void Drain::State::gather() {
    const bool backlog =
        next < inputs.size() || inputs.size() >= limits.records_max || work.pieces != 0;
    bool coming = !backlog && inputs.size() >= kManyInputs;
    while (coming && Clock::now() < batch_began + kBatchEvery) {
        const std::uint32_t before = queue.control().words().wake.load();
        std::this_thread::sleep_for(kComing);
        coming = queue.control().words().wake.load() != before && !keeper.is_crowded();
    }
}

Result<bool> Drain::State::guarded_step() {
    try {
        if (!ledger) {
            if (Status opened = reopen_ledger(); !opened) {
                return opened.error();
            }
        }
        return apply_batch();
    } catch (const LedgerFailure& failure) {
        return failure.error();
    } catch (const std::bad_alloc&) {
        return no_memory();
    }
}

/// Smaller batches first; an input that alone needs more memory than there is, time after time,
/// goes to the dead letters.
Error Drain::State::no_memory() {
    if (limits.records_max == 1 && ++no_memory_count >= kNoMemoryMax && next < inputs.size()) {
        no_memory_count = 0;
        applier.give_up_on(inputs[next].seq, "there was not enough memory to apply it");
    }
    limits.records_max = std::max<std::size_t>(1, limits.records_max / 4);
    return {ErrorCode::kBusy, "not enough memory for a batch; trying a smaller one"};
}

// ---- Trouble ------------------------------------------------------------------------------------

/// Waits before the next try. An error that does not pass, or not in time, is given back.
Status Drain::State::back_off(const Error& error, const std::atomic<bool>& stop) {
    const Clock::time_point now = Clock::now();
    if (failing_since == Clock::time_point{}) {
        failing_since = now;
    }
    const bool out_of_time = options.retry_seconds_max != 0 &&
                             now - failing_since > std::chrono::seconds(options.retry_seconds_max);
    if (!may_pass(error.code) || out_of_time) {
        return error;
    }
    if (error.code == ErrorCode::kFull) {
        return Status::success();
    }
    if (error.code == ErrorCode::kIo) {
        ledger.reset();  // LMDB may have given up on its environment
    }
    // Two nodes that met at one order are no trouble; only if it goes on.
    const bool trouble =
        error.code != ErrorCode::kBusy || now - failing_since >= std::chrono::seconds(1);
    if (trouble) {
        keeper.state(store::WorkerState::kRetrying, &error);
    }
    if (trouble && events.retrying && now - last_told >= std::chrono::seconds(1)) {
        last_told = now;
        events.retrying(error);
    }
    for (const Clock::time_point end = now + backoff; Clock::now() < end && !stop;) {
        std::this_thread::sleep_for(std::min<Clock::duration>(kStopLook, end - Clock::now()));
        keeper.heartbeat();
        if (events.heartbeat) {
            events.heartbeat();
        }
    }
    backoff = std::min(backoff * 2, kBackoffMax);
    return Status::success();
}

// ---- Archive ------------------------------------------------------------------------------------

void Drain::State::archive_failed(const Error& error) {
    archiver.reset();
    archive_retry_at = Clock::now() + kArchiveRetry;
    warn("the archive cannot be written: " + error.message +
         " (orders are applied all the same; the queue keeps them until it can be)");
}

void Drain::State::follow_with_archive(std::size_t first, std::size_t count) {
    if (!archiver) {
        return;
    }
    if (Status added = archiver->add(inputs, first, count, wall_clock()); !added) {
        archive_failed(added.error());
    }
}

/// Opens it if it should be open, lets it catch up, makes it durable; then the position can be
/// published.
void Drain::State::turn_archive(bool flush_now) {
    if (!options.archive) {
        keeper.publish(head.applied_seq);
        return;
    }
    if (!archiver && Clock::now() >= archive_retry_at) {
        auto opened = Archiver::open(paths, queue, *options.archive,
                                     [this] { return ledger->snapshot(queue.uuid()); });
        if (!opened) {
            archive_failed(opened.error());
            return;
        }
        archiver = std::move(*opened);
    }
    if (!archiver) {
        return;
    }
    const auto behind = archiver->catch_up(head.applied_seq, wall_clock());
    if (!behind) {
        archive_failed(behind.error());
        return;
    }
    if (flush_now || archiver->flush_is_due()) {
        if (Status flushed = archiver->flush(); !flushed) {
            archive_failed(flushed.error());
            return;
        }
    }
    keeper.publish(std::min(archiver->durable_seq(), head.applied_seq));
}

// ---- The loop -----------------------------------------------------------------------------------

/// What follows a step. @return true if the loop should not sleep: there is more to trim.
Result<bool> Drain::State::turn(bool idle) {
    if (Clock::now() - last_heartbeat >= kHeartbeat) {
        last_heartbeat = Clock::now();
        keeper.state(store::WorkerState::kRunning, nullptr);
        if (events.heartbeat) {
            events.heartbeat();
        }
    }
    if (!keeper.store_in_place(*ledger)) {
        return Error{ErrorCode::kConflict,
                     "the files below \"" + paths.root.string() +
                         "\" are not the ones that were opened: the store was removed or "
                         "replaced. Start the worker again on the store that is meant"};
    }
    turn_archive(false);
    keeper.periodic(*ledger, queue.uuid(), archiver.get());
    if (idle) {
        return keeper.trim_when_idle();
    }
    if (Status trimmed = keeper.trim_when_crowded(); !trimmed) {
        return trimmed.error();
    }
    return true;
}

/// Trouble beside the applying is told, and tried again with the next turn.
Result<bool> Drain::State::guarded_turn(bool idle) {
    try {
        Result<bool> more = turn(idle);
        if (more || !may_pass(more.error().code)) {
            return more;
        }
        warn(more.error().message);
    } catch (const LedgerFailure& failure) {
        warn(failure.error().message);
    } catch (const std::bad_alloc&) {
        warn("not enough memory for the housekeeping");
    }
    return false;
}

/// @param trims  Not for a person's command: its result is waited for.
Status Drain::State::finish(bool trims) {
    const Clock::time_point end = Clock::now() + kFinishTime;
    do {
        turn_archive(true);
    } while (archiver && archiver->is_behind() && Clock::now() < end);
    // Appending may have stopped at the high-water mark: then only this makes room for it again.
    while (trims && Clock::now() < end) {
        const auto more = keeper.trim_slice();
        if (!more || !*more) {
            break;
        }
    }
    keeper.state(store::WorkerState::kStopped, nullptr);
    return Status::success();
}

Status Drain::State::loop(const std::atomic<bool>& stop, const Goal& goal) {
    while (!stop) {
        const std::uint32_t wake = queue.control().words().wake.load();
        const auto did = guarded_step();
        if (!did) {
            if (Status waited = back_off(did.error(), stop); !waited) {
                keeper.state(store::WorkerState::kStopped, &did.error());
                return waited;
            }
            continue;
        }
        if (goal.is_reached(*did, head.applied_seq, work.pieces != 0)) {
            break;
        }
        const auto more = guarded_turn(!*did);
        if (!more) {
            keeper.state(store::WorkerState::kStopped, &more.error());
            return more.error();
        }
        if (!*did && !*more) {
            queue.control().wait_for_append(wake, kPollMs);
        } else if (*did && goal.is_none()) {
            gather();
        }
    }
    try {
        return finish(goal.seq.value == 0);
    } catch (const LedgerFailure& failure) {
        return failure.error();
    }
}

Drain::Drain(std::unique_ptr<State> state) : state_(std::move(state)) {}
Drain::~Drain() = default;

Result<std::unique_ptr<Drain>> Drain::open(const store::StorePaths& paths, store::Queue& queue,
                                           LedgerOpener open_ledger, const DrainOptions& options,
                                           DrainEvents events) {
    auto state =
        std::make_unique<State>(paths, queue, std::move(open_ledger), options, std::move(events));
    if (Status opened = state->open(); !opened) {
        return opened.error();
    }
    return std::unique_ptr<Drain>(new Drain(std::move(state)));
}

Status Drain::run(const std::atomic<bool>& stop) {
    return state_->loop(stop, {});
}

Status Drain::run_until_empty(const std::atomic<bool>& stop) {
    return state_->loop(stop, {true, {}, false});
}

Status Drain::run_up_to(SequenceNumber seq, bool leaves_work, const std::atomic<bool>& stop) {
    return state_->loop(stop, {false, seq, leaves_work});
}

WorkLeft Drain::work() const noexcept {
    return state_->work;
}

SequenceNumber Drain::applied_seq() const noexcept {
    return state_->head.applied_seq;
}

Ledger& Drain::ledger() noexcept {
    return *state_->ledger;
}

}  // namespace sluice::worker
