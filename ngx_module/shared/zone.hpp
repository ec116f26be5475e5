// The shared zone: rate words and counters of all worker processes. No lock; survives reload.
//
// The layout (ZoneHeader, history, sample, one MetricsBlock per worker number, failure words,
// account cells) is fixed when the zone is created, because workers of two configurations use it at
// the same time.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>

#include "core/status/history.hpp"
#include "core/status/metrics.hpp"
#include "core/status/report.hpp"
#include "core/status/seqlock.hpp"
#include "core/values/ids.hpp"
#include "ngx_module/nginx/ngx_api.hpp"

namespace sluice::ngx {

/// One account, by its slot. It has its own cache line, because every worker counts in it.
struct alignas(64) AccountCell {
    std::atomic<std::uint64_t> rate_word;  ///< core/intake/rate_window.hpp
    Counter accepted;
    Counter limited;
};

struct SampledAccounts {
    std::uint64_t count = 0;
    std::array<AccountFigures, kStatusAccountsMax> accounts{};
};
struct SampledQueue {
    std::uint64_t is_open = 0;  ///< 0 if the figures are unknown.
    QueueFigures figures;
};

/// Rate words (core/intake/rate_window.hpp) of the addresses that fail to authenticate, by the hash
/// of the address. Addresses with the same hash share a window. That only answers a failure with
/// 429 earlier, because a request that authenticates is not counted and not limited here; so
/// nothing is searched, evicted or locked.
struct FailureWords {
    static constexpr std::size_t kWords = std::size_t{1} << 14;

    [[nodiscard]] Counter& of(std::uint32_t hash) noexcept { return words[hash % kWords]; }

    std::array<Counter, kWords> words;
};

/// Figures that one worker samples for all workers.
struct alignas(64) SharedSample {
    Lease lease;  ///< Which one.
    Seqlock<SampledQueue> queue;
    Seqlock<SampledAccounts> accounts;
};

struct ZoneHeader {
    std::uint64_t magic;
    std::uint32_t layout;
    std::uint32_t metrics_layout;
    std::uint64_t blocks_count;
    std::uint64_t cells_count;
    std::int64_t created_second;  ///< Since when the counters count.
};

/// The zone as this process sees it. A plain struct, because it is part of MainConf.
struct ZoneView {
    ZoneHeader* header;
    SharedHistory* history;
    SharedSample* sample;
    MetricsBlock* blocks;
    FailureWords* failures;
    AccountCell* cells;
    std::uint64_t cells_count;

    [[nodiscard]] std::span<const MetricsBlock> all_blocks() const noexcept {
        return {blocks, header->blocks_count};
    }
    /// @param worker  nginx's number of the worker process. Higher numbers share blocks.
    [[nodiscard]] MetricsBlock& block_of(ngx_uint_t worker) const noexcept {
        return blocks[worker % header->blocks_count];
    }
    /// Returns nullptr for a slot beyond the zone, if max_accounts grew without a reload.
    [[nodiscard]] AccountCell* cell_of(AccountSlot slot) const noexcept {
        return slot.value < cells_count ? &cells[slot.value] : nullptr;
    }
};

/// Returns the size to configure for `accounts` cells, in whole megabytes.
[[nodiscard]] std::size_t zone_bytes_for(std::uint64_t accounts) noexcept;

/// Creates the layout in a new zone, with as many cells as fit, or uses the existing layout.
/// Returns false if the layout is that of another version of the module.
[[nodiscard]] bool attach_zone(ngx_shm_zone_t* zone, ZoneView& view) noexcept;

}  // namespace sluice::ngx
