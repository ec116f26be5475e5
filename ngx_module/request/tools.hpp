// RequestTools: what the stages of all requests of one worker process share.
#pragma once

#include <array>
#include <optional>
#include <string_view>

#include "core/intake/intake.hpp"
#include "core/values/result.hpp"
#include "lmdb_store/store/control_page.hpp"
#include "lmdb_store/store/format.hpp"
#include "lmdb_store/store/master_key.hpp"
#include "ngx_module/commit/group_commit.hpp"
#include "ngx_module/conf/conf.hpp"
#include "ngx_module/nginx/event_loop.hpp"
#include "ngx_module/nginx/ngx_api.hpp"
#include "ngx_module/offload/offload.hpp"
#include "ngx_module/store/store_link.hpp"

namespace sluice::ngx {

/// Lines of the error log that a sender or a broken disk can cause, each at a limited rate.
class Notes {
public:
    explicit Notes(ngx_log_t* log) noexcept : log_(log) {}

    /// Reports that the configuration leads requests here that cannot be served; once a minute at
    /// most. Event loop.
    void not_servable(const ngx_http_request_t* r, const char* cause) noexcept;
    /// Reports an account slot without a cell, whose limit cannot be held; once a minute at most.
    /// Any thread.
    void slot_beyond_zone() noexcept;
    /// Reports that no batch with a new idempotency key is stored; once a minute at most. Any
    /// thread.
    void keys_full() noexcept;
    /// Reports a webhook that is ignored for its topic; once a minute for each topic. Any thread.
    void ignored_topic(Platform platform, std::string_view topic) noexcept;
    /// Reports an error of the store; once a second at most. Any thread.
    void store_error(const Error& error) noexcept;
    /// Reports when orders begin to get 503, and when they are accepted again: one line for all
    /// processes, and one a second at most if the state alternates.
    /// @param cause  Empty if a record was stored.
    void admission(store::ControlWords& words, std::optional<Reason> cause) noexcept;

private:
    ngx_log_t* log_;
    LogLimit not_servable_{60};
    LogLimit beyond_zone_{60};
    LogLimit store_error_{1};
    LogLimit keys_full_{60};
    struct TopicLimit : LogLimit {
        TopicLimit() noexcept : LogLimit(60) {}
    };
    std::array<TopicLimit, 32> topics_;  ///< By a hash of the topic.
};

/// A request that waits for the master key. Its owner keeps it in place until `renewed` is called.
struct KeyWaiter {
    KeyWaiter* next = nullptr;
    void* owner = nullptr;
    /// Called on the event loop, never inside wait(). The waiter may be gone afterwards.
    void (*renewed)(KeyWaiter& waiter) noexcept = nullptr;
};

/// Reads the master key again on a thread after `sluice key rotate` replaced it.
///
/// All requests whose signature may need the new key wait for the same read. Reads without effect
/// happen once a second at most; between them, requests that need the key get 503 and all others
/// are served (core/intake/intake.hpp). Thread: the event loop.
class KeyRenewal {
public:
    static constexpr ngx_msec_t kEveryMs = 1000;

    /// Both outlive this object.
    KeyRenewal(StoreLink& store, Offload& offload) noexcept;
    KeyRenewal(const KeyRenewal&) = delete;
    KeyRenewal& operator=(const KeyRenewal&) = delete;

    /// Returns false if the current key is right, or if a read within the last second had no
    /// effect. Then `waiter` is not kept.
    [[nodiscard]] bool wait(KeyWaiter& waiter) noexcept;

private:
    static void run(OffloadJob& job, ngx_log_t* log) noexcept;
    static void on_read(OffloadJob& job) noexcept;
    [[nodiscard]] bool start() noexcept;

    StoreLink& store_;
    Offload& offload_;
    OffloadJob job_;
    std::optional<store::MasterKey> read_;  ///< Written by the thread while the job runs.
    KeyWaiter* waiting_ = nullptr;
    bool is_running_ = false;
    bool had_no_effect_ = false;
    ngx_msec_t started_ms_ = 0;
};

struct RequestTools {
    const MainConf& conf;

    // Event loop.
    StoreLink& store;
    GroupCommit& commits;
    Offload& offload;  ///< borrow() and give_back(): any thread.
    KeyRenewal& keys;
    IntakeScratch scratch;
    /// Limits $sluice_reason, which hashes the body several times.
    PerSecond diagnoses{10};

    // Any thread.
    store::StorePaths paths;
    MetricsBlock& metrics;
    Notes notes;
};

}  // namespace sluice::ngx
