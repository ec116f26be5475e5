// Status sampler: reads the figures that need I/O, once a second, on the offload pool's thread. One
// worker process samples for all of them.
//
// The page and the metrics are rendered on the event loop from the last sample, so that they never
// wait for the disk. If a disk hangs, the sample only becomes old, and the page says so. Thread:
// the event loop, except for run() and the functions that it calls.
#pragma once

#include <optional>
#include <vector>

#include "core/status/report.hpp"
#include "lmdb_store/queue/queue.hpp"
#include "ngx_module/conf/conf.hpp"
#include "ngx_module/nginx/event_loop.hpp"
#include "ngx_module/nginx/ngx_api.hpp"
#include "ngx_module/shared/zone.hpp"
#include "ngx_module/store/store_link.hpp"

namespace sluice::ngx {

class StatusSampler {
public:
    static constexpr ngx_msec_t kEveryMs = 1000;
    /// After this time another worker replaces one that died while it sampled.
    static constexpr std::uint64_t kLeaseMs = 2500;

    /// All arguments outlive the sampler.
    StatusSampler(const MainConf& conf, StoreLink& store, const store::StorePaths& paths,
                  ngx_log_t* log);
    StatusSampler(const StatusSampler&) = delete;
    StatusSampler& operator=(const StatusSampler&) = delete;

    /// Does nothing if no location shows a status.
    void start() noexcept;
    /// Returns true while the thread reads the queue, which must stay open.
    [[nodiscard]] bool in_flight() const noexcept { return task_.event.active != 0; }

    /// Returns the last sample of any worker, or nothing if there is none since the store was
    /// opened.
    [[nodiscard]] std::optional<QueueFigures> queue() const noexcept;
    /// Returns the busiest accounts, at most kStatusAccountsMax, with their names.
    [[nodiscard]] std::vector<AccountUse> accounts() const;

private:
    /// The result of the thread.
    struct Sample {
        store::Queue* queue = nullptr;  ///< Null if not open.
        std::optional<QueueFigures> figures;
        SampledAccounts accounts;
    };

    void on_timer() noexcept;
    void run(ngx_log_t* log) noexcept;
    void begin() noexcept;
    [[nodiscard]] std::optional<QueueFigures> examine(store::Queue& queue) const;
    [[nodiscard]] SampledAccounts busiest_accounts() const noexcept;
    void taken() noexcept;
    void name_account(AccountUse& use) const;
    [[nodiscard]] bool is_sampler() noexcept;
    void offer_history() noexcept;

    const MainConf& conf_;
    StoreLink& store_;
    const store::StorePaths& paths_;
    Sample sample_;
    std::uint64_t lease_ = 0;  ///< See Lease::hold().
    EventIdent task_ident_;
    ngx_thread_task_t task_{};
    EventIdent ident_;
    ngx_event_t timer_{};
};

}  // namespace sluice::ngx
