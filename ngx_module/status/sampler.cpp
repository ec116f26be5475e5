#include "ngx_module/status/sampler.hpp"

#include <sys/statvfs.h>

#include <algorithm>
#include <utility>

#include "core/intake/rate_window.hpp"
#include "core/protocol/record.hpp"
#include "ngx_module/nginx/event_loop.hpp"
#include "ngx_module/nginx/ngx_api.hpp"
#include "os/clock/clock.hpp"

namespace sluice::ngx {
namespace {

std::uint64_t total(const AccountUse& use) noexcept {
    return use.accepted + use.limited + use.used;
}

/// Returns when the oldest record from `first` on was received.
std::optional<std::uint64_t> received_ms(store::Queue& queue, SequenceNumber first) {
    const auto records = queue.read(first, 1, 1);
    if (!records || records->empty()) {
        return std::nullopt;
    }
    const auto record = decode_record(records->front().bytes);
    return record ? std::optional(to_ms(record->meta.received_at)) : std::nullopt;
}

void look_at_disk(const store::StorePaths& paths, QueueFigures& figures) noexcept {
    struct statvfs disk {};
    if (statvfs(paths.root.c_str(), &disk) == 0) {
        figures.disk_free = static_cast<std::uint64_t>(disk.f_bavail) * disk.f_frsize;
        figures.disk_bytes = static_cast<std::uint64_t>(disk.f_blocks) * disk.f_frsize;
    }
}

}  // namespace

StatusSampler::StatusSampler(const MainConf& conf, StoreLink& store, const store::StorePaths& paths,
                             ngx_log_t* log)
    : conf_(conf), store_(store), paths_(paths), log_(log) {
    bind_task(task_, task_ident_, this, &StatusSampler::run, &StatusSampler::on_taken, log);
    bind_event(timer_, ident_, this, &StatusSampler::on_timer, log);
    timer_.cancelable = 1;  // a quitting process does not wait for the timer
}

void StatusSampler::start() noexcept {
    if (conf_.status_locations != 0) {
        if (is_sampler()) {
            begin();
        }
        ngx_add_timer(&timer_, kEveryMs);
    }
}

void StatusSampler::on_timer(ngx_event_t* event) noexcept {
    event->timedout = 0;
    auto& sampler = *static_cast<StatusSampler*>(static_cast<EventIdent*>(event->data)->owner);
    if (sampler.is_sampler()) {
        sampler.begin();
        sampler.offer_history();
    }
    ngx_add_timer(&sampler.timer_, kEveryMs);
}

bool StatusSampler::is_sampler() noexcept {
    return !ngx_exiting &&
           conf_.zone_view.sample->lease.hold(lease_, monotonic_us() / 1000, kLeaseMs);
}

void StatusSampler::begin() noexcept {
    if (in_flight()) {
        return;  // the last sample still waits for the disk
    }
    sample_.queue = store_.queue();
    if (sample_.queue == nullptr) {
        conf_.zone_view.sample->queue.write({});
    }
    // The pool logs that it is full, and the timer tries again.
    static_cast<void>(ngx_thread_task_post(conf_.offload_pool, &task_));
}

/// Runs on the pool's thread.
void StatusSampler::run(void* data, ngx_log_t* log) noexcept {
    guarded(log, [&] { static_cast<StatusSampler*>(data)->take(); });
}

void StatusSampler::take() {
    sample_.figures.reset();
    if (sample_.queue != nullptr) {
        sample_.figures = look_at(*sample_.queue);
    }
    sample_.accounts = busiest_accounts();
}

std::optional<QueueFigures> StatusSampler::look_at(store::Queue& queue) const {
    auto fill = queue.fill_with_lanes();
    if (!fill) {
        fill = queue.fill();  // a lane that cannot be read hides no other figures
    }
    if (!fill) {
        return std::nullopt;
    }
    QueueFigures figures;
    figures.first_seq = fill->first_seq.value;
    figures.last_seq = fill->last_seq.value;
    figures.applied_seq = queue.control().words().applied_seq.load(std::memory_order_relaxed);
    figures.bytes_used = fill->bytes_used;
    figures.bytes_mark = fill->bytes_high_water;
    figures.bytes_map = fill->bytes_map;
    figures.idempotency_rows = fill->idempotency_rows;
    figures.lanes = fill->lanes.lanes;
    figures.lanes_in_use = fill->lanes.in_use;
    figures.lane_records = fill->lanes.records;
    figures.lane_bytes_used = fill->lanes.bytes;
    figures.lane_bytes_all = fill->lanes.bytes_all;
    figures.lane_oldest_ms = fill->lanes.oldest_ns / 1'000'000;
    figures.depth = figures.lane_records;
    if (figures.lane_records != 0) {
        figures.oldest_ms = to_ms(now()) - figures.lane_oldest_ms;
    }
    if (figures.first_seq != 0) {
        const std::uint64_t next = std::max(figures.applied_seq + 1, figures.first_seq);
        const std::uint64_t queued = figures.last_seq >= next ? figures.last_seq - next + 1 : 0;
        figures.depth += queued;
        if (queued != 0) {
            figures.oldest_ms = received_ms(queue, SequenceNumber{next});
        }
    }
    look_at_disk(paths_, figures);
    figures.sampled_ms = to_ms(now());
    return figures;
}

/// Reads the cells of all accounts, which takes hundreds of microseconds for a full zone.
std::vector<AccountUse> StatusSampler::busiest_accounts() const {
    std::vector<AccountUse> found;
    const std::int64_t now = sluice::now().seconds;
    const auto busier = [](const AccountUse& a, const AccountUse& b) {
        return total(a) != total(b) ? total(a) > total(b) : a.slot < b.slot;
    };
    for (std::uint64_t slot = 0; slot < conf_.zone_view.cells_count; ++slot) {
        const AccountCell& cell = conf_.zone_view.cells[slot];
        const RateUse window = rate_use(cell.rate_word.load(std::memory_order_relaxed), now);
        AccountUse use;
        use.slot = static_cast<std::uint32_t>(slot);
        use.used = window.used;
        use.reset_second = window.reset_second;
        use.accepted = cell.accepted.load(std::memory_order_relaxed);
        use.limited = cell.limited.load(std::memory_order_relaxed);
        if (total(use) == 0) {
            continue;
        }
        // The vector is a heap with the least busy account in front.
        found.push_back(use);
        std::push_heap(found.begin(), found.end(), busier);
        if (found.size() > kStatusAccountsMax) {
            std::pop_heap(found.begin(), found.end(), busier);
            found.pop_back();
        }
    }
    std::sort(found.begin(), found.end(), busier);
    return found;
}

void StatusSampler::on_taken(ngx_event_t* event) noexcept {
    auto& sampler = *static_cast<StatusSampler*>(static_cast<EventIdent*>(event->data)->owner);
    guarded(sampler.log_, [&] { sampler.taken(); });
}

void StatusSampler::taken() {
    SharedSample& shared = *conf_.zone_view.sample;
    if (sample_.queue != nullptr && sample_.queue == store_.queue()) {
        shared.queue.write(sample_.figures ? SampledQueue{1, *sample_.figures} : SampledQueue{});
    }
    SampledAccounts busiest;
    for (const AccountUse& use : sample_.accounts) {
        busiest.accounts[busiest.count++] = {use.slot, use.used, use.reset_second, use.accepted,
                                             use.limited};
    }
    shared.accounts.write(busiest);
}

std::optional<QueueFigures> StatusSampler::queue() const noexcept {
    const std::optional<SampledQueue> sampled = conf_.zone_view.sample->queue.read();
    return sampled && sampled->is_open != 0 ? std::optional(sampled->figures) : std::nullopt;
}

std::vector<AccountUse> StatusSampler::accounts() const {
    std::vector<AccountUse> named;
    const SampledAccounts busiest =
        conf_.zone_view.sample->accounts.read().value_or(SampledAccounts{});
    for (std::uint64_t i = 0; i < busiest.count; ++i) {
        const SampledAccount& sampled = busiest.accounts[i];
        AccountUse use;
        use.slot = static_cast<std::uint32_t>(sampled.slot);
        use.used = static_cast<std::uint32_t>(sampled.used);
        use.reset_second = sampled.reset_second;
        use.accepted = sampled.accepted;
        use.limited = sampled.limited;
        name_account(use);
        named.push_back(std::move(use));
    }
    return named;
}

void StatusSampler::name_account(AccountUse& use) const {
    std::optional<RateLimit> own;
    if (store::RegistryReader* registry = store_.registry()) {
        if (const auto account = registry->find_account(AccountSlot{use.slot})) {
            use.account = account->account_id.str();
            own = account->rate_limit;
        }
    }
    use.limit = limit_here(conf_, own).requests;
}

void StatusSampler::offer_history() noexcept {
    const std::optional<QueueFigures> figures = queue();
    const HistoryGauges gauges{figures ? figures->depth : 0};
    conf_.zone_view.history->offer(sum_metrics(conf_.zone_view.all_blocks()), gauges,
                                   to_ms(loop_time()));
}

}  // namespace sluice::ngx
