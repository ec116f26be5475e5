#include "ngx_module/commit/group_commit.hpp"

#include <sched.h>

#include <utility>

#include "ngx_module/nginx/convert.hpp"
#include "ngx_module/nginx/loop_clock.hpp"
#include "os/clock/clock.hpp"

namespace sluice::ngx {
namespace {

/// nginx gives its own thread operations as long before it complains.
constexpr ngx_msec_t kHangMs = 60'000;

CommitEngine::Now now() noexcept {
    return {loop_ms(), monotonic_us()};
}

/// The record names the file from now on, or perhaps does (an I/O error); otherwise it is garbage.
/// On the commit's thread, because removing it is work for the disk.
void settle_bulk(CommitJob& job, store::AppendOutcome outcome) noexcept {
    if (!job.bulk) {
        return;
    }
    if (outcome == store::AppendOutcome::kStored || outcome == store::AppendOutcome::kInDoubt) {
        job.bulk->keep();
    }
    job.bulk.reset();
}

}  // namespace

GroupCommit::GroupCommit(ngx_thread_pool_t* pool, ngx_thread_pool_t* move_pool, ngx_log_t* log,
                         MetricsBlock& metrics, StoreAccess& store)
    : pool_(pool), metrics_(metrics), store_(store), lanes_(pool, move_pool, log, metrics, store) {
    for (Batch& batch : batches_) {
        batch.items.reserve(CommitEngine::kBatchRequestsMax);
        batch.jobs.reserve(CommitEngine::kBatchRequestsMax);
        batch.commits = this;
        batch.ident.owner = &batch;
        batch.task.ctx = &batch;
        batch.task.handler = &GroupCommit::run;
        batch.task.event.data = &batch.ident;
        batch.task.event.handler = &GroupCommit::on_completed;
        batch.task.event.log = log;
    }
    ident_.owner = this;
    start_event_.data = &ident_;
    start_event_.handler = &GroupCommit::on_start;
    start_event_.log = log;
    wait_timer_.data = &ident_;
    wait_timer_.handler = &GroupCommit::on_overdue;
    wait_timer_.log = log;
}

template <class Event>
void GroupCommit::tell(Event&& event) noexcept {
    CommitEngine::Actions actions;
    {
        const std::lock_guard lock(engine_mutex_);
        event(actions);
    }
    obey(actions);
}

void GroupCommit::obey(const CommitEngine::Actions& actions) noexcept {
    for (const CommitEngine::Action& action : actions) {
        switch (action.what) {
            case CommitEngine::Do::kLookAtTurnEnd:
                ngx_post_event(&start_event_, &ngx_posted_events);
                break;
            case CommitEngine::Do::kLookNextTurn:
                // The event loop then does not sleep. Others who want this processor go first:
                // perhaps those who are waited for (a proxy or a sender on this machine, the
                // kernel's work for the network).
                sched_yield();
                ngx_post_event(&start_event_, &ngx_posted_next_events);
                break;
            case CommitEngine::Do::kStart:
                start(batches_[action.batch]);
                break;
            case CommitEngine::Do::kSetTimer:
                // Not cancelable: a quitting process stays for those who wait.
                ngx_add_timer(&wait_timer_, action.after_ms);
                break;
            case CommitEngine::Do::kClearTimer:
                ngx_del_timer(&wait_timer_);
                break;
        }
    }
}

bool GroupCommit::join(CommitJob& job) noexcept {
    job.joined_ms = loop_ms();
    job.bytes = job.item.prefix.size() + job.item.body.size();
    job.receipt.reset();
    bool taken = false;
    if (lanes_.takes(job)) {
        taken = lanes_.join(job);
    } else {
        tell([&](CommitEngine::Actions& actions) { taken = engine_.arrived(job, actions); });
    }
    if (!taken && job.route != nullptr) {
        job.route->done(job.bytes);
    }
    return taken;
}

void GroupCommit::start(Batch& batch) noexcept {
    ++started_;
    batch.queue = store_.queue();
    if (batch.queue != nullptr && ngx_thread_task_post(pool_, &batch.task) == NGX_OK) {
        // Not cancelable: before it exits, nginx waits for timers, not for tasks.
        ngx_add_timer(&batch.task.event, kHangMs);
        return;
    }
    batch.queue = nullptr;
    ngx_post_event(&batch.task.event, &ngx_posted_events);
}

std::size_t GroupCommit::number_of(const Batch& batch) const noexcept {
    return static_cast<std::size_t>(&batch - batches_.data());
}

/// On the commit's thread.
void GroupCommit::run(void* data, ngx_log_t*) noexcept {
    auto& batch = *static_cast<Batch*>(data);
    GroupCommit& commits = *batch.commits;
    const std::lock_guard lock(commits.commit_mutex_);
    WaiterChain taken;
    {
        const std::lock_guard engine_lock(commits.engine_mutex_);
        taken = commits.engine_.take(commits.number_of(batch));
    }
    for_each_job(taken, [&](CommitJob& job) {
        batch.jobs.push_back(&job);
        batch.items.push_back(job.item);
    });
    const std::uint64_t started_us = monotonic_us();
    batch.queue->append(batch.items, sluice::now());
    batch.commit_us = monotonic_us() - started_us;
    for (std::size_t i = 0; i < batch.items.size(); ++i) {
        settle_bulk(*batch.jobs[i], batch.items[i].outcome);
    }
}

void GroupCommit::on_completed(ngx_event_t* event) noexcept {
    if (event->timedout) {
        event->timedout = 0;
        ngx_log_error(NGX_LOG_ALERT, event->log, 0,
                      "sluice: a commit takes longer than a minute; its requests wait on");
        return;
    }
    if (event->timer_set) {
        ngx_del_timer(event);
    }
    auto& batch = *static_cast<Batch*>(static_cast<EventIdent*>(event->data)->owner);
    --batch.commits->started_;
    batch.queue != nullptr ? batch.commits->committed(batch) : batch.commits->not_stored(batch);
}

void GroupCommit::committed(Batch& batch) noexcept {
    const std::size_t jobs = batch.jobs.size();
    if (jobs > 0) {
        metrics_.count_commit(batch.commit_us, jobs);
    }
    tell([&](CommitEngine::Actions& actions) {
        engine_.committed(number_of(batch), batch.commit_us, now(), actions);
    });
    const std::uint64_t started_us = monotonic_us();
    complete(batch);
    const std::uint64_t answer_us = monotonic_us() - started_us;
    tell([&](CommitEngine::Actions& actions) {
        engine_.answered(number_of(batch), answer_us, now(), ngx_exiting != 0, actions);
    });
}

/// The store is not open, or the pool is full.
void GroupCommit::not_stored(Batch& batch) noexcept {
    WaiterChain taken;
    {
        const std::lock_guard lock(engine_mutex_);
        taken = engine_.not_started(number_of(batch));
    }
    for_each_job(taken, [&](CommitJob& job) {
        batch.jobs.push_back(&job);
        batch.items.push_back(job.item);
        batch.items.back().outcome = store::AppendOutcome::kUnavailable;
    });
    complete(batch);
    tell([&](CommitEngine::Actions& actions) {
        engine_.answered_unstored(number_of(batch), actions);
    });
}

void GroupCommit::complete(Batch& batch) noexcept {
    for (std::size_t i = 0; i < batch.items.size(); ++i) {
        batch.jobs[i]->item = batch.items[i];
    }
    // A completed job's request ends, and perhaps the next one of its connection joins: that
    // touches the engine, not this batch.
    for (CommitJob* job : batch.jobs) {
        complete_job(*job);
    }
    batch.items.clear();
    batch.jobs.clear();
}

void GroupCommit::on_start(ngx_event_t* event) noexcept {
    auto& commits = *static_cast<GroupCommit*>(static_cast<EventIdent*>(event->data)->owner);
    commits.tell([&](CommitEngine::Actions& actions) {
        commits.engine_.turn_ended(now(), ngx_exiting != 0, actions);
    });
}

void GroupCommit::on_overdue(ngx_event_t* event) noexcept {
    event->timedout = 0;
    static_cast<GroupCommit*>(static_cast<EventIdent*>(event->data)->owner)->complete_overdue();
}

/// Those who waited too long for their turn were not given to the store: "not stored" is certain.
void GroupCommit::complete_overdue() noexcept {
    WaiterChain late;
    tell([&](CommitEngine::Actions& actions) { late = engine_.overdue(loop_ms(), actions); });
    for_each_job(late, [](CommitJob& job) {
        job.item.outcome = store::AppendOutcome::kUnavailable;
        complete_job(job);
    });
}

}  // namespace sluice::ngx
