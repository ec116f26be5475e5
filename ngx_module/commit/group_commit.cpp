#include "ngx_module/commit/group_commit.hpp"

#include <sched.h>

#include <algorithm>
#include <utility>

#include "ngx_module/nginx/convert.hpp"
#include "ngx_module/process/edge.hpp"

namespace sluice::ngx {
namespace {

/// nginx gives its own thread operations as long before it complains.
constexpr ngx_msec_t kHangMs = 60'000;

store::AppendItem item_of(const IngestRequest& request) noexcept {
    store::AppendItem item;
    item.prefix = request.envelope.prefix();
    item.body = request.bulk ? std::string_view() : request.body.view();
    item.claim = request.claim;
    item.received_at = request.received_at;
    return item;
}

std::size_t bytes_of(const store::AppendItem& item) noexcept {
    return item.prefix.size() + item.body.size();
}

/// The record names the file from now on, or perhaps does (an I/O error); otherwise it is garbage.
/// On the commit's thread, because removing it is work for the disk.
void settle_bulk(IngestRequest& request, store::AppendOutcome outcome) noexcept {
    if (!request.bulk) {
        return;
    }
    if (outcome == store::AppendOutcome::kStored || outcome == store::AppendOutcome::kInDoubt) {
        request.bulk->keep();
    }
    request.bulk.reset();
}

}  // namespace

GroupCommit::GroupCommit(ngx_thread_pool_t* pool, ngx_log_t* log) : pool_(pool), log_(log) {
    for (Batch& batch : batches_) {
        batch.items.reserve(kBatchRequestsMax);
        batch.requests.reserve(kBatchRequestsMax);
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

bool GroupCommit::join(IngestRequest& request) noexcept {
    if (in_flight() && ngx_current_msec - started_ms_ >= kWaitMaxMs) {
        return false;
    }
    park(request);
    request.joined_ms = ngx_current_msec;
    ++parked_;
    if (waiting_.push(request)) {
        set_wait_timer();
    } else {
        go_on();
    }
    return true;
}

/// Somebody waits for whom no commit is announced.
void GroupCommit::go_on() noexcept {
    if (!in_flight()) {
        ngx_post_event(&start_event_, &ngx_posted_events);
        return;
    }
    set_wait_timer();
    if (pace_.overlaps()) {
        start();
    }
}

void GroupCommit::start_if_time() noexcept {
    const WaitingList::State waiting = waiting_.state();
    if (in_flight() || waiting.count == 0) {
        return;
    }
    if (!ngx_exiting && pace_.holds_back(waiting.count, monotonic_us())) {
        // Looked at again in the next turn of the event loop, which then does not sleep. Whoever
        // else wants this processor goes first: perhaps those who are waited for (a proxy or a
        // sender on this machine, the kernel's work for the network).
        sched_yield();
        set_wait_timer();
        ngx_post_event(&start_event_, &ngx_posted_next_events);
        return;
    }
    pace_.began(waiting.count);
    start();
}

/// Announces a commit, unless all batches are in use: then the next one that ends goes on.
void GroupCommit::start() noexcept {
    const auto free = std::find_if(batches_.begin(), batches_.end(),
                                   [](const Batch& batch) { return !batch.in_use; });
    if (free == batches_.end()) {
        return;
    }
    Batch& batch = *free;
    batch.in_use = true;
    batch.queue = Edge::current()->store().queue();
    waiting_.announce(true);
    if (batch.queue == nullptr || ngx_thread_task_post(pool_, &batch.task) != NGX_OK) {
        fill(batch);
        for (store::AppendItem& item : batch.items) {
            item.outcome = store::AppendOutcome::kUnavailable;
        }
        answer(batch);
        if (waiting_.state().count > 0) {
            ngx_post_event(&start_event_, &ngx_posted_events);
        }
        return;
    }
    if (in_flight_++ == 0) {
        started_ms_ = ngx_current_msec;
    }
    // Not cancelable: before it exits, nginx waits for timers, not for tasks.
    ngx_add_timer(&batch.task.event, kHangMs);
}

void GroupCommit::fill(Batch& batch) noexcept {
    std::size_t bytes = 0;
    waiting_.take_announced([&](IngestRequest& request) {
        if (batch.requests.size() == kBatchRequestsMax || bytes >= kBatchBytesMax) {
            return false;
        }
        batch.requests.push_back(&request);
        batch.items.push_back(item_of(request));
        bytes += bytes_of(batch.items.back());
        return true;
    });
}

/// On the commit's thread.
void GroupCommit::run(void* data, ngx_log_t*) noexcept {
    auto& batch = *static_cast<Batch*>(data);
    const std::lock_guard lock(batch.commits->commit_mutex_);
    batch.commits->fill(batch);
    const std::uint64_t started_us = monotonic_us();
    batch.queue->append(batch.items, thread_time());
    batch.commit_us = monotonic_us() - started_us;
    for (std::size_t i = 0; i < batch.items.size(); ++i) {
        settle_bulk(*batch.requests[i], batch.items[i].outcome);
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
    Edge::current()->commits().completed(batch);
}

void GroupCommit::completed(Batch& batch) noexcept {
    --in_flight_;
    started_ms_ = ngx_current_msec;
    const std::size_t requests = batch.requests.size();
    if (requests > 0) {
        Edge::current()->metrics().count_commit(batch.commit_us, requests);
        pace_.committed(batch.commit_us, parked_);
    }
    const WaitingList::State meanwhile = waiting_.state();
    if (meanwhile.count > 0 && !meanwhile.announced && pace_.overlaps()) {
        start();
    }
    if (requests > 0) {
        const std::uint64_t started_us = monotonic_us();
        answer(batch);
        const std::uint64_t now_us = monotonic_us();
        pace_.answered(now_us - started_us, requests, now_us);
    } else {
        batch.in_use = false;  // who waited for it was told that it took too long
    }
    set_wait_timer();
    const WaitingList::State waiting = waiting_.state();
    if (waiting.count > 0 && !waiting.announced) {
        in_flight() ? go_on() : start_if_time();
    }
}

void GroupCommit::answer(Batch& batch) noexcept {
    for (std::size_t i = 0; i < batch.items.size(); ++i) {
        IngestRequest& request = *batch.requests[i];
        const store::AppendItem& item = batch.items[i];
        request.append_outcome = item.outcome;
        request.seq = item.seq;
        if (item.outcome == store::AppendOutcome::kReplayed) {
            request.records_count = item.records_count;
        }
        finish(request);
    }
    // A woken request ends, and perhaps the next one of its connection joins: that touches the
    // waiting list, not this batch.
    for (IngestRequest* request : batch.requests) {
        wake(*request);
    }
    batch.items.clear();
    batch.requests.clear();
    batch.in_use = false;
}

void GroupCommit::finish(IngestRequest& request) noexcept {
    --parked_;
    request.commit_ms = ngx_current_msec - request.joined_ms;
    request.committed = true;
}

void GroupCommit::on_start(ngx_event_t* event) noexcept {
    static_cast<GroupCommit*>(static_cast<EventIdent*>(event->data)->owner)->start_if_time();
}

void GroupCommit::on_overdue(ngx_event_t* event) noexcept {
    event->timedout = 0;
    static_cast<GroupCommit*>(static_cast<EventIdent*>(event->data)->owner)->fail_overdue();
}

/// Those who waited too long for their turn were not given to the store: "not stored" is certain.
void GroupCommit::fail_overdue() noexcept {
    IngestRequest* overdue = nullptr;
    IngestRequest** link = &overdue;
    waiting_.take([&](IngestRequest& request) {
        if (ngx_current_msec - request.joined_ms < kWaitMaxMs) {
            return false;
        }
        *link = &request;
        link = &request.next;
        return true;
    });
    *link = nullptr;
    set_wait_timer();
    while (overdue != nullptr) {
        IngestRequest& request = *overdue;
        overdue = request.next;
        request.append_outcome = store::AppendOutcome::kUnavailable;
        finish(request);
        wake(request);
    }
}

/// Not cancelable: a quitting process stays for those who wait.
void GroupCommit::set_wait_timer() noexcept {
    const WaitingList::State waiting = waiting_.state();
    if (wait_timer_.timer_set) {
        if (waiting.count > 0) {
            return;  // it may come early for those who wait now, and is set again then
        }
        ngx_del_timer(&wait_timer_);
    } else if (waiting.count > 0) {
        const ngx_msec_t waited = ngx_current_msec - waiting.oldest_ms;
        ngx_add_timer(&wait_timer_, waited < kWaitMaxMs ? kWaitMaxMs - waited : 1);
    }
}

}  // namespace sluice::ngx
