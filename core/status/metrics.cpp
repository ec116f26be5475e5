#include "core/status/metrics.hpp"

#include <numeric>

namespace sluice {
namespace {

std::uint64_t read(const Counter& counter) noexcept {
    return counter.load(std::memory_order_relaxed);
}

template <const auto& Bounds>
void add(HistogramValues& sum, const SharedHistogram<Bounds>& shared) noexcept {
    static_assert(Bounds.size() + 1 <= std::tuple_size_v<decltype(sum.buckets)>);
    sum.bounds = Bounds;
    for (std::size_t i = 0; i < shared.buckets.size(); ++i) {
        const std::uint64_t value = read(shared.buckets[i]);
        sum.buckets[i] += value;
        sum.count += value;
    }
    sum.sum += read(shared.sum);
}

void add(EndpointValues& sum, const EndpointMetrics& shared) noexcept {
    for (std::size_t i = 0; i < kOutcomes; ++i) {
        sum.results[i] += read(shared.results[i]);
    }
    for (std::size_t i = 0; i < kReasonsMax; ++i) {
        sum.reasons[i] += read(shared.reasons[i]);
    }
    sum.body_bytes += read(shared.body_bytes);
    sum.records += read(shared.records);
    for (std::size_t i = 0; i < sum.notes.size(); ++i) {
        sum.notes[i] += read(shared.notes[i]);
    }
    add(sum.check_us, shared.check_us);
    add(sum.request_ms, shared.request_ms);
}

}  // namespace

void MetricsBlock::count_request(Endpoint endpoint, Outcome outcome, Reason reason,
                                 std::uint64_t request_ms) noexcept {
    EndpointMetrics& metrics = of(endpoint);
    metrics.results[static_cast<std::size_t>(outcome)].fetch_add(1, std::memory_order_relaxed);
    if (reason != Reason::kNone) {
        metrics.reasons[static_cast<std::size_t>(reason)].fetch_add(1, std::memory_order_relaxed);
    }
    metrics.request_ms.observe(request_ms);
}

void MetricsBlock::count_notes(Endpoint endpoint, SourceNotes notes) noexcept {
    for (std::size_t i = 0; i < std::size(kSourceNotes); ++i) {
        if (notes.has(kSourceNotes[i])) {
            of(endpoint).notes[i].fetch_add(1, std::memory_order_relaxed);
        }
    }
}

double HistogramValues::quantile(double percent) const noexcept {
    const double wanted = static_cast<double>(count) * percent / 100;
    double below = 0;
    for (std::size_t i = 0; i < bounds.size(); ++i) {
        const auto here = static_cast<double>(buckets[i]);
        if (here > 0 && below + here >= wanted) {
            const double low = i == 0 ? 0 : bounds[i - 1];
            return low + (bounds[i] - low) * ((wanted - below) / here);
        }
        below += here;
    }
    return count == 0 || bounds.empty() ? 0 : bounds.back();
}

std::uint64_t EndpointValues::requests() const noexcept {
    return std::accumulate(results.begin(), results.end(), std::uint64_t{0});
}

MetricsSnapshot sum_metrics(std::span<const MetricsBlock> blocks) noexcept {
    MetricsSnapshot sum;
    for (const MetricsBlock& block : blocks) {
        for (std::size_t i = 0; i < kEndpoints; ++i) {
            add(sum.endpoints[i], block.endpoints[i]);
        }
        add(sum.commit_us, block.commit_us);
        add(sum.commit_requests, block.commit_requests);
        sum.offloaded += read(block.offloaded);
        for (std::size_t i = 0; i < kLinkResults; ++i) {
            sum.links[i] += read(block.links[i]);
        }
        sum.clicks_lost += read(block.clicks_lost);
        for (const ClickBufferFigure& buffer : block.click_buffers) {
            sum.clicks_buffered += read(buffer.clicks);
        }
    }
    return sum;
}

}  // namespace sluice
