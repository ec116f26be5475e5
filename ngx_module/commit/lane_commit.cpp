#include "ngx_module/commit/lane_commit.hpp"

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <utility>

#include "ngx_module/store/store_link.hpp"
#include "os/clock/clock.hpp"
#include "os/files/file_io.hpp"

namespace sluice::ngx {
namespace {

LaneWrite outcome_of(int error) noexcept {
    if (error == 0) {
        return LaneWrite::kDurable;
    }
    return code_of_errno(error) == ErrorCode::kNoSpace ? LaneWrite::kNoRoom : LaneWrite::kFailed;
}

store::AppendOutcome outcome_of(LaneWrite outcome) noexcept {
    switch (outcome) {
        case LaneWrite::kDurable:
            return store::AppendOutcome::kStored;
        case LaneWrite::kNoRoom:
            return store::AppendOutcome::kNoSpace;
        case LaneWrite::kFailed:
            break;
    }
    return store::AppendOutcome::kInDoubt;
}

}  // namespace

LaneCommit::LaneCommit(ngx_thread_pool_t* write_pool, ngx_log_t* log, MetricsBlock& metrics,
                       StoreLink& store)
    : write_pool_(write_pool),
      log_(log),
      metrics_(metrics),
      store_(store),
      mover_([this] { moved(); }, log) {
    for (Slot& slot : slots_) {
        slot.commits = this;
        bind_task<&LaneCommit::write, &LaneCommit::on_written>(slot.task, slot.ident, &slot,
                                                               "a write to a lane", log);
    }
    bind_event<&LaneCommit::on_turn_end>(turn_end_, ident_, this, log);
    bind_event<&LaneCommit::on_overdue>(wait_timer_, ident_, this, log);
    bind_event<&LaneCommit::on_move_due>(move_timer_, ident_, this, log);
    bind_event<&LaneCommit::moved>(not_started_, ident_, this, log);
    move_timer_.cancelable =
        1;  // records in the lane are durable, so a quitting process leaves them
}

LaneCommit::~LaneCommit() {
    for (const Slot& slot : slots_) {
        std::free(slot.buffer);
    }
}

/// Begins to use a lane that was opened meanwhile.
void LaneCommit::use_lane() noexcept {
    store::LaneWriter* const lane = store_.lane();
    if (lane_ == nullptr && lane != nullptr && !in_flight()) {
        lane_ = lane;
        engine_.opened(lane->bytes(), lane->end(), lane->floor());
    }
}

void LaneCommit::forget_lane() noexcept {
    LaneEngine::Actions actions;
    engine_.close(actions);
    perform(actions);
    lane_ = nullptr;
}

bool LaneCommit::can_take(const CommitJob& job, const store::Queue* queue) const noexcept {
    return lane_ != nullptr && engine_.is_open() && queue != nullptr && queue->takes_lanes() &&
           job.bytes <= kRecordBytesMax && job.bytes <= engine_.record_bytes_max();
}

bool LaneCommit::takes(CommitJob& job) noexcept {
    job.route = nullptr;
    if (job.item.claim || job.bulk) {
        return false;
    }
    use_lane();
    store::Queue* const queue = store_.queue();
    if (!can_take(job, queue)) {
        return false;
    }
    const store::LanesLeft left = queue->lanes_left();
    if (left.bytes >= lane_->bytes() / 2 && left.batch_bytes >= LaneRoute::kLargeBatchBytes) {
        route_.fell_behind(job.joined_ms);
    }
    job.route = &route_;
    route_.arrived(job.bytes, job.joined_ms);
    return route_.takes_lane(job.joined_ms);
}

bool LaneCommit::join(CommitJob& job) noexcept {
    LaneEngine::Actions actions;
    const bool taken = engine_.arrived(job, actions);
    perform(actions);
    return taken;
}

void LaneCommit::perform(const LaneEngine::Actions& actions) noexcept {
    using Do = LaneEngine::Do;
    for (const LaneEngine::Action& action : actions) {
        switch (action.what) {
            case Do::kRunAtIterationEnd:
                ngx_post_event(&turn_end_, &ngx_posted_events);
                break;
            case Do::kWrite:
                start_write(action.batch);
                break;
            case Do::kPublish:
                lane_->publish(action.value);
                break;
            case Do::kAnswer:
                answer(action.batch);
                break;
            case Do::kRefuse: {
                LaneEngine::Actions more;
                const WaiterChain refused = engine_.refused(more);
                perform(more);
                complete_unavailable(refused);
                break;
            }
            case Do::kMove:
                move_wanted_ = true;
                start_move(MoveKind::kDurable);
                break;
            case Do::kSetWaitTimer:
                // Not cancelable, because a quitting process completes waiting jobs.
                ngx_add_timer(&wait_timer_, action.value);
                break;
            case Do::kClearWaitTimer:
                ngx_del_timer(&wait_timer_);
                break;
            case Do::kSetMoveTimer:
                if (move_timer_.timer_set) {
                    ngx_del_timer(&move_timer_);  // nginx would keep the later time
                }
                ngx_add_timer(&move_timer_, action.value);
                break;
            case Do::kReopen:
                store_.give_lane_back();
                break;
        }
    }
}

// -- Writing --------------------------------------------------------------------------------------

void LaneCommit::start_write(std::size_t number) noexcept {
    Slot& slot = slots_[number];
    slot.head = engine_.head_of(number);
    slot.head.boot = lane_->boot();
    slot.jobs = engine_.batch_of(number);
    slot.error = 0;
    slot.write_us = 0;
    slot.is_begun = true;
    if (slot.buffer_bytes < slot.head.bytes) {
        std::free(slot.buffer);
        slot.buffer = static_cast<char*>(std::aligned_alloc(kLaneBlockBytes, slot.head.bytes));
        slot.buffer_bytes = slot.buffer == nullptr ? 0 : slot.head.bytes;
    }
    ++tasks_;
    if (slot.buffer != nullptr && ngx_thread_task_post(write_pool_, &slot.task) == NGX_OK) {
        // Not cancelable, because before it exits, nginx waits for timers but not for tasks.
        ngx_add_timer(&slot.task.event, kHangMs);
        return;
    }
    slot.error = ENOSPC;  // nothing was written, as with a full disk
    slot.is_begun = false;
    ngx_post_event(&slot.task.event, &ngx_posted_events);
}

/// Runs on a thread of the pool.
void LaneCommit::write(Slot& slot, ngx_log_t*) noexcept {
    const std::uint64_t started_us = monotonic_us();
    LaneBatchWriter writer({slot.buffer, slot.buffer_bytes});
    for (const Waiter* waiter = slot.jobs.first; waiter != nullptr; waiter = waiter->next) {
        const auto& job = static_cast<const CommitJob&>(*waiter);
        writer.add(job.item.prefix, job.item.body);
    }
    store::LaneWriter& lane = *slot.commits->lane_;
    const std::string_view batch = writer.finish(lane.identity(), slot.head);
    slot.error = lane.write(slot.head.offset, batch);
    slot.write_us = monotonic_us() - started_us;
}

void LaneCommit::written(Slot& slot) noexcept {
    --tasks_;
    if (slot.error != 0) {
        write_failed(slot);
    } else {
        metrics_.count_commit(slot.write_us, slot.jobs.count);
        route_.written(slot.write_us);
    }
    LaneEngine::Actions actions;
    engine_.written(static_cast<std::size_t>(&slot - slots_.data()), outcome_of(slot.error),
                    slot.write_us, loop_ms(), actions);
    perform(actions);
}

void LaneCommit::write_failed(const Slot& slot) noexcept {
    guarded(log_, [&] {
        const std::string text =
            "a write to \"" + lane_->path().string() +
            (slot.is_begun ? std::string("\" failed: ") + std::strerror(slot.error)
                           : "\" was not begun: there is no memory for it, or the queue of its "
                             "thread pool is full (\"thread_pool ... max_queue=\")");
        ngx_log_error(NGX_LOG_CRIT, log_, 0, "sluice: %s", text.c_str());
        if (outcome_of(slot.error) == LaneWrite::kFailed && store_.queue() != nullptr) {
            store_.queue()->latch(store::Latch::kIo, text);
        }
    });
    if (outcome_of(slot.error) == LaneWrite::kFailed) {
        store_.give_lane_back();
    }
}

void LaneCommit::answer(std::size_t number) noexcept {
    const store::AppendOutcome outcome = outcome_of(engine_.outcome_of(number));
    const bool stored = outcome == store::AppendOutcome::kStored;
    std::uint32_t index = 0;
    for_each_job(slots_[number].jobs, [&](CommitJob& job) {
        job.item.outcome = outcome;
        job.item.records_count = 1;
        if (stored) {
            job.receipt = Receipt{lane_->number(), slots_[number].head.offset, index};
        }
        ++index;
    });
    for_each_job(slots_[number].jobs, [](CommitJob& job) { complete_job(job); });
    LaneEngine::Actions actions;
    engine_.answered(number, loop_ms(), actions);
    perform(actions);
}

// -- Moving ---------------------------------------------------------------------------------------

void LaneCommit::recover() noexcept {
    start_move(MoveKind::kLeftByOthers);
}

/// Starts a move, unless one runs. moved() starts the next one.
void LaneCommit::start_move(MoveKind kind) noexcept {
    if (mover_.is_running()) {
        return;
    }
    const bool started = guarded(log_, false, [&] {
        move_ = std::make_shared<Move>(Move{kind, store_.shared_queue(), {}});
        return move_->queue != nullptr && mover_.start([move = move_] { move->run(); });
    });
    if (!started) {
        ngx_post_event(&not_started_, &ngx_posted_events);
    }
}

/// Runs on the thread.
void LaneCommit::Move::run() {
    try {
        const Status moved =
            kind == MoveKind::kDurable ? queue->move_lanes() : queue->recover_lanes_in_turn();
        if (!moved) {
            problem = moved.error().message;
        }
    } catch (const std::exception& error) {
        problem = error.what();
    }
    queue.reset();
}

void LaneCommit::moved() noexcept {
    const std::shared_ptr<Move> ended = std::exchange(move_, nullptr);
    if (ended != nullptr && !ended->problem.empty() && move_problem_.allow()) {
        ngx_log_error(NGX_LOG_ERR, log_, 0, "sluice: %s", ended->problem.c_str());
    }
    check_room();
    if (move_wanted_ && ended != nullptr && ended->kind == MoveKind::kLeftByOthers) {
        start_move(MoveKind::kDurable);
        return;
    }
    move_wanted_ = false;
    LaneEngine::Actions actions;
    engine_.moved(loop_ms(), actions);
    perform(actions);
}

void LaneCommit::check_room() noexcept {
    if (lane_ == nullptr) {
        return;
    }
    if (const auto room = lane_->room()) {
        engine_.room(room->floor, room->moved);
    }
}

// -- The event loop -------------------------------------------------------------------------------

void LaneCommit::on_turn_end() noexcept {
    check_room();
    LaneEngine::Actions actions;
    engine_.iteration_ended({loop_ms(), monotonic_ns()}, actions);
    perform(actions);
}

/// Completes jobs that timed out before a write took them, so that none of them is stored.
void LaneCommit::on_overdue() noexcept {
    LaneEngine::Actions actions;
    const WaiterChain late = engine_.overdue(loop_ms(), actions);
    perform(actions);
    complete_unavailable(late);
}

void LaneCommit::on_move_due() noexcept {
    check_room();
    LaneEngine::Actions actions;
    engine_.move_due(loop_ms(), actions);
    perform(actions);
}

}  // namespace sluice::ngx
