// StoreLink: the store's environments in one worker process, opened once, after fork.
//
// If the store cannot be opened, or was removed or replaced under the running process, StoreLink
// tries again once a second; meanwhile requests get 503. Thread: the event loop; checks and opening
// run on the commit's pool.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "core/intake/intake.hpp"
#include "core/values/result.hpp"
#include "lmdb_store/queue/queue.hpp"
#include "lmdb_store/registry/reader.hpp"
#include "ngx_module/conf/conf.hpp"
#include "ngx_module/nginx/event_loop.hpp"
#include "ngx_module/nginx/ngx_api.hpp"

namespace sluice::ngx {

class StoreLink {
public:
    static constexpr ngx_msec_t kCheckEveryMs = 1000;

    struct Users {
        std::function<bool()> are_busy;      ///< A thread uses the queue, so that it stays open.
        std::function<bool()> lane_is_busy;  ///< A thread uses the lane.
        std::function<void()> forget_lane;   ///< The lane is about to be returned.
    };
    StoreLink(const MainConf& conf, ngx_log_t* log, Users users);
    StoreLink(const StoreLink&) = delete;
    StoreLink& operator=(const StoreLink&) = delete;

    // Each returns nullptr if the store is not open; lane() also if this process has no lane now.

    [[nodiscard]] store::RegistryReader* registry() noexcept {
        return usable_ ? registry_.get() : nullptr;
    }
    /// Stays open while a commit is in flight.
    [[nodiscard]] store::Queue* queue() noexcept { return usable_ ? queue_.get() : nullptr; }
    /// Stays until Users::forget_lane was called.
    [[nodiscard]] store::LaneWriter* lane() noexcept {
        return usable_ && !lane_spent_ ? lane_.get() : nullptr;
    }
    /// Returns a lane that cannot be written any more, so that another one is taken.
    void give_lane_back() noexcept { lane_spent_ = true; }
    /// Returns the prefix of receipts of the queue that was open last.
    [[nodiscard]] const std::string& node_tag() const noexcept { return node_tag_; }
    /// Returns why the store cannot take a record of every account now, or nothing if it can.
    [[nodiscard]] std::optional<Reason> closed_reason() noexcept;
    /// Returns why the store is not open, for the operator; empty if it is.
    [[nodiscard]] std::string_view problem() const noexcept { return reported_; }
    /// Reads the master key's file. Any thread; waits for the disk.
    [[nodiscard]] Result<store::MasterKey> current_key() const;
    /// Opens the store, waiting for the disk, and starts the timer. For init_process.
    void start() noexcept;

private:
    /// The result of a check on the pool's thread.
    struct Check {
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
    static void on_checked(ngx_event_t* event) noexcept;

    [[nodiscard]] std::optional<Reason> zone_reason() noexcept;
    void open_into(Check& check) const;
    void check_open() noexcept;
    void close_lane() noexcept;
    void report_latch() noexcept;
    void start_check() noexcept;
    void checked() noexcept;
    void use_lane() noexcept;
    void report_key() noexcept;
    void report(const std::string& problem) noexcept;

    const MainConf& conf_;
    ngx_log_t* log_;
    Users users_;
    std::unique_ptr<store::Queue> queue_;
    std::string node_tag_;
    std::unique_ptr<store::LaneWriter> lane_;  ///< Belongs to the queue, which outlives it.
    bool lane_spent_ = false;                  ///< give_lane_back() was called.
    std::unique_ptr<store::RegistryReader> registry_;
    bool usable_ = false;
    Check check_;
    std::string reported_;             ///< The problem that was logged last.
    unsigned checks_without_key_ = 0;  ///< In a row.
    bool latch_reported_ = false;
    bool cached_reported_ = false;
    EventIdent ident_;
    ngx_event_t timer_{};
};

// $sluice_reason for a record that was not stored.

/// @param outcome  Not kStored.
[[nodiscard]] Reason reason_of(store::AppendOutcome outcome) noexcept;
/// @param code  The error of a file or an environment.
[[nodiscard]] Reason reason_of(ErrorCode code) noexcept;

}  // namespace sluice::ngx
