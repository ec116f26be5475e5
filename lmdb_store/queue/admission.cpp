#include "lmdb_store/queue/admission.hpp"

#include "lmdb_store/environment/reaction.hpp"
#include "os/clock/clock.hpp"

namespace sluice::store {
namespace {

constexpr std::int64_t kCountEveryNsMax = 20'000'000;
constexpr std::int64_t kCountShare = 50;  ///< Counting takes at most this part of the time.
constexpr std::int64_t kClearReadersEveryNs = 1'000'000'000;
constexpr std::int64_t kRetryFullMs = 20;
constexpr std::int64_t kStaleMs = 3000;
/// A file that ends this close to the mark may have less room behind its end than a record takes,
/// and much more in its free pages. A body of this size has a file of its own. Where the free pages
/// are few, a count of a moment ago would let records in beyond the mark.
constexpr std::uint64_t kNearTheMark = 1U << 20;

struct FileUse {
    std::uint64_t bytes_to_last_page = 0;
    std::uint64_t bytes_map = 0;
    std::uint64_t txn_id = 0;
};

FileUse use_of(const Environment& env) noexcept {
    const MDB_envinfo info = env.info();
    return {(info.me_last_pgno + 1) * env.page_bytes(), info.me_mapsize, info.me_last_txnid};
}

/// Returns the room below `limit`, in bytes. Room for hardly any record counts as none, so that
/// admission closes for all records.
std::uint64_t room_below(std::uint64_t limit, std::uint64_t used) noexcept {
    constexpr std::uint64_t kRoomMin = 64U << 10;
    return used + kRoomMin < limit ? limit - used : 0;
}

}  // namespace

std::uint64_t Admission::cost_of(std::uint64_t record_bytes, std::uint64_t page_bytes) noexcept {
    // A record that shares a page leaves some of it empty, and a page of the tree above is copied.
    constexpr std::uint64_t kNodeBytes = 32;
    const std::uint64_t bytes = record_bytes + kNodeBytes;
    return bytes < page_bytes / 2 ? bytes * 2
                                  : (bytes + page_bytes - 1) / page_bytes * page_bytes + kNodeBytes;
}

std::uint64_t Admission::measure(Environment& env) noexcept {
    const FileUse file = use_of(env);
    const std::uint64_t limit = high_water(file.bytes_map);
    std::uint64_t room = room_below(limit, file.bytes_to_last_page);
    bool half_full = file.bytes_to_last_page >= limit / 2;
    if (half_full) {  // unless the file has free pages
        const std::lock_guard lock(mutex_);
        const bool at_the_mark = room == 0;
        if (at_the_mark && !counted_at_the_mark_) {
            counted_at_ns_ = 0;  // at the mark, a count of some time ago lets too many records in
        }
        counted_at_the_mark_ = at_the_mark;
        const std::uint64_t counted = counted_room(env, limit);
        half_full = counted <= limit / 2;
        const bool is_mostly_free = room < kNearTheMark && counted > 2 * kNearTheMark;
        room = at_the_mark || is_mostly_free ? counted : room;
    }
    half_full_.store(half_full);
    if (room == 0) {
        close(AppendOutcome::kFull, kRetryFullMs, file.txn_id);
    } else if (reason_.load() == AppendOutcome::kFull) {
        reason_.store(AppendOutcome::kPending);
    }
    return room;
}

/// Counts the free pages, unless they were counted a moment ago. Requires: the mutex is held.
std::uint64_t Admission::counted_room(Environment& env, std::uint64_t high_water) noexcept {
    const std::int64_t now = static_cast<std::int64_t>(monotonic_ns());
    if (now - counted_at_ns_ < std::min(count_took_ns_ * kCountShare, kCountEveryNsMax)) {
        return room_counted_;
    }
    PageUse use;
    room_counted_ = count_page_use(env, use) == 0 ? room_below(high_water, use.bytes_used) : 0;
    // Snapshots of dead processes may hold the pages.
    if (room_counted_ == 0 && now - cleared_at_ns_ >= kClearReadersEveryNs) {
        cleared_at_ns_ = now;
        if (env.clear_stale_readers() > 0 && count_page_use(env, use) == 0) {
            room_counted_ = room_below(high_water, use.bytes_used);
        }
    }
    counted_at_ns_ = static_cast<std::int64_t>(monotonic_ns());
    count_took_ns_ = counted_at_ns_ - now;
    return room_counted_;
}

void Admission::took(std::uint64_t cost_bytes) noexcept {
    const std::lock_guard lock(mutex_);
    room_counted_ = room_below(room_counted_, cost_bytes);
}

void Admission::saw_map_full(Environment& env) noexcept {
    env.clear_stale_readers();
    close(AppendOutcome::kFull, kRetryFullMs, use_of(env).txn_id);
}

void Admission::saw_disk_full() noexcept {
    close(AppendOutcome::kNoSpace, 0, 0);  // until check_again()
}

void Admission::saw_success() noexcept {
    if (reason_.load() != AppendOutcome::kPending) {
        reason_.store(AppendOutcome::kPending);
    }
}

void Admission::close(AppendOutcome reason, std::int64_t retry_after_ms,
                      std::uint64_t txn_id) noexcept {
    closed_at_txn_.store(txn_id);
    retry_at_ms_.store(coarse_ms() + retry_after_ms);
    reason_.store(reason);
}

void Admission::check_again(Environment& env) noexcept {
    const AppendOutcome reason = reason_.load();
    if (reason == AppendOutcome::kFull) {
        static_cast<void>(measure(env));
    } else if (reason == AppendOutcome::kNoSpace && !disk_is_full(folder_)) {
        saw_success();
    }
    if (half_full_.load()) {  // a process that stores nothing meanwhile would not see the end of it
        static_cast<void>(measure(env));
    }
}

std::optional<AppendOutcome> Admission::closed(const Environment& env) const noexcept {
    const AppendOutcome reason = reason_.load();
    if (reason == AppendOutcome::kPending) {
        return std::nullopt;
    }
    const std::int64_t overdue_ms = coarse_ms() - retry_at_ms_.load();
    if (reason != AppendOutcome::kFull || overdue_ms < 0) {
        return reason;
    }
    const bool unchanged = use_of(env).txn_id == closed_at_txn_.load();
    return unchanged && overdue_ms < kStaleMs ? std::optional(reason) : std::nullopt;
}

}  // namespace sluice::store
