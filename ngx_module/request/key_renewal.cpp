#include "ngx_module/request/key_renewal.hpp"

#include <utility>

#include "lmdb_store/environment/store_failure.hpp"
#include "ngx_module/nginx/guard.hpp"
#include "ngx_module/nginx/loop_clock.hpp"

namespace sluice::ngx {

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
    if (was_started_ && loop_ms() - started_ms_ < kEveryMs) {
        return false;
    }
    was_started_ = true;
    started_ms_ = loop_ms();
    is_running_ = offload_.start(job_, 0);
    return is_running_;
}

/// On the pool's thread.
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
        // What fails here, fails again for the request that looks its shop up next, and is told.
        try {
            renewal.was_started_ = !registry->use_key(*renewal.read_);  // only vain looks are rare
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
