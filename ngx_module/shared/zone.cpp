#include "ngx_module/shared/zone.hpp"

#include <new>
#include <type_traits>

#include "ngx_module/nginx/event_loop.hpp"

namespace sluice::ngx {
namespace {

constexpr std::uint64_t kMagic = 0x31656e6f7a6c5321;  // "!Slzone1"
constexpr std::size_t kBlocks = 32;

constexpr std::size_t kHeaderBytes = (sizeof(ZoneHeader) + 63) / 64 * 64;
constexpr std::size_t kHistoryBytes = (sizeof(SharedHistory) + 63) / 64 * 64;
constexpr std::size_t kSampleAt = kHeaderBytes + kHistoryBytes;
constexpr std::size_t kBlocksAt = kSampleAt + sizeof(SharedSample);
constexpr std::size_t kFailuresAt = kBlocksAt + kBlocks * sizeof(MetricsBlock);
constexpr std::size_t kFixedBytes = kFailuresAt + sizeof(FailureWords);

/// The second part changes with the size of any figure.
constexpr std::uint32_t kLayout = (4U << 24) + std::uint32_t{kFixedBytes};
static_assert(kFixedBytes < 1U << 24);
static_assert(std::is_trivially_destructible_v<AccountCell> &&
              std::is_trivially_destructible_v<SharedSample> &&
              std::is_trivially_destructible_v<FailureWords>);
static_assert(kSampleAt % 64 == 0 && kFixedBytes % 64 == 0 && sizeof(AccountCell) == 64);
static_assert(std::is_standard_layout_v<AccountCell> && std::is_standard_layout_v<ZoneHeader>);

void set_view(ZoneHeader* header, ZoneView& view) noexcept {
    auto* bytes = reinterpret_cast<u_char*>(header);
    view.header = header;
    view.history = reinterpret_cast<SharedHistory*>(bytes + kHeaderBytes);
    view.sample = reinterpret_cast<SharedSample*>(bytes + kSampleAt);
    view.blocks = reinterpret_cast<MetricsBlock*>(bytes + kBlocksAt);
    view.failures = reinterpret_cast<FailureWords*>(bytes + kFailuresAt);
    view.cells = reinterpret_cast<AccountCell*>(bytes + kFixedBytes);
    view.cells_count = header->cells_count;
}

void create(ngx_slab_pool_t* pool, ZoneView& view) noexcept {
    const std::size_t free_bytes = pool->pfree * ngx_pagesize;
    if (free_bytes <= kFixedBytes) {
        return;
    }
    // One block of all pages. Zeroed memory is the initial state of every counter.
    void* memory = ngx_slab_calloc(pool, free_bytes);
    if (memory == nullptr) {
        return;
    }
    auto* header = new (memory) ZoneHeader{};
    header->magic = kMagic;
    header->layout = kLayout;
    header->metrics_layout = kMetricsLayout;
    header->blocks_count = kBlocks;
    header->cells_count = (free_bytes - kFixedBytes) / sizeof(AccountCell);
    header->created_second = loop_time().seconds;
    pool->data = header;
    set_view(header, view);
}

}  // namespace

std::size_t zone_bytes_for(std::uint64_t accounts) noexcept {
    const std::size_t pages = (kFixedBytes + accounts * sizeof(AccountCell)) / ngx_pagesize + 1;
    // nginx's slab allocator needs its own head and a descriptor for each page.
    const std::size_t overhead = pages * sizeof(ngx_slab_page_t) + 3 * ngx_pagesize;
    constexpr std::size_t kMegabyte = 1 << 20;
    return (pages * ngx_pagesize + overhead + kMegabyte - 1) / kMegabyte * kMegabyte;
}

bool attach_zone(ngx_shm_zone_t* zone, ZoneView& view) noexcept {
    auto* pool = reinterpret_cast<ngx_slab_pool_t*>(zone->shm.addr);
    view = {};
    if (pool->data == nullptr) {
        create(pool, view);
        return true;
    }
    auto* header = static_cast<ZoneHeader*>(pool->data);
    if (header->magic != kMagic || header->layout != kLayout ||
        header->metrics_layout != kMetricsLayout || header->blocks_count != kBlocks) {
        return false;
    }
    set_view(header, view);
    return true;
}

}  // namespace sluice::ngx
