// Shared by all code on nginx's event loop: events and tasks, requests that wait, the loop's clock,
// and limits for its log lines.
#pragma once

#include <atomic>
#include <cstdint>

#include "core/values/timestamp.hpp"
#include "ngx_module/nginx/ngx_api.hpp"
#include "os/clock/clock.hpp"

namespace sluice::ngx {

// -- Events and tasks -----------------------------------------------------------------------------

/// The target of an event's `data`. nginx's debug log reads `ident` as the file descriptor of a
/// connection, which follows three pointers.
struct EventIdent {
    void* pad[3] = {};
    ngx_int_t ident = -1;
    void* owner = nullptr;
};

/// Prepares an event. `ident` lives as long as the event; the handler finds `owner` in it.
inline void bind_event(ngx_event_t& event, EventIdent& ident, void* owner,
                       ngx_event_handler_pt handler, ngx_log_t* log) noexcept {
    ident.owner = owner;
    event.data = &ident;
    event.handler = handler;
    event.log = log;
}

using TaskBody = void (*)(void* data, ngx_log_t* log);

/// Prepares a task. `run` is called on a thread of the pool, `completed` on the event loop.
inline void bind_task(ngx_thread_task_t& task, EventIdent& ident, void* owner, TaskBody run,
                      ngx_event_handler_pt completed, ngx_log_t* log) noexcept {
    task.ctx = owner;
    task.handler = run;
    bind_event(task.event, ident, owner, completed, log);
}

/// After this time a task that has not ended is reported, as nginx does with its own.
inline constexpr ngx_msec_t kHangMs = 60'000;

/// Handles the event of a thread task whose timer was set to kHangMs. Returns true if only the
/// timer fired: `what`, the task, still runs.
inline bool hangs(ngx_event_t* event, const char* what) noexcept {
    if (event->timedout) {
        event->timedout = 0;
        ngx_log_error(NGX_LOG_ALERT, event->log, 0, "sluice: %s takes longer than a minute", what);
        return true;
    }
    if (event->timer_set) {
        ngx_del_timer(event);
    }
    return false;
}

// -- Requests that wait ---------------------------------------------------------------------------

/// Keeps the request until resume(), whatever the client does; then `resumed` is called, unless
/// nginx has terminated the request. `resumed` may also be called before, with r->aio set.
inline void park(ngx_http_request_t* r, ngx_http_event_handler_pt resumed) noexcept {
    if (!r->aio) {
        r->main->blocked++;
        r->aio = 1;
        r->write_event_handler = resumed;
    }
}

/// Ends park(). The request may be gone afterwards.
inline void resume(ngx_http_request_t* r) noexcept {
    ngx_connection_t* c = r->connection;
    ngx_http_set_log_request(c->log, r);
    r->main->blocked--;
    r->aio = 0;
#if (nginx_version >= 1025004)
    if (r->main->terminated) {
        c->write->handler(c->write);
        return;
    }
#endif
    // Calls the handler by its pointer, because termination replaces it.
    r->write_event_handler(r);
    ngx_http_run_posted_requests(c);
}

// -- The clock: read once in each iteration of the loop -------------------------------------------
//
// Only for the event loop. Threads, and what is measured within an iteration, use
// os/clock/clock.hpp.

/// Returns the wall clock, in whole milliseconds.
[[nodiscard]] inline Timestamp loop_time() noexcept {
    const volatile ngx_time_t* now = ngx_cached_time;
    return {now->sec, static_cast<std::uint32_t>(now->msec) * 1'000'000u};
}

/// Returns milliseconds since 1970.
[[nodiscard]] inline std::uint64_t loop_wall_ms() noexcept {
    const volatile ngx_time_t* now = ngx_cached_time;
    return static_cast<std::uint64_t>(now->sec) * 1000u + now->msec;
}

/// Returns nginx's monotonic milliseconds, which its timers use; they wrap around with ngx_msec_t.
[[nodiscard]] inline ngx_msec_t loop_ms() noexcept {
    return ngx_current_msec;
}

// -- Limits: what a sender or a broken disk can cause must neither fill the log nor the processor -

/// Allows one line in each interval. Any thread.
class LogLimit {
public:
    explicit LogLimit(std::int64_t interval_seconds) noexcept : interval_(interval_seconds) {}

    [[nodiscard]] bool allow() noexcept {
        const std::int64_t now = coarse_ms() / 1000;
        std::int64_t next = next_.load(std::memory_order_relaxed);
        return now >= next &&
               next_.compare_exchange_strong(next, now + interval_, std::memory_order_relaxed);
    }

private:
    std::int64_t interval_;
    std::atomic<std::int64_t> next_{0};
};

/// Allows `count` in a second. One thread.
class PerSecond {
public:
    explicit PerSecond(unsigned count) noexcept : count_max_(count) {}

    [[nodiscard]] bool allow(std::int64_t now_second) noexcept {
        if (now_second != second_) {
            second_ = now_second;
            count_ = 0;
        }
        return count_ < count_max_ && ++count_ != 0;
    }

private:
    unsigned count_max_;
    unsigned count_ = 0;
    std::int64_t second_ = 0;
};

}  // namespace sluice::ngx
