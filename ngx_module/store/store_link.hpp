// StoreLink: the store's environments as this worker process has them, opened once, after fork.
//
// A store that cannot be opened, or that was removed or replaced under the running process, is
// looked for again once a second; meanwhile requests get 503. Thread: the event loop; looking and
// opening happen on the commit's pool.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "lmdb_store/queue/queue.hpp"
#include "lmdb_store/registry/reader.hpp"
#include "ngx_module/conf/conf.hpp"
#include "ngx_module/nginx/event_ident.hpp"
#include "ngx_module/nginx/ngx_api.hpp"
#include "ngx_module/store/store_access.hpp"

namespace sluice::ngx {

class StoreLink final : public StoreAccess {
public:
    static constexpr ngx_msec_t kLookEveryMs = 1000;

    struct Users {
        std::function<bool()> are_busy;      ///< A thread uses the queue now: it is not closed.
        std::function<bool()> lane_is_busy;  ///< A thread uses the lane now.
        std::function<void()> forget_lane;   ///< It is given back now.
    };
    StoreLink(const MainConf& conf, ngx_log_t* log, Users users);
    StoreLink(const StoreLink&) = delete;
    StoreLink& operator=(const StoreLink&) = delete;

    /// nullptr: the store is not open.
    [[nodiscard]] store::RegistryReader* registry() noexcept {
        return usable_ ? registry_.get() : nullptr;
    }
    [[nodiscard]] store::Queue* queue() noexcept override {
        return usable_ ? queue_.get() : nullptr;
    }
    [[nodiscard]] store::LaneWriter* lane() noexcept override {
        return usable_ && !lane_spent_ ? lane_.get() : nullptr;
    }
    void give_lane_back() noexcept override { lane_spent_ = true; }
    /// Of the queue that was open last: what its receipts begin with.
    [[nodiscard]] const std::string& node_tag() const noexcept { return node_tag_; }
    /// Nothing: the store can take a record of every account now.
    [[nodiscard]] std::optional<Reason> closed_reason() noexcept;
    /// Why the store is not open, for the operator; empty: it is.
    [[nodiscard]] std::string_view problem() const noexcept { return reported_; }
    /// The master key's file as it is now. Any thread; blocks for the disk.
    [[nodiscard]] Result<store::MasterKey> current_key() const;
    /// Opens now, blocking: for init_process. Starts the timer.
    void start() noexcept;

private:
    /// What a look on the pool's thread found.
    struct Look {
        EventIdent ident;
        ngx_thread_task_t task{};
        bool in_place = true;
        std::string problem;
        std::unique_ptr<store::Queue> queue;
        std::string node_tag;
        std::unique_ptr<store::LaneWriter> lane;
        std::unique_ptr<store::RegistryReader> registry;
    };

    static void on_timer(ngx_event_t* event) noexcept;
    static void run(void* link, ngx_log_t* log) noexcept;
    static void on_looked(ngx_event_t* event) noexcept;

    [[nodiscard]] std::optional<Reason> zone_reason() noexcept;
    void open_into(Look& look) const;
    void look_at_open() noexcept;
    void close_lane() noexcept;
    void report_latch() noexcept;
    void look() noexcept;
    void looked() noexcept;
    void use_lane() noexcept;
    void heartbeat() noexcept;
    void report_key() noexcept;
    void report(const std::string& problem) noexcept;

    const MainConf& conf_;
    ngx_log_t* log_;
    Users users_;
    std::unique_ptr<store::Queue> queue_;
    std::string node_tag_;
    std::unique_ptr<store::LaneWriter> lane_;  ///< Of the queue, which outlives it.
    bool lane_spent_ = false;                  ///< It was given back.
    std::unique_ptr<store::RegistryReader> registry_;
    bool usable_ = false;
    Look look_;
    std::string reported_;            ///< The problem that was logged last.
    unsigned looks_without_key_ = 0;  ///< One after the other.
    bool latch_reported_ = false;
    bool cached_reported_ = false;
    EventIdent ident_;
    ngx_event_t timer_{};
};

}  // namespace sluice::ngx
