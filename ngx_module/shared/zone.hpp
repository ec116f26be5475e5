// The shared zone: rate words and counters of all worker processes. No lock; survives reload.
//
// Layout (ZoneHeader, history, one MetricsBlock per worker number, account cells) is fixed when the
// zone is created: the workers of an old and a new configuration use it at the same time.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>

#include "core/status/history.hpp"
#include "core/status/metrics.hpp"
#include "core/values/ids.hpp"
#include "ngx_module/nginx/ngx_api.hpp"

namespace sluice::ngx {

/// One account, by its slot.
struct AccountCell {
    std::atomic<std::uint64_t> rate_word;  ///< core/intake/rate_word.hpp
    Counter accepted;
    Counter limited;
};

struct ZoneHeader {
    std::uint64_t magic;
    std::uint32_t layout;
    std::uint32_t metrics_layout;
    std::uint64_t blocks_count;
    std::uint64_t cells_count;
    std::int64_t created_second;  ///< Since when the counters count.
};

/// The zone as this process sees it. Plain: part of MainConf.
struct ZoneView {
    ZoneHeader* header;
    SharedHistory* history;
    MetricsBlock* blocks;
    AccountCell* cells;
    std::uint64_t cells_count;

    [[nodiscard]] std::span<const MetricsBlock> all_blocks() const noexcept {
        return {blocks, header->blocks_count};
    }
    /// @param worker  nginx's number of the worker process; above the blocks they are shared.
    [[nodiscard]] MetricsBlock& block_of(ngx_uint_t worker) const noexcept {
        return blocks[worker % header->blocks_count];
    }
    /// nullptr: the slot lies beyond the zone (max_accounts grew without a reload).
    [[nodiscard]] AccountCell* cell_of(AccountSlot slot) const noexcept {
        return slot.value < cells_count ? &cells[slot.value] : nullptr;
    }
};

/// Bytes to configure so that `accounts` cells fit, in whole megabytes.
[[nodiscard]] std::size_t zone_bytes_for(std::uint64_t accounts) noexcept;

/// Creates the layout in a fresh zone (as many cells as fit, perhaps none), or adopts the one that
/// is there.
/// @return false: another version of the module laid it out.
[[nodiscard]] bool attach_zone(ngx_shm_zone_t* zone, ZoneView& view) noexcept;

}  // namespace sluice::ngx
