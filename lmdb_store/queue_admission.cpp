#include "lmdb_store/queue_admission.hpp"

#include <cstring>
#include <ctime>

namespace sluice::store {
namespace {

constexpr std::int64_t kCountEveryMs = 20;
constexpr MDB_dbi kFreeList = 0;  ///< LMDB's own number for it.

std::int64_t monotonic_ms() noexcept {
    timespec now{};
    clock_gettime(CLOCK_MONOTONIC, &now);
    return static_cast<std::int64_t>(now.tv_sec) * 1000 + now.tv_nsec / 1'000'000;
}

std::uint64_t bytes_up_to_last_page(Environment& env, std::uint64_t& map_bytes) noexcept {
    MDB_envinfo info{};
    mdb_env_info(env.get(), &info);
    map_bytes = info.me_mapsize;
    return (info.me_last_pgno + 1) * env.page_bytes();
}

/// So little that hardly anything fits is none: admission is then closed for everybody alike.
std::uint64_t room_below(std::uint64_t mark, std::uint64_t used) noexcept {
    constexpr std::uint64_t kRoomMin = 64U << 10;
    return used + kRoomMin < mark ? mark - used : 0;
}

/// Each value of the free list begins with how many page numbers follow.
int count_free_pages(const Txn& txn, std::uint64_t& pages) noexcept {
    Cursor cursor;
    int rc = cursor.open(txn, kFreeList);
    MDB_val key{};
    MDB_val value{};
    pages = 0;
    for (MDB_cursor_op move = MDB_FIRST; rc == 0 && (rc = cursor.read(key, value, move)) == 0;
         move = MDB_NEXT) {
        std::size_t count = 0;
        std::memcpy(&count, value.mv_data, sizeof(count));
        pages += count;
    }
    return rc == MDB_NOTFOUND ? 0 : rc;
}

}  // namespace

int count_page_use(Environment& env, PageUse& use) noexcept {
    ReadTxn txn;
    int rc = txn.begin(env);
    std::uint64_t free_pages = 0;
    if (rc != 0 || (rc = count_free_pages(txn, free_pages)) != 0) {
        return rc;
    }
    const std::uint64_t all = bytes_up_to_last_page(env, use.bytes_map);
    const std::uint64_t free_bytes = free_pages * env.page_bytes();
    use.bytes_used = all > free_bytes ? all - free_bytes : 0;
    return 0;
}

std::uint64_t Admission::cost_of(std::uint64_t record_bytes, std::uint64_t page_bytes) noexcept {
    // A record that shares its page leaves some of it empty; a page of the tree above it is moved.
    constexpr std::uint64_t kNodeBytes = 32;
    const std::uint64_t bytes = record_bytes + kNodeBytes;
    return bytes < page_bytes / 2 ? bytes * 2
                                  : (bytes + page_bytes - 1) / page_bytes * page_bytes + kNodeBytes;
}

std::uint64_t Admission::room(Environment& env) noexcept {
    std::uint64_t map_bytes = 0;
    const std::uint64_t all = bytes_up_to_last_page(env, map_bytes);
    const std::uint64_t mark = mark_of(map_bytes);
    const std::lock_guard lock(mutex_);
    const std::int64_t now_ms = monotonic_ms();
    if (counted_at_ms_ == 0 && room_below(mark, all) > 0) {
        return room_below(mark, all);
    }
    if (counted_at_ms_ == 0 || now_ms - counted_at_ms_ >= kCountEveryMs) {
        PageUse use;
        room_counted_ =
            count_page_use(env, use) == 0 && use.bytes_used < mark ? mark - use.bytes_used : 0;
        counted_at_ms_ = room_below(mark, all) > 0 && room_counted_ > 0 ? 0 : now_ms;
    }
    return room_counted_;
}

void Admission::took(std::uint64_t cost_bytes) noexcept {
    const std::lock_guard lock(mutex_);
    room_counted_ = room_below(room_counted_, cost_bytes);
}

void Admission::saw_full() noexcept {
    const std::lock_guard lock(mutex_);
    counted_at_ms_ = monotonic_ms();
    room_counted_ = 0;
}

}  // namespace sluice::store
