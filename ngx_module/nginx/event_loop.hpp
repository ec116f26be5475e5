// Shared by all code on nginx's event loop: events and tasks, requests that wait, the loop's clock,
// and limits for its log lines.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>

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
    const char* what = nullptr;  ///< A task, for the log.
};

/// Prepares an event that calls a function of its owner. `ident` lives as long as the event.
/// @tparam kHandle  A member function of Owner, or a function of an Owner&.
template <auto kHandle, class Owner>
void bind_event(ngx_event_t& event, EventIdent& ident, Owner* owner, ngx_log_t* log) noexcept {
    ident.owner = owner;
    event.data = &ident;
    event.log = log;
    event.handler = [](ngx_event_t* happened) noexcept {
        happened->timedout = 0;
        std::invoke(kHandle, *static_cast<Owner*>(static_cast<EventIdent*>(happened->data)->owner));
    };
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

/// Prepares a task. `kRun` is called on a thread of the pool, with the pool's log, and `kCompleted`
/// on the event loop.
template <auto kRun, auto kCompleted, class Owner>
void bind_task(ngx_thread_task_t& task, EventIdent& ident, Owner* owner, const char* what,
               ngx_log_t* log) noexcept {
    bind_event<kCompleted>(task.event, ident, owner, log);
    ident.what = what;
    task.ctx = owner;
    task.handler = [](void* data, ngx_log_t* pool_log) noexcept {
        std::invoke(kRun, *static_cast<Owner*>(data), pool_log);
    };
    task.event.handler = [](ngx_event_t* happened) noexcept {
        const auto& to = *static_cast<EventIdent*>(happened->data);
        if (!hangs(happened, to.what)) {
            std::invoke(kCompleted, *static_cast<Owner*>(to.owner));
        }
    };
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
