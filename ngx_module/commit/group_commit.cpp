#include "ngx_module/commit/group_commit.hpp"

#include <sched.h>

#include <chrono>

#include "lmdb_store/environment/lock_wait.hpp"
#include "ngx_module/store/store_link.hpp"
#include "os/clock/clock.hpp"

namespace sluice::ngx {
namespace {

/// A commit keeps its requests and its process that long while another process has the writer lock.
constexpr std::chrono::milliseconds kLockWait{CommitEngine::kWaitMaxMs};

CommitEngine::Now now() noexcept {
    return {loop_ms(), monotonic_us()};
}

/// Keeps the file if a record names it, or may name it after an I/O error; otherwise removes it.
/// Runs on the commit's thread, because removing a file waits for the disk.
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

GroupCommit::GroupCommit(ngx_thread_pool_t* pool, ngx_log_t* log, MetricsBlock& metrics,
                         StoreLink& store)
    : pool_(pool), metrics_(metrics), store_(store), lanes_(pool, log, metrics, store) {
    for (Batch& batch : batches_) {
        batch.items.reserve(CommitEngine::kBatchRequestsMax);
        batch.jobs.reserve(CommitEngine::kBatchRequestsMax);
        batch.commits = this;
        bind_task<&GroupCommit::run, &GroupCommit::completed>(batch.task, batch.ident, &batch,
                                                              "a commit", log);
    }
    bind_event<&GroupCommit::on_start>(start_event_, ident_, this, log);
    bind_event<&GroupCommit::complete_overdue>(wait_timer_, ident_, this, log);
}

template <class Event>
void GroupCommit::report(Event&& event) noexcept {
    CommitEngine::Actions actions;
    {
        const std::lock_guard lock(engine_mutex_);
        event(actions);
    }
    perform(actions);
}

void GroupCommit::perform(const CommitEngine::Actions& actions) noexcept {
    for (const CommitEngine::Action& action : actions) {
        switch (action.what) {
            case CommitEngine::Do::kRunAtIterationEnd:
                ngx_post_event(&start_event_, &ngx_posted_events);
                break;
            case CommitEngine::Do::kRunNextIteration:
                // The posted event keeps the event loop from sleeping. Other programs run first,
                // perhaps the one that the loop waits for: a proxy or a sender on this machine, or
                // the kernel's network code.
                sched_yield();
                ngx_post_event(&start_event_, &ngx_posted_next_events);
                break;
            case CommitEngine::Do::kStart:
                start(batches_[action.batch]);
                break;
            case CommitEngine::Do::kSetWaitTimer:
                // Not cancelable, because a quitting process completes waiting jobs.
                ngx_add_timer(&wait_timer_, action.value);
                break;
            case CommitEngine::Do::kClearWaitTimer:
                ngx_del_timer(&wait_timer_);
                break;
        }
    }
}

bool GroupCommit::join(CommitJob& job) noexcept {
    job.joined_ms = loop_ms();
    job.joined_wall_ms = loop_wall_ms();
    job.bytes = job.item.prefix.size() + job.item.body.size();
    job.receipt.reset();
    bool taken = false;
    if (lanes_.takes(job)) {
        taken = lanes_.join(job);
    } else {
        report([&](CommitEngine::Actions& actions) { taken = engine_.arrived(job, actions); });
    }
    if (!taken && job.route != nullptr) {
        job.route->done(job.bytes);
    }
    if (taken && rider_) {
        rider_();
    }
    return taken;
}

void GroupCommit::start(Batch& batch) noexcept {
    ++started_;
    batch.queue = store_.queue();
    if (batch.queue != nullptr && ngx_thread_task_post(pool_, &batch.task) == NGX_OK) {
        // Not cancelable, because before it exits, nginx waits for timers but not for tasks.
        ngx_add_timer(&batch.task.event, kHangMs);
        return;
    }
    batch.queue = nullptr;
    ngx_post_event(&batch.task.event, &ngx_posted_events);
}

std::size_t GroupCommit::number_of(const Batch& batch) const noexcept {
    return static_cast<std::size_t>(&batch - batches_.data());
}

/// Runs on the commit's thread.
void GroupCommit::run(Batch& batch, ngx_log_t*) noexcept {
    GroupCommit& commits = *batch.commits;
    const std::lock_guard lock(commits.commit_mutex_);
    const store::LockLimit limit(kLockWait);
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

void GroupCommit::completed(Batch& batch) noexcept {
    --batch.commits->started_;
    batch.queue != nullptr ? batch.commits->committed(batch) : batch.commits->not_stored(batch);
}

void GroupCommit::committed(Batch& batch) noexcept {
    const std::size_t jobs = batch.jobs.size();
    if (jobs > 0) {
        metrics_.count_commit(batch.commit_us, jobs);
    }
    report([&](CommitEngine::Actions& actions) {
        engine_.committed(number_of(batch), batch.commit_us, now(), actions);
    });
    const std::uint64_t started_us = monotonic_us();
    complete(batch);
    const std::uint64_t answer_us = monotonic_us() - started_us;
    report([&](CommitEngine::Actions& actions) {
        engine_.answered(number_of(batch), answer_us, now(), ngx_exiting != 0, actions);
    });
}

/// Completes a batch without storing it, because the store is not open or the pool is full.
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
    report([&](CommitEngine::Actions& actions) {
        engine_.answered_unstored(number_of(batch), actions);
    });
}

void GroupCommit::complete(Batch& batch) noexcept {
    for (std::size_t i = 0; i < batch.items.size(); ++i) {
        batch.jobs[i]->item = batch.items[i];
    }
    // A completed job's request ends, and the next request of its connection may join. It joins the
    // engine, not this batch.
    for (CommitJob* job : batch.jobs) {
        complete_job(*job);
    }
    batch.items.clear();
    batch.jobs.clear();
}

void GroupCommit::on_start() noexcept {
    report([&](CommitEngine::Actions& actions) {
        engine_.iteration_ended(now(), ngx_exiting != 0, actions);
    });
}

/// Completes jobs that timed out before a commit took them, so that none of them is stored.
void GroupCommit::complete_overdue() noexcept {
    WaiterChain late;
    report([&](CommitEngine::Actions& actions) { late = engine_.overdue(loop_ms(), actions); });
    complete_unavailable(late);
}

}  // namespace sluice::ngx
