#include "ngx_module/request/notes.hpp"

#include "core/status/report.hpp"
#include "ngx_module/nginx/convert.hpp"
#include "ngx_module/nginx/loop_clock.hpp"

namespace sluice::ngx {
namespace {

constexpr std::uint64_t kToldEveryMs = 1000;

const char* remedy(Reason why) noexcept {
    switch (why) {
        case Reason::kQueueFull:
            return "the queue is filled up to its high-water mark; see that the worker runs and "
                   "catches up";
        case Reason::kDiskFull:
            return "the disk is full; free some room";
        default:
            return "a write to the queue failed and may be in doubt; check the disk, then restart "
                   "nginx";
    }
}

}  // namespace

/// Both lines at the level that nginx logs by default: a reader of the first waits for the second.
void Notes::admission(store::ControlWords& words, std::optional<Reason> why) noexcept {
    const std::uint64_t state = why ? static_cast<std::uint64_t>(*why) : 0;
    std::uint64_t told = words.admission_told.load(std::memory_order_relaxed);
    if ((told & 0xFFU) == state) {
        return;
    }
    const std::uint64_t now = to_ms(loop_time());
    const std::uint64_t then = told >> 8U;
    const bool lately = now >= then && now - then < kToldEveryMs;
    if (lately || !words.admission_told.compare_exchange_strong(told, now << 8U | state,
                                                                std::memory_order_relaxed)) {
        return;
    }
    if (why) {
        ngx_log_error(NGX_LOG_ERR, log_, 0, "sluice: orders and products get 503 from now on: %s",
                      remedy(*why));
    } else {
        ngx_log_error(NGX_LOG_ERR, log_, 0, "sluice: orders and products are taken again");
    }
}

void Notes::not_servable(const ngx_http_request_t* r, const char* why) noexcept {
    if (not_servable_.allow()) {
        ngx_log_error(NGX_LOG_ERR, r->connection->log, 0,
                      "sluice_ingest cannot take a request that another part of the configuration "
                      "leads to \"%V\": %s",
                      &r->uri, why);
    }
}

void Notes::slot_beyond_zone() noexcept {
    if (beyond_zone_.allow()) {
        ngx_log_error(NGX_LOG_ERR, log_, 0,
                      "sluice: an account lies beyond the shared zone, so that its limit cannot be "
                      "held: its requests get 503. Set a larger \"sluice_zone\" and reload nginx");
    }
}

void Notes::store_error(const Error& error) noexcept {
    if (store_error_.allow()) {
        ngx_log_error(NGX_LOG_ERR, log_, 0, "sluice: %s", error.message.c_str());
    }
}

}  // namespace sluice::ngx
