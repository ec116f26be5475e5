#include "ngx_module/store/store_link.hpp"

#include <unistd.h>

#include <cstdlib>
#include <utility>

#include "lmdb_store/environment/store_failure.hpp"
#include "ngx_module/nginx/event_loop.hpp"
#include "ngx_module/nginx/ngx_api.hpp"

namespace sluice::ngx {
namespace {

/// Returns the 22nd field. The second, a name in parentheses, may contain anything.
std::uint64_t start_tick(const std::string& stat) noexcept {
    std::size_t at = stat.rfind(')');
    for (int field = 2; field < 22 && at != std::string::npos; ++field) {
        at = stat.find(' ', at + 1);
    }
    return at == std::string::npos ? 0 : std::strtoull(stat.c_str() + at + 1, nullptr, 10);
}

/// Returns when this worker's master was started, in milliseconds of boot_ms(), or 0 if the system
/// does not tell. Reloads keep the master.
std::uint64_t master_started_ms() {
    const pid_t master = ngx_process == NGX_PROCESS_SINGLE ? ngx_pid : ngx_parent;
    const Result<std::string> stat = read_proc("/proc/" + std::to_string(master) + "/stat");
    const long ticks_per_second = ::sysconf(_SC_CLK_TCK);
    return stat && ticks_per_second > 0
               ? start_tick(*stat) * 1000 / static_cast<std::uint64_t>(ticks_per_second)
               : 0;
}

}  // namespace

StoreLink::StoreLink(const MainConf& conf, ngx_log_t* log, Users users)
    : conf_(conf), log_(log), users_(std::move(users)) {
    bind_task(check_.task, check_.ident, this, &StoreLink::run, &StoreLink::on_checked, log);
    bind_event(timer_, ident_, this, &StoreLink::on_timer, log);
    timer_.cancelable = 1;  // a quitting process does not wait for the timer
}

void StoreLink::start() noexcept {
    guarded(log_, [&] { open_into(check_); });
    checked();
    ngx_add_timer(&timer_, kCheckEveryMs);
}

std::optional<Reason> StoreLink::closed_reason() noexcept {
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

/// Reads the file by its name, because another file may have replaced it, or else the file that the
/// master opened.
Result<store::MasterKey> StoreLink::current_key() const {
    const std::filesystem::path path(to_view(conf_.key_path));
    Result<store::MasterKey> key = store::MasterKey::load(path);
    return key ? key : store::MasterKey::read(conf_.key_fd, path);
}

/// Waits for the disk. Any thread, one at a time.
void StoreLink::open_into(Check& check) const {
    const store::StorePaths paths(std::filesystem::path(to_view(conf_.store_path)));
    const store::QueueOptions options{static_cast<std::uint64_t>(conf_.map_bytes), conf_.sync != 0,
                                      conf_.idempotency_ttl};
    Result<std::unique_ptr<store::Queue>> queue = store::Queue::open(paths, options);
    if (!queue) {
        check.problem = queue.error().message;
        return;
    }
    const Result<store::MasterKey> key = current_key();
    if (!key) {
        check.problem = key.error().message;
        return;
    }
    Result<std::unique_ptr<store::RegistryReader>> registry =
        store::RegistryReader::open(paths, *key);
    if (!registry) {
        check.problem = registry.error().message;
        return;
    }
    (*queue)->control().opened_by_master(master_started_ms());
    Result<std::unique_ptr<store::LaneWriter>> lane = (*queue)->take_lane();
    // Without room for a lane, replays are still served. A latch is reported separately.
    if (!lane && !store::is_out_of_room(lane.error()) && !(*queue)->latched()) {
        check.problem = lane.error().message;
        return;
    }
    check.node_tag = sluice::node_tag((*queue)->uuid());
    check.queue = std::move(*queue);
    check.lane = lane ? std::move(*lane) : nullptr;
    check.registry = std::move(*registry);
}

void StoreLink::on_timer(ngx_event_t* event) noexcept {
    event->timedout = 0;
    auto& link = *static_cast<StoreLink*>(static_cast<EventIdent*>(event->data)->owner);
    link.start_check();
    ngx_add_timer(&link.timer_, kCheckEveryMs);
}

void StoreLink::start_check() noexcept {
    if (check_.task.event.active) {
        return;  // the last check still waits for the disk
    }
    if (lane_ != nullptr && (lane_spent_ || !usable_) && !users_.lane_is_busy()) {
        close_lane();
    }
    if (!usable_ && queue_ != nullptr) {
        if (users_.are_busy()) {
            return;
        }
        registry_.reset();
        queue_.reset();
    }
    report_key();
    report_latch();
    if (ngx_thread_task_post(conf_.commit_pool, &check_.task) != NGX_OK) {
        return;  // the pool logs it, and the timer tries again
    }
}

/// Runs on the pool's thread.
void StoreLink::run(void* data, ngx_log_t* log) noexcept {
    auto& link = *static_cast<StoreLink*>(data);
    guarded(log, [&] {
        if (link.queue_ == nullptr) {
            link.open_into(link.check_);
        } else {
            link.check_open();
        }
    });
}

/// Runs on the pool's thread.
void StoreLink::check_open() noexcept {
    check_.in_place = queue_->still_in_place() && (lane_ == nullptr || lane_->still_in_place());
    if (lane_ != nullptr || !check_.in_place) {
        return;
    }
    Result<std::unique_ptr<store::LaneWriter>> lane = queue_->take_lane();
    if (lane) {
        check_.lane = std::move(*lane);
    }  // else the queue is latched, and report_latch() says so
}

void StoreLink::close_lane() noexcept {
    users_.forget_lane();
    lane_.reset();
    lane_spent_ = false;
}

void StoreLink::on_checked(ngx_event_t* event) noexcept {
    static_cast<StoreLink*>(static_cast<EventIdent*>(event->data)->owner)->checked();
}

void StoreLink::checked() noexcept {
    if (queue_ != nullptr) {
        if (!check_.in_place && usable_) {
            usable_ = false;
            report(
                "the store was removed or replaced, or LMDB failed; no request is accepted until "
                "the store is open again");
        }
        use_lane();
        return;
    }
    check_.in_place = true;
    if (check_.queue == nullptr || check_.registry == nullptr) {
        report(check_.problem);
        return;
    }
    queue_ = std::move(check_.queue);
    node_tag_ = std::move(check_.node_tag);
    use_lane();
    registry_ = std::move(check_.registry);
    usable_ = true;
    if (!reported_.empty()) {
        reported_.clear();
        ngx_log_error(NGX_LOG_NOTICE, log_, 0, "sluice: the store is open again");
    }
}

/// Reports a lane without O_DIRECT once and by one worker, because it is no problem.
void StoreLink::use_lane() noexcept {
    if (check_.lane == nullptr) {
        return;
    }
    lane_ = std::move(check_.lane);
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
    const bool latched = queue_ != nullptr && queue_->latched();
    if (latched && !latch_reported_) {
        guarded(log_, [&] {
            ngx_log_error(NGX_LOG_ALERT, log_, 0,
                          "sluice: no request is accepted, because %s; see to the disk, then "
                          "restart nginx or run \"sluice queue unlatch\"",
                          queue_->latch_text().c_str());
        });
    }
    latch_reported_ = latched;
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

/// Reports each new problem once.
void StoreLink::report(const std::string& problem) noexcept {
    if (problem == reported_) {
        return;
    }
    guarded(log_, [&] { reported_ = problem; });
    ngx_log_error(NGX_LOG_EMERG, log_, 0, "sluice: %s", problem.c_str());
}

Reason reason_of(store::AppendOutcome outcome) noexcept {
    switch (outcome) {
        case store::AppendOutcome::kFull:
            return Reason::kQueueFull;
        case store::AppendOutcome::kNoSpace:
            return Reason::kDiskFull;
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
