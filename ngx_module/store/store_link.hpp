// StoreLink: the store's environments in one worker process.
//
// The store is opened after fork, on a thread of its own, because opening waits for locks and the
// disk. Requests that arrive while it is opened wait for up to three seconds, and then get 503. If
// all but the lane is open after two seconds, they go straight to the queue: processes take lanes
// one after the other, with several syncs each. If the store cannot be opened, or was removed or
// replaced under the running process, StoreLink tries again once a second; requests get 503
// meanwhile. A process that shuts down and has no request returns its lane and its reader slots. It
// opens the store again for the next request, but takes no lane. Thread: the event loop.
#pragma once

#include <atomic>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "core/commit/engine.hpp"
#include "core/intake/intake.hpp"
#include "core/values/result.hpp"
#include "lmdb_store/queue/queue.hpp"
#include "lmdb_store/registry/reader.hpp"
#include "ngx_module/conf/conf.hpp"
#include "ngx_module/nginx/blocking_task.hpp"
#include "ngx_module/nginx/event_loop.hpp"
#include "ngx_module/nginx/ngx_api.hpp"

namespace sluice::ngx {

/// A request that waits until the store is open. Its owner keeps it in place until `resumed` is
/// called.
struct StoreWaiter {
    StoreWaiter* next = nullptr;
    ngx_msec_t joined_ms = 0;
    void* owner = nullptr;
    /// Called on the event loop, never inside wait(). The waiter may be gone afterwards.
    void (*resumed)(StoreWaiter& waiter) noexcept = nullptr;
};

class StoreLink {
public:
    static constexpr ngx_msec_t kCheckEveryMs = 1000;
    /// A request waits this long while the store is opened.
    static constexpr ngx_msec_t kWaitMaxMs = CommitEngine::kWaitMaxMs;
    /// A request waits this long for the lane of its process. Then it goes to the queue directly.
    static constexpr ngx_msec_t kLaneWaitMs = 2000;
    /// While requests wait, a process notices this often that it shuts down.
    static constexpr ngx_msec_t kWaitTickMs = 100;

    struct Users {
        std::function<bool()> have_requests;  ///< Requests are being served.
        std::function<bool()> are_busy;       ///< A thread uses the queue, so that it stays open.
        std::function<bool()> lane_is_busy;   ///< A thread uses the lane.
        std::function<void()> forget_lane;    ///< The lane is about to be returned.
        std::function<void()> store_opened;   ///< Lanes of dead processes may hold records.
    };
    StoreLink(const MainConf& conf, ngx_log_t* log, Users users);
    ~StoreLink();
    StoreLink(const StoreLink&) = delete;
    StoreLink& operator=(const StoreLink&) = delete;

    // Each returns nullptr if the store is not open; lane() also if this process has no lane now.

    [[nodiscard]] store::RegistryReader* registry() noexcept {
        return usable_ ? registry_.get() : nullptr;
    }
    /// Stays open while a commit is in flight.
    [[nodiscard]] store::Queue* queue() noexcept { return usable_ ? queue_.get() : nullptr; }
    /// Stays open as long as a thread has it.
    [[nodiscard]] std::shared_ptr<store::Queue> shared_queue() noexcept {
        return usable_ ? queue_ : nullptr;
    }
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
    [[nodiscard]] std::string_view problem() const noexcept {
        return reported_.empty() ? wait_reported_ : reported_;
    }
    /// Reads the master key's file. Any thread; waits for the disk.
    [[nodiscard]] Result<store::MasterKey> current_key() const;
    /// Starts to open the store, and the timer. Waits for nothing. For init_process.
    void start() noexcept;
    /// Keeps `waiter` while the store is opened. Returns false if there is nothing to wait for.
    /// Opens a store that release_if_idle() closed.
    [[nodiscard]] bool wait(StoreWaiter& waiter) noexcept;
    /// A request has ended: a process that shuts down may have become idle.
    void request_ended() noexcept;

private:
    /// Input of an opening. A copy, because the thread may outlive the configuration.
    struct Plan {
        store::StorePaths paths;
        store::QueueOptions options;
        std::filesystem::path key_path;
        int key_fd;
        std::uint64_t master_started_ms;  ///< See ControlPage::opened_by_master().
    };
    /// Result of an opening. The queue comes before its lane, so that it is destroyed later.
    struct Opened {
        std::string problem;
        std::shared_ptr<store::Queue> queue;
        std::string node_tag;
        std::uint64_t lanes_freed = 0;  ///< ControlWords::lanes_freed before a lane was asked for.
        std::unique_ptr<store::LaneWriter> lane;
        std::unique_ptr<store::RegistryReader> registry;
        std::atomic<bool> has_store{false};  ///< All but the lane is open; the loop may take it.
    };
    /// Task of the thread of `background_`.
    enum class Work : std::uint8_t { kOpen, kTakeLane };
    /// A check on the pool's thread.
    struct Check {
        EventIdent ident;
        ngx_thread_task_t task{};
        store::Queue* queue = nullptr;  ///< nullptr while the store is opened.
        store::LaneWriter* lane = nullptr;
        store::RegistryReader* registry = nullptr;
        bool in_place = true;
        bool seeks = false;     ///< Looks which processes hold the locks of the store.
        bool searches = false;  ///< See store::describe_lock_holders().
        std::string holders;
    };

