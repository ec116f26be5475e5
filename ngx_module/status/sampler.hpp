// Status sampler: takes the figures that cost I/O, once a second, on the offload pool's thread. One
// worker process does it for all of them.
//
// The page and the metrics are rendered on the event loop from what was sampled last, so that they
// never wait for the disk. A sample that does not come back (a hanging disk) only grows old, and
// the page says so. Thread: the event loop, but for take() and what it calls.
#pragma once

#include <optional>
#include <vector>

#include "core/status/report.hpp"
#include "lmdb_store/queue/queue.hpp"
#include "ngx_module/conf/conf.hpp"
#include "ngx_module/nginx/event_loop.hpp"
#include "ngx_module/nginx/ngx_api.hpp"
#include "ngx_module/store/store_link.hpp"

namespace sluice::ngx {

class StatusSampler {
public:
    static constexpr ngx_msec_t kEveryMs = 1000;
    /// A worker that samples and dies is replaced after this.
    static constexpr std::uint64_t kLeaseMs = 2500;

    /// Everything that is handed in outlives the sampler.
    StatusSampler(const MainConf& conf, StoreLink& store, const store::StorePaths& paths,
                  ngx_log_t* log);
    StatusSampler(const StatusSampler&) = delete;
    StatusSampler& operator=(const StatusSampler&) = delete;

    /// Does nothing where no location shows a status.
    void start() noexcept;
    /// The thread reads the queue now: it must not be closed.
    [[nodiscard]] bool in_flight() const noexcept { return task_.event.active != 0; }

    /// What any worker sampled last. Nothing: not sampled since the store was opened.
    [[nodiscard]] std::optional<QueueFigures> queue() const noexcept;
    /// The busiest accounts, at most kStatusAccountsMax, with their names.
    [[nodiscard]] std::vector<AccountUse> accounts() const;

private:
    /// What the thread found.
    struct Sample {
        store::Queue* queue = nullptr;  ///< Null: not open.
        std::optional<QueueFigures> figures;
        std::vector<AccountUse> accounts;
    };

    static void on_timer(ngx_event_t* event) noexcept;
    static void run(void* sampler, ngx_log_t* log) noexcept;
    static void on_taken(ngx_event_t* event) noexcept;

    void begin() noexcept;
    void take();
    [[nodiscard]] std::optional<QueueFigures> look_at(store::Queue& queue) const;
    [[nodiscard]] std::vector<AccountUse> busiest_accounts() const;
    void taken();
    void name_account(AccountUse& use) const;
    [[nodiscard]] bool is_sampler() noexcept;
    void offer_history() noexcept;

    const MainConf& conf_;
    StoreLink& store_;
    const store::StorePaths& paths_;
    ngx_log_t* log_;
    Sample sample_;
    std::uint64_t lease_ = 0;  ///< See Lease::hold().
    EventIdent task_ident_;
    ngx_thread_task_t task_{};
    EventIdent ident_;
    ngx_event_t timer_{};
};

}  // namespace sluice::ngx
