#include "ngx_module/request/offload.hpp"

#include <utility>

#include "ngx_module/nginx/convert.hpp"
#include "ngx_module/nginx/guard.hpp"
#include "ngx_module/process/edge.hpp"
#include "ngx_module/request/answer.hpp"
#include "ngx_module/request/check.hpp"

namespace sluice::ngx {
namespace {

constexpr ngx_msec_t kHangMs = 60'000;
constexpr ngx_msec_t kIdleMs = 5'000;

}  // namespace

Offload::Offload(ngx_thread_pool_t* pool, std::uint64_t memory_max, ngx_log_t* log) noexcept
    : pool_(pool), log_(log), memory_max_(memory_max) {
    ident_.owner = this;
    idle_timer_.data = &ident_;
    idle_timer_.handler = &Offload::on_idle;
    idle_timer_.log = log;
    idle_timer_.cancelable = 1;
}

Offload::~Offload() {
    if (idle_timer_.timer_set) {
        ngx_del_timer(&idle_timer_);
    }
}

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
    Offload& offload = Edge::current()->offload();
    --offload.tasks_;
    ngx_add_timer(&offload.idle_timer_, kIdleMs);
    wake(request);
}

void Offload::on_idle(ngx_event_t* event) noexcept {
    event->timedout = 0;
    static_cast<Offload*>(static_cast<EventIdent*>(event->data)->owner)->trim_idle();
}

void Offload::trim_idle() noexcept {
    const std::lock_guard lock(mutex_);
    for (const std::unique_ptr<IntakeScratch>& scratch : idle_) {
        scratch->trim();
    }
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
    try {
        const std::lock_guard lock(mutex_);
        idle_.push_back(std::move(scratch));
    } catch (...) {
        // Without memory to keep it, it is made again next time.
    }
}

}  // namespace sluice::ngx
