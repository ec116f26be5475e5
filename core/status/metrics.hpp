// Metrics: the counters of the nginx workers, in shared memory, without a lock.
//
// One MetricsBlock per nginx worker, so that two workers rarely share a cache line; a reader adds
// the blocks up into a MetricsSnapshot. The zone survives a reload while old and new workers count
// in it, so kMetricsLayout names the layout, zeroed memory is its initial state, and it contains
// only lock-free words. All operations are relaxed, because the words are independent: a reader
// may see one request in one counter and not yet in another.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <span>
#include <type_traits>

#include "core/intake/intake.hpp"
#include "core/links/link_result.hpp"

namespace sluice {

inline constexpr std::uint32_t kMetricsLayout = 7;

using Counter = std::atomic<std::uint64_t>;
static_assert(Counter::is_always_lock_free);

/// Includes space for future reasons, so that a new one does not change the layout.
inline constexpr std::size_t kReasonsMax = 48;

// Inclusive upper bounds of the histograms' buckets; one more bucket has no bound.
/// Signature, rate and validation of one request, microseconds.
inline constexpr std::array<std::uint32_t, 13> kCheckBoundsUs{
    2, 5, 10, 20, 50, 100, 200, 500, 1'000, 5'000, 20'000, 100'000, 1'000'000};
/// From the first byte of a request to its answer, milliseconds.
inline constexpr std::array<std::uint32_t, 13> kRequestBoundsMs{
    1, 2, 5, 10, 20, 50, 100, 200, 500, 1'000, 2'000, 5'000, 10'000};
/// One commit: wait for the writer lock, write, both syncs; microseconds.
inline constexpr std::array<std::uint32_t, 17> kCommitBoundsUs{
    20,     50,     100,     200,     500,     1'000,     2'000,     5'000,    10'000,
    20'000, 50'000, 100'000, 200'000, 500'000, 1'000'000, 2'000'000, 5'000'000};
/// Requests that share one commit.
inline constexpr std::array<std::uint32_t, 11> kBatchBounds{1,  2,   4,   8,   16,  32,
                                                            64, 128, 256, 512, 1024};

/// A histogram in shared memory. `Bounds` is one of the arrays above.
template <const auto& Bounds>
struct SharedHistogram {
    std::array<Counter, Bounds.size() + 1> buckets;
    Counter sum;

    void observe(std::uint64_t value) noexcept {
        std::size_t bucket = 0;
        while (bucket < Bounds.size() && value > Bounds[bucket]) {
            ++bucket;
        }
        buckets[bucket].fetch_add(1, std::memory_order_relaxed);
        sum.fetch_add(value, std::memory_order_relaxed);
    }
};

struct EndpointMetrics {
    std::array<Counter, kOutcomes> results;
    std::array<Counter, kReasonsMax> reasons;  ///< Why requests were refused; kNone is not counted.
    Counter body_bytes;                        ///< Bodies that were read.
    Counter records;                           ///< Orders or products that were accepted.
    std::array<Counter, std::size(kSourceNotes)> notes;  ///< Notes of accepted webhooks.
    SharedHistogram<kCheckBoundsUs> check_us;
    SharedHistogram<kRequestBoundsMs> request_ms;
};

/// Clicks that one process has counted and not written, and that process.
struct ClickBufferFigure {
    Counter pid;
    Counter clicks;
};
/// Processes that share a block: generations of a reload that still serve.
inline constexpr std::size_t kClickBuffers = 8;

/// The counters of one nginx worker. Any of its threads may count.
struct alignas(64) MetricsBlock {
    std::array<EndpointMetrics, kEndpoints> endpoints;
    SharedHistogram<kCommitBoundsUs> commit_us;
    SharedHistogram<kBatchBounds> commit_requests;
    Counter offloaded;                        ///< Bodies that were checked on the offload pool.
    std::array<Counter, kLinkResults> links;  ///< Requests for links, by result.
    Counter clicks_lost;                      ///< Counted clicks that could not be written.
    std::array<ClickBufferFigure, kClickBuffers> click_buffers;

    void count_link(LinkResult result) noexcept {
        links[static_cast<std::size_t>(result)].fetch_add(1, std::memory_order_relaxed);
    }
    /// Counts a finished request. `reason` is kNone unless it was refused.
    void count_request(Endpoint endpoint, Outcome outcome, Reason reason,
                       std::uint64_t request_ms) noexcept;
    /// Counts the notes of the translation of a webhook that was accepted.
    void count_notes(Endpoint endpoint, SourceNotes notes) noexcept;
    void count_commit(std::uint64_t microseconds, std::uint64_t requests) noexcept {
        commit_us.observe(microseconds);
        commit_requests.observe(requests);
    }
    [[nodiscard]] EndpointMetrics& of(Endpoint endpoint) noexcept {
        return endpoints[static_cast<std::size_t>(endpoint)];
    }
};
static_assert(std::is_standard_layout_v<MetricsBlock>);
static_assert(std::is_trivially_destructible_v<MetricsBlock>);
static_assert(kReasons <= kReasonsMax);

/// The sum of one histogram over all blocks. buckets[i] counts values <= bounds[i], not cumulative.
struct HistogramValues {
    std::span<const std::uint32_t> bounds;
    std::array<std::uint64_t, 20> buckets{};  ///< bounds.size() + 1 of them are used.
    std::uint64_t sum = 0;
    std::uint64_t count = 0;

    /// Returns the percentile, interpolated within its bucket, or 0 if empty.
    [[nodiscard]] double quantile(double percent) const noexcept;
};

struct EndpointValues {
    std::array<std::uint64_t, kOutcomes> results{};
    std::array<std::uint64_t, kReasonsMax> reasons{};
    std::uint64_t body_bytes = 0;
    std::uint64_t records = 0;
    std::array<std::uint64_t, std::size(kSourceNotes)> notes{};
    HistogramValues check_us;
    HistogramValues request_ms;

    [[nodiscard]] std::uint64_t requests() const noexcept;
    [[nodiscard]] std::uint64_t of(Outcome outcome) const noexcept {
        return results[static_cast<std::size_t>(outcome)];
    }
    [[nodiscard]] std::uint64_t of(Reason reason) const noexcept {
        return reasons[static_cast<std::size_t>(reason)];
    }
};

struct MetricsSnapshot {
    std::array<EndpointValues, kEndpoints> endpoints;
    HistogramValues commit_us;
    HistogramValues commit_requests;
    std::uint64_t offloaded = 0;
    std::array<std::uint64_t, kLinkResults> links{};
    std::uint64_t clicks_lost = 0;
    std::uint64_t clicks_buffered = 0;

    [[nodiscard]] std::uint64_t of(LinkResult result) const noexcept {
        return links[static_cast<std::size_t>(result)];
    }
    [[nodiscard]] const EndpointValues& of(Endpoint endpoint) const noexcept {
        return endpoints[static_cast<std::size_t>(endpoint)];
    }
};

/// Adds the blocks up. Reads some hundred words per block; allocates nothing.
[[nodiscard]] MetricsSnapshot sum_metrics(std::span<const MetricsBlock> blocks) noexcept;

}  // namespace sluice
