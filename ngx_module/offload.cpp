#include "ngx_module/offload.hpp"

#include <utility>

#include "ngx_module/answer.hpp"
#include "ngx_module/check.hpp"
#include "ngx_module/convert.hpp"
#include "ngx_module/edge.hpp"
#include "ngx_module/guard.hpp"

namespace sluice::ngx {
namespace {

constexpr ngx_msec_t kHangMs = 60'000;

}  // namespace

bool Offload::start(IngestRequest& request) noexcept {
    const std::uint64_t bytes = request.body.bytes();
    if (bytes > memory_max_ - memory_used_) {
        return false;
    }
    request.task = {};
    request.task.ctx = &request;
    request.task.handler = &Offload::run;
    request.task.event.data = &request.ident;
    request.task.event.handler = &Offload::on_completed;
    request.task.event.log = log_;
    request.queue = Edge::current()->store().queue();
    if (ngx_thread_task_post(pool_, &request.task) != NGX_OK) {
        return false;
    }
    ++tasks_;
    memory_used_ += bytes;
    request.large_bytes = bytes;
    park(request);
    // Not cancelable: before it exits, nginx waits for timers, not for tasks.
    ngx_add_timer(&request.task.event, kHangMs);
    return true;
}

void Offload::release_memory(IngestRequest& request) noexcept {
    memory_used_ -= std::exchange(request.large_bytes, 0);
}

/// On the pool's thread.
void Offload::run(void* data, ngx_log_t* log) noexcept {
    auto& request = *static_cast<IngestRequest*>(data);
    const bool checked = guarded(log, false, [&] {
        check(request);
        return true;
    });
    if (!checked) {
        settle_internal_error(request);
    }
}

void Offload::check(IngestRequest& request) {
    Edge& edge = *Edge::current();
    edge.metrics().offloaded.fetch_add(1, std::memory_order_relaxed);
    if (!request.body.gather()) {
        settle_unavailable(request, Reason::kIoError);
        return;
    }
    std::unique_ptr<IntakeScratch> scratch = edge.offload().borrow();
    check_request(request, *scratch, thread_time());
    edge.offload().give_back(std::move(scratch));
}

void Offload::on_completed(ngx_event_t* event) noexcept {
    auto& request = *static_cast<IngestRequest*>(static_cast<EventIdent*>(event->data)->owner);
    if (event->timedout) {
        event->timedout = 0;
        ngx_log_error(NGX_LOG_ALERT, event->log, 0,
                      "sluice: checking a large body takes longer than a minute");
        return;
    }
    if (event->timer_set) {
        ngx_del_timer(event);
    }
    --Edge::current()->offload().tasks_;
    wake(request);
}

std::unique_ptr<IntakeScratch> Offload::borrow() {
    {
        const std::lock_guard lock(mutex_);
        if (!idle_.empty()) {
            std::unique_ptr<IntakeScratch> scratch = std::move(idle_.back());
            idle_.pop_back();
            return scratch;
        }
    }
    return std::make_unique<IntakeScratch>();
}

void Offload::give_back(std::unique_ptr<IntakeScratch> scratch) noexcept {
    scratch->trim();
    try {
        const std::lock_guard lock(mutex_);
        idle_.push_back(std::move(scratch));
    } catch (...) {
        // Without memory to keep it, it is made again next time.
    }
}

}  // namespace sluice::ngx
