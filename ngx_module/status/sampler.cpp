#include "ngx_module/status/sampler.hpp"

#include <sys/statvfs.h>

#include <algorithm>

#include "core/intake/rate_window.hpp"
#include "core/protocol/record.hpp"
#include "os/clock/clock.hpp"

namespace sluice::ngx {
namespace {

std::uint64_t total(const AccountFigures& use) noexcept {
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

void examine_disk(const store::StorePaths& paths, QueueFigures& figures) noexcept {
    struct statvfs disk {};
    if (statvfs(paths.root.c_str(), &disk) == 0) {
        figures.disk_free = static_cast<std::uint64_t>(disk.f_bavail) * disk.f_frsize;
        figures.disk_bytes = static_cast<std::uint64_t>(disk.f_blocks) * disk.f_frsize;
    }
}

}  // namespace

StatusSampler::StatusSampler(const MainConf& conf, StoreLink& store, const store::StorePaths& paths,
                             ngx_log_t* log)
    : conf_(conf), store_(store), paths_(paths) {
    bind_task<&StatusSampler::run, &StatusSampler::taken>(task_, task_ident_, this, "a sample",
                                                          log);
    bind_event<&StatusSampler::on_timer>(timer_, ident_, this, log);
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

void StatusSampler::on_timer() noexcept {
    if (is_sampler()) {
        begin();
        offer_history();
    }
    ngx_add_timer(&timer_, kEveryMs);
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
void StatusSampler::run(ngx_log_t* log) noexcept {
    guarded(log, [&] {
        sample_.figures.reset();
        if (sample_.queue != nullptr) {
            sample_.figures = examine(*sample_.queue);
        }
        sample_.accounts = busiest_accounts();
    });
}

std::optional<QueueFigures> StatusSampler::examine(store::Queue& queue) const {
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
    figures.idempotency_rows_max = fill->idempotency_rows_max;
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
    examine_disk(paths_, figures);
    figures.sampled_ms = to_ms(now());
    return figures;
}

/// Reads the cells of all accounts, which takes hundreds of microseconds for a full zone.
SampledAccounts StatusSampler::busiest_accounts() const noexcept {
    SampledAccounts found;
    const std::int64_t now = sluice::now().seconds;
    const auto busier = [](const AccountFigures& a, const AccountFigures& b) {
        return total(a) != total(b) ? total(a) > total(b) : a.slot < b.slot;
    };
    for (std::uint64_t slot = 0; slot < conf_.zone_view.cells_count; ++slot) {
        const AccountCell& cell = conf_.zone_view.cells[slot];
        const RateUse window = rate_use(cell.rate_word.load(std::memory_order_relaxed), now);
        const AccountFigures use{slot, window.used, window.reset_second,
                                 cell.accepted.load(std::memory_order_relaxed),
                                 cell.limited.load(std::memory_order_relaxed)};
        // The list is a heap with the least busy account in front.
        const auto begin = found.accounts.begin();
        if (total(use) == 0) {
            continue;
        }
        if (found.count == found.accounts.size()) {
            if (!busier(use, *begin)) {
                continue;
            }
            std::pop_heap(begin, begin + found.count--, busier);
        }
        found.accounts[found.count++] = use;
        std::push_heap(begin, begin + found.count, busier);
    }
    std::sort(found.accounts.begin(), found.accounts.begin() + found.count, busier);
    return found;
}

void StatusSampler::taken() noexcept {
    SharedSample& shared = *conf_.zone_view.sample;
    if (sample_.queue != nullptr && sample_.queue == store_.queue()) {
        shared.queue.write(sample_.figures ? SampledQueue{1, *sample_.figures} : SampledQueue{});
    }
    shared.accounts.write(sample_.accounts);
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
        name_account(named.emplace_back(AccountUse{busiest.accounts[i], {}, 0}));
    }
    return named;
}

void StatusSampler::name_account(AccountUse& use) const {
    std::optional<RateLimit> own;
    if (store::RegistryReader* registry = store_.registry()) {
        if (const auto account =
                registry->find_account(AccountSlot{static_cast<std::uint32_t>(use.slot)})) {
            use.account = account->account_id.str();
            own = account->rate_limit;
        }
    }
    use.limit = limit_here(conf_, own).requests;
}

void StatusSampler::offer_history() noexcept {
    const std::optional<QueueFigures> figures = queue();
    conf_.zone_view.history->offer(sum_metrics(conf_.zone_view.all_blocks()),
                                   figures ? figures->depth : 0, to_ms(loop_time()));
}

}  // namespace sluice::ngx
