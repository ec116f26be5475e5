// KeyRenewal: reads the master key again when it was replaced (`sluice key rotate`), on a thread.
//
// Requests whose signature may need it wait for that, together. At most one look a second without
// effect: while the key cannot be had, the rest goes on without it (core/intake/intake.hpp).
#pragma once

#include <optional>

#include "lmdb_store/store/master_key.hpp"
#include "ngx_module/nginx/ngx_api.hpp"
#include "ngx_module/offload/offload.hpp"
#include "ngx_module/store/store_link.hpp"

namespace sluice::ngx {

/// One that waits. Its owner keeps it where it is until `renewed` is called.
struct KeyWaiter {
    KeyWaiter* next = nullptr;
    void* owner = nullptr;
    /// On the event loop, never inside wait(). The waiter may be gone afterwards.
    void (*renewed)(KeyWaiter& waiter) noexcept = nullptr;
};

/// Thread: the event loop.
class KeyRenewal {
public:
    static constexpr ngx_msec_t kEveryMs = 1000;

    /// Both outlive it.
    KeyRenewal(StoreLink& store, Offload& offload) noexcept;
    KeyRenewal(const KeyRenewal&) = delete;
    KeyRenewal& operator=(const KeyRenewal&) = delete;

    /// @return false: the key is the right one, or it was looked for within the last second,
    /// without effect.
    [[nodiscard]] bool wait(KeyWaiter& waiter) noexcept;

private:
    static void run(OffloadJob& job, ngx_log_t* log) noexcept;
    static void on_read(OffloadJob& job) noexcept;
    [[nodiscard]] bool start() noexcept;

    StoreLink& store_;
    Offload& offload_;
    OffloadJob job_;
    std::optional<store::MasterKey> read_;  ///< The thread's while the job runs.
    KeyWaiter* waiting_ = nullptr;
    bool is_running_ = false;
    bool was_started_ = false;
    ngx_msec_t started_ms_ = 0;
};

}  // namespace sluice::ngx
