#include "ngx_module/commit/group_commit.hpp"

#include <sched.h>

#include "ngx_module/nginx/event_loop.hpp"
#include "ngx_module/nginx/ngx_api.hpp"
#include "ngx_module/store/store_link.hpp"
#include "os/clock/clock.hpp"

namespace sluice::ngx {
namespace {

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

GroupCommit::GroupCommit(ngx_thread_pool_t* write_pool, ngx_log_t* log, MetricsBlock& metrics,
                         StoreLink& store)
    : log_(log), metrics_(metrics), store_(store), lanes_(write_pool, log, metrics, store) {
    gate_->commits = this;
    for (Batch& batch : batches_) {
        batch.items.reserve(CommitEngine::kBatchRequestsMax);
        batch.jobs.reserve(CommitEngine::kBatchRequestsMax);
        batch.commits = this;
        batch.task.emplace([this, &batch] { committed(batch); }, log);
        bind_event<&GroupCommit::hangs>(batch.timer, batch.ident, &batch, log);
        bind_event<&GroupCommit::not_stored>(batch.not_started, batch.ident, &batch, log);
    }
    bind_event<&GroupCommit::on_start>(start_event_, ident_, this, log);
    bind_event<&GroupCommit::complete_overdue>(wait_timer_, ident_, this, log);
}

GroupCommit::~GroupCommit() {
    std::unique_lock lock(gate_->mutex);
    gate_->commits = nullptr;
    gate_->left.wait(lock, [this] { return !gate_->inside; });
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
        if (taken) {
            keep_process(true);
        }
    }
    if (!taken && job.route != nullptr) {
        job.route->done(job.bytes);
    }
    return taken;
}

/// Lets a process that shuts down end although the batch that was announced waits for the writer
/// lock, or keeps it again.
void GroupCommit::keep_process(bool keeps) noexcept {
    if (announced_ != nullptr) {
        announced_->timer.cancelable = keeps ? 0 : 1;
    }
}

void GroupCommit::start(Batch& batch) noexcept {
    ++started_;
    announced_ = &batch;
    batch.timer.cancelable = 0;
    // Before it exits, nginx waits for timers.
    ngx_add_timer(&batch.timer, kHangMs);
    const bool started = guarded(log_, false, [&] {
        std::shared_ptr<store::Queue> queue = store_.shared_queue();
        return queue != nullptr &&
               batch.task->start([gate = gate_, number = number_of(batch), queue]() mutable {
                   run(*gate, number, *queue);
                   queue.reset();
               });
    });
    if (!started) {
        ngx_post_event(&batch.not_started, &ngx_posted_events);
    }
}

std::size_t GroupCommit::number_of(const Batch& batch) const noexcept {
    return static_cast<std::size_t>(&batch - batches_.data());
}

void GroupCommit::hangs(Batch& batch) noexcept {
    ngx_log_error(NGX_LOG_ALERT, batch.timer.log, 0, "sluice: a commit takes longer than a minute");
}

// -- The commit's thread --------------------------------------------------------------------------

/// Returns true if the object is there, and stays until leave().
bool GroupCommit::enter(Gate& gate) noexcept {
    const std::lock_guard lock(gate.mutex);
    gate.inside = gate.commits != nullptr;
    return gate.inside;
}

void GroupCommit::leave(Gate& gate) noexcept {
    const std::lock_guard lock(gate.mutex);
    gate.inside = false;
    gate.left.notify_all();
}

void GroupCommit::run(Gate& gate, std::size_t number, store::Queue& queue) noexcept {
    const std::lock_guard lock(gate.commit);
    const std::uint64_t started_us = monotonic_us();
    bool entered = false;
    queue.append_taken([&]() -> std::span<store::AppendItem> {
        entered = enter(gate);
        return entered ? gate.commits->take(number) : std::span<store::AppendItem>();
    });
    if (entered) {
        gate.commits->stored(gate.commits->batches_[number], monotonic_us() - started_us);
        leave(gate);
    }
}

std::span<store::AppendItem> GroupCommit::take(std::size_t number) noexcept {
    Batch& batch = batches_[number];
    WaiterChain taken;
    {
        const std::lock_guard engine_lock(engine_mutex_);
        taken = engine_.take(number);
    }
    for_each_job(taken, [&](CommitJob& job) {
        batch.jobs.push_back(&job);
        batch.items.push_back(job.item);
    });
    return batch.items;
}

void GroupCommit::stored(Batch& batch, std::uint64_t commit_us) noexcept {
    batch.commit_us = commit_us;
    for (std::size_t i = 0; i < batch.items.size(); ++i) {
        settle_bulk(*batch.jobs[i], batch.items[i].outcome);
    }
}

// -- The event loop -------------------------------------------------------------------------------

void GroupCommit::committed(Batch& batch) noexcept {
    --started_;
    ngx_del_timer(&batch.timer);
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

/// Completes a batch without storing it, because the store is not open or there is no thread.
void GroupCommit::not_stored(Batch& batch) noexcept {
    GroupCommit& commits = *batch.commits;
    --commits.started_;
    ngx_del_timer(&batch.timer);
    WaiterChain taken;
    {
        const std::lock_guard lock(commits.engine_mutex_);
        taken = commits.engine_.not_started(commits.number_of(batch));
    }
    for_each_job(taken, [&](CommitJob& job) {
        batch.jobs.push_back(&job);
        batch.items.push_back(job.item);
        batch.items.back().outcome = store::AppendOutcome::kUnavailable;
    });
    commits.complete(batch);
    commits.report([&](CommitEngine::Actions& actions) {
        commits.engine_.answered_unstored(commits.number_of(batch), actions);
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
    bool holds_nothing = false;
    report([&](CommitEngine::Actions& actions) {
        late = engine_.overdue(loop_ms(), actions);
        holds_nothing = engine_.waiting() == 0 && engine_.is_announced();
    });
    keep_process(!holds_nothing);
    complete_unavailable(late);
}

}  // namespace sluice::ngx