    static void open_into(const Plan& plan, Opened& opened);
    static void take_lane(Opened& opened);

    void on_timer() noexcept;
    void on_wait_over() noexcept;
    void run(ngx_log_t* log) noexcept;
    [[nodiscard]] std::optional<Reason> zone_reason() noexcept;
    [[nodiscard]] Plan plan() const;
    [[nodiscard]] bool start_work(Work work) noexcept;
    [[nodiscard]] bool start_open() noexcept;
    void background_ended() noexcept;
    void open_ended() noexcept;
    void use_store() noexcept;
    /// Returns true while the thread opens a store that does not serve yet.
    [[nodiscard]] bool is_opening() const noexcept {
        return queue_ == nullptr && background_.is_running() && work_ == Work::kOpen;
    }
    void resume_waiters(bool all) noexcept;
    void release_if_idle() noexcept;
    void close_lane() noexcept;
    void report_latch() noexcept;
    void start_check() noexcept;
    [[nodiscard]] bool seeks_holders() noexcept;
    void checked() noexcept;
    void seek_lane() noexcept;
    void note_exiting() noexcept;
    void use_lane() noexcept;
    void report_key() noexcept;
    void report_wait() noexcept;
    void report(ngx_uint_t level, const std::string& problem, std::string& last) noexcept;

    const MainConf& conf_;
    ngx_log_t* log_;
    Users users_;
    std::shared_ptr<store::Queue> queue_;  ///< Shared with a thread, which may outlive this object.
    std::string node_tag_;
    std::unique_ptr<store::LaneWriter> lane_;  ///< Belongs to the queue, which outlives it.
    bool lane_spent_ = false;                  ///< give_lane_back() was called.
    std::unique_ptr<store::RegistryReader> registry_;
    bool usable_ = false;
    bool open_failed_ = false;       ///< The last attempt; requests do not wait for the next one.
    bool released_ = false;          ///< release_if_idle() closed the store.
    std::uint64_t lanes_freed_ = 0;  ///< ControlWords::lanes_freed when a lane was last asked for.
    /// Set once this process shuts down. Shared with a thread, which may outlive this object.
    std::shared_ptr<std::atomic<bool>> lane_unwanted_ = std::make_shared<std::atomic<bool>>(false);
    BlockingTask background_;
    Work work_ = Work::kOpen;
    std::shared_ptr<Opened> opened_;  ///< Written by the thread until it ends.
    ngx_msec_t open_began_ms_ = 0;
    ngx_msec_t wait_check_ms_ = 0;  ///< When the processes that this one waits for are next sought.
    StoreWaiter* waiting_ = nullptr;  ///< Oldest first.
    StoreWaiter** waiting_end_ = &waiting_;
    Check check_;
    std::string reported_;             ///< The problem that was logged last.
    unsigned checks_without_key_ = 0;  ///< In a row.
    std::string wait_reported_;        ///< Why opening waits, as it was logged last.
    bool latch_reported_ = false;
    bool cached_reported_ = false;
    EventIdent ident_;
    ngx_event_t timer_{};
    ngx_event_t wait_timer_{};
    ngx_event_t idle_event_{};
};

// $sluice_reason for a record that was not stored.

/// @param outcome  Not kStored.
[[nodiscard]] Reason reason_of(store::AppendOutcome outcome) noexcept;
/// @param code  The error of a file or an environment.
[[nodiscard]] Reason reason_of(ErrorCode code) noexcept;

}  // namespace sluice::ngx
