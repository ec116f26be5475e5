#include "lmdb_store/queue/admission.hpp"

#include <fcntl.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <limits>

#include "os/clock/clock.hpp"
#include "os/files/file_io.hpp"

namespace sluice::store {
namespace {

constexpr std::int64_t kCountEveryNsMax = 20'000'000;
constexpr std::int64_t kCountShare = 50;  ///< Counting takes at most one in so many nanoseconds.
constexpr std::int64_t kClearReadersEveryNs = 1'000'000'000;
constexpr std::int64_t kRetryFullMs = 20;
constexpr std::int64_t kRetryDiskMs = 100;
constexpr std::int64_t kStaleMs = 3000;
constexpr std::uint64_t kDiskRoomMin = 1U << 20;
constexpr MDB_dbi kFreeList = 0;  ///< LMDB's own number for it.

struct FileUse {
    std::uint64_t bytes_to_last_page = 0;
    std::uint64_t bytes_map = 0;
    std::uint64_t txn_id = 0;
};

FileUse look_at(const Environment& env) noexcept {
    const MDB_envinfo info = env.info();
    return {(info.me_last_pgno + 1) * env.page_bytes(), info.me_mapsize, info.me_last_txnid};
}

/// Room in which hardly any record fits counts as none: admission then closes for all of them.
std::uint64_t room_below(std::uint64_t mark, std::uint64_t used) noexcept {
    constexpr std::uint64_t kRoomMin = 64U << 10;
    return used + kRoomMin < mark ? mark - used : 0;
}

/// One line of mdb_reader_list(): process, thread in hex, snapshot (or `-`).
int see_reader(const char* line, void* context) noexcept {
    const std::string_view text(line);
    const std::size_t last_space = text.find_last_of(' ');
    std::uint64_t snapshot = 0;
    if (last_space != std::string_view::npos &&
        std::from_chars(text.data() + last_space + 1, text.data() + text.size(), snapshot).ec ==
            std::errc{}) {
        auto& oldest = *static_cast<std::uint64_t*>(context);
        oldest = std::min(oldest, snapshot);
    }
    return 0;
}

/// Each value of the free list begins with how many page numbers follow; its key is the transaction
/// that freed them. Snapshots before that one still read them.
int count_free_pages(const Environment& env, const Txn& txn, std::uint64_t& pages) noexcept {
    std::uint64_t oldest = txn.id();
    mdb_reader_list(env.get(), &see_reader, &oldest);
    Cursor cursor;
    int rc = cursor.open(txn, kFreeList);
    MDB_val key{};
    MDB_val value{};
    pages = 0;
    for (MDB_cursor_op move = MDB_FIRST; rc == 0 && (rc = cursor.read(key, value, move)) == 0;
         move = MDB_NEXT) {
        std::uint64_t freed_by = 0;
        std::uint64_t count = 0;
        std::memcpy(&freed_by, key.mv_data, std::min(key.mv_size, sizeof(freed_by)));
        std::memcpy(&count, value.mv_data, std::min(value.mv_size, sizeof(count)));
        if (freed_by > oldest) {
            break;
        }
        pages += count;
    }
    return rc == MDB_NOTFOUND ? 0 : rc;
}

}  // namespace

int count_page_use(Environment& env, PageUse& use) noexcept {
    ReadTxn txn;
    int rc = txn.begin(env);
    std::uint64_t free_pages = 0;
    if (rc != 0 || (rc = count_free_pages(env, txn, free_pages)) != 0) {
        return rc;
    }
    const FileUse file = look_at(env);
    const std::uint64_t free_bytes = free_pages * env.page_bytes();
    use.bytes_map = file.bytes_map;
    use.bytes_used = file.bytes_to_last_page - std::min(file.bytes_to_last_page, free_bytes);
    return 0;
}

std::uint64_t Admission::cost_of(std::uint64_t record_bytes, std::uint64_t page_bytes) noexcept {
    // A record that shares its page leaves some of it empty; a page of the tree above it is moved.
    constexpr std::uint64_t kNodeBytes = 32;
    const std::uint64_t bytes = record_bytes + kNodeBytes;
    return bytes < page_bytes / 2 ? bytes * 2
                                  : (bytes + page_bytes - 1) / page_bytes * page_bytes + kNodeBytes;
}

std::uint64_t Admission::measure(Environment& env) noexcept {
    const FileUse file = look_at(env);
    const std::uint64_t mark = this->mark(file.bytes_map);
    std::uint64_t room = room_below(mark, file.bytes_to_last_page);
    if (room == 0) {
        const std::lock_guard lock(mutex_);
        room = counted_room(env, mark);
    }
    if (room == 0) {
        close(AppendOutcome::kFull, kRetryFullMs, file.txn_id);
    } else if (reason_.load() == AppendOutcome::kFull) {
        reason_.store(AppendOutcome::kPending);
    }
    return room;
}

/// Counts, unless that was done a moment ago. Requires: the mutex is held.
std::uint64_t Admission::counted_room(Environment& env, std::uint64_t mark) noexcept {
    const std::int64_t now = static_cast<std::int64_t>(monotonic_ns());
    if (now - counted_at_ns_ < std::min(count_took_ns_ * kCountShare, kCountEveryNsMax)) {
        return room_counted_;
    }
    PageUse use;
    room_counted_ = count_page_use(env, use) == 0 ? room_below(mark, use.bytes_used) : 0;
    // Readers that died hold pages back; perhaps that is all.
    if (room_counted_ == 0 && now - cleared_at_ns_ >= kClearReadersEveryNs) {
        cleared_at_ns_ = now;
        if (env.clear_stale_readers() > 0 && count_page_use(env, use) == 0) {
            room_counted_ = room_below(mark, use.bytes_used);
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
    close(AppendOutcome::kFull, kRetryFullMs, look_at(env).txn_id);
}

void Admission::saw_disk_full() noexcept {
    close(AppendOutcome::kNoSpace, kRetryDiskMs, 0);
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

bool Admission::disk_is_full() const noexcept {
    const Fd fd(::open(folder_.c_str(), O_TMPFILE | O_WRONLY | O_CLOEXEC, 0600));
    if (fd.ok()) {
        if (::fallocate(fd.get(), 0, 0, kDiskRoomMin) == 0) {
            return false;
        }
        if (errno == ENOSPC || errno == EDQUOT) {
            return true;
        }
    } else if (errno == ENOSPC || errno == EDQUOT) {
        return true;
    }
    struct statvfs disk {};  // the file system knows no reservations
    return ::statvfs(folder_.c_str(), &disk) == 0 &&
           static_cast<std::uint64_t>(disk.f_bavail) * disk.f_frsize < kDiskRoomMin;
}

std::optional<AppendOutcome> Admission::closed(const Environment& env) const noexcept {
    const AppendOutcome reason = reason_.load();
    if (reason == AppendOutcome::kPending) {
        return std::nullopt;
    }
    const std::int64_t overdue_ms = coarse_ms() - retry_at_ms_.load();
    if (overdue_ms < 0) {
        return reason;
    }
    if (reason == AppendOutcome::kFull) {
        const bool unchanged = look_at(env).txn_id == closed_at_txn_.load();
        return unchanged && overdue_ms < kStaleMs ? std::optional(reason) : std::nullopt;
    }
    struct statvfs disk {};
    const bool full = ::statvfs(folder_.c_str(), &disk) == 0 &&
                      static_cast<std::uint64_t>(disk.f_bavail) * disk.f_frsize < kDiskRoomMin;
    return full ? std::optional(reason) : std::nullopt;
}

}  // namespace sluice::store
