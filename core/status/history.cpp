#include "core/status/history.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

namespace sluice {
namespace {

using PointWords = std::array<std::uint64_t, sizeof(HistoryPoint) / sizeof(std::uint64_t)>;
static_assert(std::is_trivially_copyable_v<HistoryPoint>);

std::uint64_t exchange_for_difference(Counter& last, std::uint64_t now) noexcept {
    const std::uint64_t before = last.exchange(now, std::memory_order_relaxed);
    return now >= before ? now - before : 0;
}

std::uint64_t failed(const EndpointValues& values) noexcept {
    return values.of(Outcome::kUnavailable) + values.of(Outcome::kError);
}

std::uint64_t refused(const EndpointValues& values) noexcept {
    return values.requests() - failed(values) - values.of(Outcome::kAccepted) -
           values.of(Outcome::kReplayed) - values.of(Outcome::kDryRun) -
           values.of(Outcome::kIgnored) - values.of(Outcome::kPing) -
           values.of(Outcome::kUntranslated);
}

}  // namespace

HistoryPoint SharedHistory::since_last(const MetricsSnapshot& metrics) noexcept {
    const EndpointValues& catalog = metrics.of(Endpoint::kCatalog);
    const auto of_all = [&metrics](auto count) {
        std::uint64_t sum = 0;
        for (const EndpointValues& values : metrics.endpoints) {
            sum += count(values);
        }
        return sum;
    };
    const auto of_reason = [&of_all](Reason reason) {
        return of_all([reason](const EndpointValues& values) { return values.of(reason); });
    };
    const std::uint64_t accepted =
        of_all([](const EndpointValues& values) { return values.of(Outcome::kAccepted); });
    HistoryPoint point;
    point.accepted_events = exchange_for_difference(
        totals_.requests[0], accepted - catalog.of(Outcome::kAccepted));  // webhooks are orders
    point.accepted_catalog =
        exchange_for_difference(totals_.requests[1], catalog.of(Outcome::kAccepted));
    point.refused = exchange_for_difference(
        totals_.requests[2], of_all([](const EndpointValues& values) { return refused(values); }));
    point.failed = exchange_for_difference(
        totals_.requests[3], of_all([](const EndpointValues& values) { return failed(values); }));
    point.address_limited =
        exchange_for_difference(totals_.requests[4], of_reason(Reason::kAddressLimited));
    point.limited_before =
        exchange_for_difference(totals_.requests[5], of_reason(Reason::kLimitedBefore));

    HistogramValues commits = metrics.commit_us;
    commits.count = 0;
    for (std::size_t i = 0; i < totals_.commit_buckets.size(); ++i) {
        commits.buckets[i] =
            exchange_for_difference(totals_.commit_buckets[i], metrics.commit_us.buckets[i]);
        commits.count += commits.buckets[i];
    }
    point.commits = commits.count;
    point.commit_p50_us = static_cast<std::uint64_t>(std::llround(commits.quantile(50)));
    point.commit_p99_us = static_cast<std::uint64_t>(std::llround(commits.quantile(99)));
    return point;
}

bool SharedHistory::offer(const MetricsSnapshot& metrics, std::uint64_t queue_depth,
                          std::uint64_t now_ms) noexcept {
    std::uint64_t last = last_ms_.load(std::memory_order_relaxed);
    // The clock stepped back by more than a period: continue from the new time.
    if (now_ms < last + kHistoryPeriodMs && last < now_ms + kHistoryPeriodMs) {
        return false;
    }
    if (!last_ms_.compare_exchange_strong(last, now_ms, std::memory_order_acq_rel)) {
        return false;
    }
    HistoryPoint point = since_last(metrics);
    if (last == 0) {
        point = HistoryPoint{};
    }
    point.time_ms = now_ms;
    point.span_ms = last == 0 || now_ms < last ? 0 : now_ms - last;
    point.queue_depth = queue_depth;

    const auto words = std::bit_cast<PointWords>(point);
    const std::uint64_t number = written_.load(std::memory_order_relaxed);
    Words& place = points_[number % kHistoryPoints];
    for (std::size_t i = 0; i < kFields; ++i) {
        place[i].store(words[i], std::memory_order_relaxed);
    }
    // Release, so that a reader that sees the new number also sees the point.
    written_.store(number + 1, std::memory_order_release);
    return true;
}

void SharedHistory::read(std::vector<HistoryPoint>& points) const {
    points.clear();
    const std::uint64_t end = written_.load(std::memory_order_acquire);
    // Skip one place, which may be overwritten during the read.
    const std::uint64_t count = std::min<std::uint64_t>(end, kHistoryPoints - 1);
    points.reserve(count);
    for (std::uint64_t number = end - count; number < end; ++number) {
        const Words& place = points_[number % kHistoryPoints];
        PointWords words;
        for (std::size_t i = 0; i < kFields; ++i) {
            words[i] = place[i].load(std::memory_order_relaxed);
        }
        points.push_back(std::bit_cast<HistoryPoint>(words));
    }
}

}  // namespace sluice
