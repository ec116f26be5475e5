#include "ngx_module/store/store_link.hpp"

#include <algorithm>
#include <utility>

#include "lmdb_store/environment/store_failure.hpp"
#include "lmdb_store/queue/lock_holders.hpp"
#include "os/clock/clock.hpp"

namespace sluice::ngx {
namespace {

/// Returns when this worker's master was started. Reloads keep the master.
std::uint64_t master_started_ms() {
    return process_started_ms(ngx_process == NGX_PROCESS_SINGLE ? ngx_pid : ngx_parent);
}

/// Reads the file by its name, because another file may have replaced it, or else the file that the
/// master opened.
Result<store::MasterKey> read_key(const std::filesystem::path& path, int fd) {
    Result<store::MasterKey> key = store::MasterKey::load(path);
    return key ? key : store::MasterKey::read(fd, path);
}

}  // namespace

StoreLink::StoreLink(const MainConf& conf, ngx_log_t* log, Users users)
    : conf_(conf),
      log_(log),
      users_(std::move(users)),
      background_([this] { background_ended(); }, log) {
    bind_task<&StoreLink::run, &StoreLink::checked>(check_.task, check_.ident, this, "a check",
                                                    log);
    bind_event<&StoreLink::on_timer>(timer_, ident_, this, log);
    timer_.cancelable = 1;  // a quitting process does not wait for the timer
    // Not cancelable, because a quitting process completes waiting requests.
    bind_event<&StoreLink::on_wait_over>(wait_timer_, ident_, this, log);
    bind_event<&StoreLink::release_if_idle>(idle_event_, ident_, this, log);
}

/// Returns the lane without close_lane(), because its user is destroyed already.
StoreLink::~StoreLink() {
    if (lane_ != nullptr) {
        lane_.reset();
        queue_->control().words().lanes_freed.fetch_add(1);
    }
}

void StoreLink::start() noexcept {
    static_cast<void>(start_open());
    ngx_add_timer(&timer_, kCheckEveryMs);
}

// -- Opening --------------------------------------------------------------------------------------

StoreLink::Plan StoreLink::plan() const {
    // Three generations of workers, two of which still serve after reloads, and the next one.
    constexpr std::uint64_t kGenerations = 4;
    const auto workers = static_cast<std::uint64_t>(core_conf(conf_.cycle).worker_processes);
    return {store::StorePaths(std::filesystem::path(to_view(conf_.store_path))),
            {.map_bytes = static_cast<std::uint64_t>(conf_.map_bytes),
             .sync = conf_.sync != 0,
             .idempotency_ttl_seconds = conf_.idempotency_ttl,
             .lanes_wanted = kGenerations * workers,
             .lane_unwanted = lane_unwanted_},
            std::filesystem::path(to_view(conf_.key_path)),
            conf_.key_fd,
            master_started_ms()};
}

bool StoreLink::start_work(Work work) noexcept {
    return guarded(log_, false, [&] {
        auto opened = std::make_shared<Opened>();
        opened->queue = queue_;
        std::function<void()> body = [opened] { take_lane(*opened); };
        if (work == Work::kOpen) {
            body = [opened, plan = plan()] { open_into(plan, *opened); };
        }
        work_ = work;
        opened_ = opened;
        return background_.start([opened = std::move(opened), body = std::move(body)] {
            try {
                body();
            } catch (const std::exception& error) {
                opened->problem = error.what();
            }
        });
    });
}

bool StoreLink::start_open() noexcept {
    open_began_ms_ = loop_ms();
    wait_check_ms_ = open_began_ms_ + kCheckEveryMs / 2;
    note_exiting();
    return start_work(Work::kOpen);
}

/// Runs on a thread that may outlive this object.
void StoreLink::open_into(const Plan& plan, Opened& opened) {
    Result<std::unique_ptr<store::Queue>> queue = store::Queue::open(plan.paths, plan.options);
    if (!queue) {
        opened.problem = queue.error().message;
        return;
    }
    const Result<store::MasterKey> key = read_key(plan.key_path, plan.key_fd);
    if (!key) {
        opened.problem = key.error().message;
        return;
    }
    Result<std::unique_ptr<store::RegistryReader>> registry =
        store::RegistryReader::open(plan.paths, *key);
    if (!registry) {
        opened.problem = registry.error().message;
        return;
    }
    (*queue)->control().opened_by_master(plan.master_started_ms);
    opened.node_tag = sluice::node_tag((*queue)->uuid());
    opened.queue = std::move(*queue);
    opened.registry = std::move(*registry);
    opened.has_store.store(true);
    take_lane(opened);
}

/// Runs on a thread that may outlive the StoreLink.
void StoreLink::take_lane(Opened& opened) {
    opened.lanes_freed = opened.queue->control().words().lanes_freed.load();
    Result<std::unique_ptr<store::LaneWriter>> lane = opened.queue->take_lane();
    if (lane) {
        opened.lane = std::move(*lane);
    } else if (store::is_out_of_room(lane.error())) {
        // Replays are still served. The disk may have room a second later.
        --opened.lanes_freed;
    } else if (!opened.queue->latched()) {  // a latch is reported separately
        opened.problem = lane.error().message;
    }
}

void StoreLink::background_ended() noexcept {
    if (work_ == Work::kOpen) {
        return open_ended();
    }
    if (opened_->problem.empty()) {
        lanes_freed_ = opened_->lanes_freed;
        reported_.clear();
    } else {  // the next check asks again
        report(NGX_LOG_ERR, opened_->problem, reported_);
    }
    use_lane();
    opened_.reset();
}

void StoreLink::open_ended() noexcept {
    const std::shared_ptr<Opened> opened = opened_;
    const bool is_used = queue_ != nullptr;
    open_failed_ = !is_used && !opened->problem.empty();
    if (open_failed_) {
        report(NGX_LOG_EMERG, opened->problem, reported_);
        opened_.reset();
        return resume_waiters(true);
    }
    if (!is_used) {
        use_store();
    }
    lanes_freed_ = opened->lanes_freed;
    wait_reported_.clear();
    if (!opened->problem.empty()) {
        --lanes_freed_;  // the next check asks again
        report(NGX_LOG_ERR, opened->problem, reported_);
    }
    use_lane();
    opened_.reset();
    resume_waiters(true);
}

/// Begins to serve with what the thread has opened, which may still wait for the lane.
void StoreLink::use_store() noexcept {
    check_.in_place = true;
    queue_ = opened_->queue;
    node_tag_ = std::move(opened_->node_tag);
    registry_ = std::move(opened_->registry);
    usable_ = true;
    if (!reported_.empty() || !wait_reported_.empty()) {
        reported_.clear();
        wait_reported_.clear();
        ngx_log_error(NGX_LOG_NOTICE, log_, 0, "sluice: the store is open");
    }
    users_.store_opened();
}

// -- Requests that wait ---------------------------------------------------------------------------

bool StoreLink::wait(StoreWaiter& waiter) noexcept {
    if (std::exchange(released_, false) && !start_open()) {
        return false;
    }
    if (queue_ != nullptr || open_failed_ || !background_.is_running()) {
        return false;
    }
    waiter.next = nullptr;
    waiter.joined_ms = loop_ms();
    *waiting_end_ = &waiter;
    waiting_end_ = &waiter.next;
    if (!wait_timer_.timer_set) {
        ngx_add_timer(&wait_timer_, kWaitTickMs);
    }
    return true;
}

void StoreLink::on_wait_over() noexcept {
    note_exiting();
    const bool lane_takes_long = waiting_ != nullptr && is_opening() && opened_->has_store.load() &&
                                 loop_ms() - waiting_->joined_ms >= kLaneWaitMs;
    if (lane_takes_long) {
        use_store();
    }
    resume_waiters(lane_takes_long);
}

/// @param all  Or else those that have waited long enough.
void StoreLink::resume_waiters(bool all) noexcept {
    while (waiting_ != nullptr && (all || loop_ms() - waiting_->joined_ms >= kWaitMaxMs)) {
        StoreWaiter& waiter = *waiting_;
        waiting_ = waiter.next;
        if (waiting_ == nullptr) {
            waiting_end_ = &waiting_;
        }
        waiter.resumed(waiter);
    }
    if (wait_timer_.timer_set) {
        ngx_del_timer(&wait_timer_);
    }
    if (waiting_ != nullptr) {
        const ngx_msec_t left_ms = kWaitMaxMs - (loop_ms() - waiting_->joined_ms);
        ngx_add_timer(&wait_timer_, std::min(left_ms, kWaitTickMs));
    }
}

/// Lets the thread pass by the claim of a lane, which would delay the requests that wait here, and
/// the lanes of the next workers.
void StoreLink::note_exiting() noexcept {
    if (ngx_exiting != 0) {
        lane_unwanted_->store(true);
    }
}

// -- The end of a generation ----------------------------------------------------------------------

void StoreLink::request_ended() noexcept {
    if (ngx_exiting != 0) {
        // Not at once, because the request may end while its batch is being answered.
        ngx_post_event(&idle_event_, &ngx_posted_events);
    }
}

/// Returns the lane and the reader slots of a process that shuts down and has no request, because
/// connections of other locations may keep the process for hours.
void StoreLink::release_if_idle() noexcept {
    if (ngx_exiting == 0 || queue_ == nullptr || background_.is_running() ||
        check_.task.event.active || users_.have_requests() || users_.are_busy()) {
        return;
    }
    close_lane();
    usable_ = false;
    released_ = true;
    registry_.reset();
    queue_.reset();
}

// -- The state of the store -----------------------------------------------------------------------

std::optional<Reason> StoreLink::closed_reason() noexcept {
    if (released_) {
        return std::nullopt;  // the next request opens it
    }
    const store::Queue* open_queue = queue();
    if (open_queue == nullptr) {
        return Reason::kStoreUnavailable;
    }
    if (const std::optional<store::AppendOutcome> closed = open_queue->closed_reason()) {
        return reason_of(*closed);
    }
    return zone_reason();
}

/// Finds an account that was created beyond the zone after nginx read the size of the store.
std::optional<Reason> StoreLink::zone_reason() noexcept {
    try {
        return registry_->slots_used() > conf_.zone_view.cells_count
                   ? std::optional<Reason>(Reason::kZoneTooSmall)
                   : std::nullopt;
    } catch (const store::StoreFailure&) {
        return Reason::kStoreUnavailable;
    }
}

Result<store::MasterKey> StoreLink::current_key() const {
    return read_key(std::filesystem::path(to_view(conf_.key_path)), conf_.key_fd);
}

// -- Once a second --------------------------------------------------------------------------------

void StoreLink::on_timer() noexcept {
    start_check();
    ngx_add_timer(&timer_, kCheckEveryMs);
}

void StoreLink::start_check() noexcept {
    note_exiting();
    release_if_idle();
    if (released_ || check_.task.event.active) {
        return;  // or the last check still waits for the disk
    }
    if (lane_ != nullptr && (lane_spent_ || !usable_) && !users_.lane_is_busy()) {
        close_lane();
    }
    if (!usable_ && queue_ != nullptr) {
        if (users_.are_busy() || background_.is_running()) {
            return;
        }
        registry_.reset();
        queue_.reset();
        open_failed_ = true;
    }
    if (queue_ == nullptr && !background_.is_running()) {
        static_cast<void>(start_open());  // the timer tries again
        return;
    }
    check_.seeks = background_.is_running() && work_ == Work::kOpen && seeks_holders();
    if (queue_ == nullptr && !check_.seeks) {
        return;
    }
    report_key();
    report_latch();
    check_.queue = queue_.get();
    check_.lane = lane_.get();
    check_.registry = registry_.get();
    // The pool logs an error, and the timer tries again.
    static_cast<void>(ngx_thread_task_post(conf_.commit_pool, &check_.task));
}

/// Runs on the pool's thread.
void StoreLink::run(ngx_log_t* log) noexcept {
    guarded(log, [&] {
        Check& check = check_;
        if (check.queue != nullptr) {
            check.in_place = check.queue->still_in_place() && check.registry->still_in_place() &&
                             (check.lane == nullptr || check.lane->still_in_place());
        }
        if (check.seeks) {
            check.holders = store::describe_lock_holders(
                store::StorePaths(std::filesystem::path(to_view(conf_.store_path))),
                check.searches);
        }
    });
}

/// Returns true if it is time to look for the processes that an opening waits for: after a second,
/// and then after longer and longer intervals, because all workers of a start look, and each look
/// takes processor time from those that they wait for.
bool StoreLink::seeks_holders() noexcept {
    if (static_cast<ngx_msec_int_t>(loop_ms() - wait_check_ms_) < 0) {
        return false;
    }
    const ngx_msec_t waited_ms = loop_ms() - open_began_ms_;
    wait_check_ms_ = open_began_ms_ + 2 * waited_ms;
    check_.searches = waited_ms >= kWaitMaxMs;
    return true;
}

void StoreLink::close_lane() noexcept {
    lane_spent_ = false;
    if (lane_ == nullptr) {
        return;
    }
    users_.forget_lane();
    lane_.reset();
    queue_->control().words().lanes_freed.fetch_add(1);
}

void StoreLink::checked() noexcept {
    report_wait();
    if (check_.queue == nullptr) {
        return;
    }
    if (!check_.in_place && usable_) {
        usable_ = false;
        report(NGX_LOG_EMERG,
               "the store was removed or replaced, or LMDB failed; no request is accepted until "
               "the store is open",
               reported_);
    }
    seek_lane();
}

/// Asks for a lane if one has become free since this process asked last.
void StoreLink::seek_lane() noexcept {
    if (ngx_exiting == 0 && usable_ && lane_ == nullptr && !background_.is_running() &&
        !queue_->latched() && queue_->control().words().lanes_freed.load() != lanes_freed_) {
        static_cast<void>(start_work(Work::kTakeLane));
    }
}

/// Reports a lane without O_DIRECT once and by one worker, because it is no problem.
void StoreLink::use_lane() noexcept {
    if (opened_->lane == nullptr) {
        return;
    }
    lane_ = std::move(opened_->lane);
    if (!lane_->is_direct() && ngx_worker == 0 && !cached_reported_) {
        cached_reported_ = true;
        guarded(log_, [&] {
            ngx_log_error(NGX_LOG_NOTICE, log_, 0,
                          "sluice: the file system of \"%s\" refuses O_DIRECT: each write is "
                          "copied and synced",
                          lane_->path().c_str());
        });
    }
}

/// Reports each latch once.
void StoreLink::report_latch() noexcept {
    const auto latch = queue_ != nullptr ? queue_->latched() : std::nullopt;
    if (latch && !latch_reported_) {
        guarded(log_, [&] {
            ngx_log_error(NGX_LOG_ALERT, log_, 0, "sluice: no request is accepted, because %s; %s",
                          queue_->latch_text().c_str(), store::latch_remedy(*latch));
        });
    }
    latch_reported_ = latch.has_value();
}

/// Reports an outdated key once, but not while a request reads the new key.
void StoreLink::report_key() noexcept {
    const bool outdated = registry_ != nullptr && registry_->is_key_outdated();
    checks_without_key_ = outdated ? checks_without_key_ + 1 : 0;
    if (checks_without_key_ == 2) {
        ngx_log_error(NGX_LOG_ALERT, log_, 0,
                      "sluice: the master key \"%V\" was replaced by another file: reload nginx; "
                      "until then events signed with tokens new to this process get 503",
                      &conf_.key_path);
    }
}

/// Reports what an opening waits for.
void StoreLink::report_wait() noexcept {
    if (!check_.seeks || !background_.is_running()) {
        return;
    }
    guarded(log_, [&] {
        std::string text =
            queue_ == nullptr
                ? "the store is not open yet, and orders and products get 503 until it is: "
                : "this process has no lane yet, and its orders go straight to the queue: ";
        text += check_.holders.empty() ? "opening waits for the disk" : check_.holders;
        report(NGX_LOG_ERR, text, wait_reported_);
    });
}

/// Reports each new problem once.
/// @param last  The problem of this kind that was reported last.
void StoreLink::report(ngx_uint_t level, const std::string& problem, std::string& last) noexcept {
    if (problem == last) {
        return;
    }
    guarded(log_, [&] { last = problem; });
    ngx_log_error(level, log_, 0, "sluice: %s", problem.c_str());
}

Reason reason_of(store::AppendOutcome outcome) noexcept {
    switch (outcome) {
        case store::AppendOutcome::kFull:
            return Reason::kQueueFull;
        case store::AppendOutcome::kNoSpace:
            return Reason::kDiskFull;
        case store::AppendOutcome::kKeysFull:
            return Reason::kKeysFull;
        case store::AppendOutcome::kInDoubt:
            return Reason::kIoError;
        default:
            return Reason::kStoreUnavailable;
    }
}

Reason reason_of(ErrorCode code) noexcept {
    switch (code) {
        case ErrorCode::kNoSpace:
        case ErrorCode::kFull:
            return Reason::kDiskFull;
        case ErrorCode::kIo:
            return Reason::kIoError;
        default:
            return Reason::kStoreUnavailable;
    }
}

}  // namespace sluice::ngx
