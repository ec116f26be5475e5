#include "ngx_module/request/tools.hpp"

#include <functional>
#include <new>
#include <utility>

#include "lmdb_store/environment/store_failure.hpp"

namespace sluice::ngx {
namespace {

constexpr std::uint64_t kReportEveryMs = 1000;

const char* remedy(Reason cause) noexcept {
    switch (cause) {
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

/// Logs both lines at the level that nginx logs by default, because a reader of the first looks for
/// the second.
void Notes::admission(store::ControlWords& words, std::optional<Reason> cause) noexcept {
    const std::uint64_t state = cause ? static_cast<std::uint64_t>(*cause) : 0;
    std::uint64_t told = words.admission_told.load(std::memory_order_relaxed);
    if ((told & 0xFFU) == state) {
        return;
    }
    const std::uint64_t now = to_ms(loop_time());
    const std::uint64_t then = told >> 8U;
    const bool is_recent = now >= then && now - then < kReportEveryMs;
    if (is_recent || !words.admission_told.compare_exchange_strong(told, now << 8U | state,
                                                                   std::memory_order_relaxed)) {
        return;
    }
    if (cause) {
        ngx_log_error(NGX_LOG_ERR, log_, 0, "sluice: orders and products get 503 from now on: %s",
                      remedy(*cause));
    } else {
        ngx_log_error(NGX_LOG_ERR, log_, 0, "sluice: accepting orders and products again");
    }
}

void Notes::not_servable(const ngx_http_request_t* r, const char* cause) noexcept {
    if (not_servable_.allow()) {
        ngx_log_error(NGX_LOG_ERR, r->connection->log, 0,
                      "sluice_ingest cannot take a request that another part of the configuration "
                      "leads to \"%V\": %s",
                      &r->uri, cause);
    }
}

void Notes::slot_beyond_zone() noexcept {
    if (beyond_zone_.allow()) {
        ngx_log_error(NGX_LOG_ERR, log_, 0,
                      "sluice: an account lies beyond the shared zone, so that its limit cannot be "
                      "held: its requests get 503. Set a larger \"sluice_zone\" and reload nginx");
    }
}

void Notes::keys_full() noexcept {
    if (keys_full_.allow()) {
        ngx_log_error(NGX_LOG_ERR, log_, 0,
                      "sluice: product batches get 503: the queue keeps as many idempotency keys "
                      "as an eighth of \"map_size\" holds, and the oldest has not expired. Set a "
                      "larger one, or a shorter \"sluice_idempotency_ttl\", and reload nginx");
    }
}

void Notes::ignored_topic(Platform platform, std::string_view topic) noexcept {
    const std::string_view shown = is_admin_id(topic) ? topic : "(unreadable)";
    if (topics_[std::hash<std::string_view>()(shown) % topics_.size()].allow()) {
        const ngx_str_t of = to_ngx(to_string(platform));
        const ngx_str_t name = to_ngx(shown);
        ngx_log_error(NGX_LOG_NOTICE, log_, 0,
                      "sluice: webhooks of %V with the topic \"%V\" are ignored, because they have "
                      "no whole order",
                      &of, &name);
    }
}

void Notes::store_error(const Error& error) noexcept {
    if (store_error_.allow()) {
        ngx_log_error(NGX_LOG_ERR, log_, 0, "sluice: %s", error.message.c_str());
    }
}

// -- The master key -------------------------------------------------------------------------------

KeyRenewal::KeyRenewal(StoreLink& store, Offload& offload) noexcept
    : store_(store), offload_(offload) {
    job_.owner = this;
    job_.run = &KeyRenewal::run;
    job_.completed = &KeyRenewal::on_read;
}

bool KeyRenewal::wait(KeyWaiter& waiter) noexcept {
    const store::RegistryReader* registry = store_.registry();
    if (registry == nullptr || !registry->is_key_outdated() || !(is_running_ || start())) {
        return false;
    }
    waiter.next = std::exchange(waiting_, &waiter);
    return true;
}

bool KeyRenewal::start() noexcept {
    if (had_no_effect_ && loop_ms() - started_ms_ < kEveryMs) {
        return false;
    }
    had_no_effect_ = true;
    started_ms_ = loop_ms();
    is_running_ = offload_.start(job_, 0);
    return is_running_;
}

/// Runs on the pool's thread.
void KeyRenewal::run(OffloadJob& job, ngx_log_t* log) noexcept {
    auto& renewal = *static_cast<KeyRenewal*>(job.owner);
    guarded(log, [&] {
        if (Result<store::MasterKey> key = renewal.store_.current_key()) {
            renewal.read_ = *key;
        }
    });
}

void KeyRenewal::on_read(OffloadJob& job) noexcept {
    auto& renewal = *static_cast<KeyRenewal*>(job.owner);
    renewal.is_running_ = false;
    store::RegistryReader* registry = renewal.store_.registry();
    if (renewal.read_ && registry != nullptr) {
        // The next request that looks up its shop meets the same failure, and reports it.
        try {
            renewal.had_no_effect_ = !registry->use_key(*renewal.read_);
        } catch (const store::StoreFailure&) {
        } catch (const std::bad_alloc&) {
        }
    }
    renewal.read_.reset();
    for (KeyWaiter* waiter = std::exchange(renewal.waiting_, nullptr); waiter != nullptr;) {
        KeyWaiter* next = waiter->next;
        waiter->renewed(*waiter);
        waiter = next;
    }
}

}  // namespace sluice::ngx
