#include "lmdb_store/lanes/lane_recovery.hpp"

#include <fcntl.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <string>
#include <thread>

#include "lmdb_store/environment/lock_wait.hpp"
#include "lmdb_store/environment/reaction.hpp"
#include "lmdb_store/lanes/lane_reader.hpp"

namespace sluice::store {
namespace {

Error not_locked(int error, const std::filesystem::path& cells) {
    const std::string holder =
        error == EAGAIN
            ? holder_of_byte(cells, static_cast<int>(LaneLock::Byte::kSettlers), 0, true)
            : std::string();
    return holder.empty() ? disk_error(error, "lock", cells)
                          : Error{ErrorCode::kBusy, "cannot find the ends of the lanes, because " +
                                                        holder + "; nothing was changed"};
}

}  // namespace

LaneLock::LaneLock(const LaneSet& lanes, Byte byte, bool waits) noexcept
    : file_(open_retrying(lanes.cells_path().c_str(), O_RDWR | O_NOFOLLOW | O_NONBLOCK)) {
    if (!file_.ok()) {
        return;  // errno is that of opening, and not the EBADF of a lock without a file
    }
    struct flock lock = write_lock(static_cast<off_t>(byte), 1);
    const bool polls = waits && !waits_for_locks_without_limit();
    const Clock::time_point deadline = lock_deadline();
    constexpr std::chrono::milliseconds kPoll{5};
    int rc = 0;
    while ((rc = ::fcntl(file_.get(), waits && !polls ? F_OFD_SETLKW : F_OFD_SETLK, &lock)) != 0 &&
           (errno == EINTR || (polls && errno == EAGAIN && steady_now() < deadline))) {
        if (errno == EAGAIN) {
            std::this_thread::sleep_for(kPoll);
        }
    }
    held_ = rc == 0;
}

bool LaneRecovery::is_settled(const LaneRow& row) const noexcept {
    const auto durable = lanes_.known_of(row).durable;
    return durable && get_cell(lanes_.cell_of(row).settled, lanes_.key_of(row)) == *durable;
}

bool LaneRecovery::is_unknown(const LaneRow& row) const noexcept {
    return !is_settled(row) && !LaneFile::is_locked(lanes_.path_of(row.number));
}

Result<bool> LaneRecovery::settle() {
    const auto settled = [this](const LaneRow& row) { return is_settled(row); };
    Result<std::vector<LaneRow>> rows = read_rows_();
    if (!rows || std::all_of(rows->begin(), rows->end(), settled)) {
        return rows ? Result<bool>(false) : Result<bool>(rows.error());
    }
    // Without this lock, a process that settles a lane would be taken for the lane's writer,
    // because it has the lane's lock as well.
    const LaneLock lock(lanes_, LaneLock::Byte::kSettlers);
    if (!lock.is_held()) {
        return not_locked(errno, lanes_.cells_path());
    }
    rows = read_rows_();
    if (!rows) {
        return rows.error();
    }
    bool any = false;
    for (const LaneRow& row : *rows) {
        const Result<bool> found = is_unknown(row) ? settle_lane(row) : Result<bool>(false);
        if (!found) {
            return found;
        }
        any = any || *found;
    }
    return any;
}

Result<bool> LaneRecovery::settle_lane(const LaneRow& seen) {
    Result<LaneFile> file = lanes_.open_file(seen);
    if (!file) {
        return file.error();
    }
    if (!file->try_lock()) {
        return false;  // a process writes to it
    }
    // Its last writer may have written on after `seen` was read.
    const Result<std::vector<LaneRow>> rows = read_rows_();
    if (!rows) {
        return rows.error();
    }
    const auto row = std::find_if(rows->begin(), rows->end(),
                                  [&](const LaneRow& each) { return each.lane == seen.lane; });
    if (row == rows->end() || is_settled(*row)) {
        return false;
    }
    const LaneKnown known = lanes_.known_of(*row);
    LaneFileSource source(*file, lanes_.buffers());
    source.expect_end(known.durable.value_or(row->floor + row->bytes));
    const Result<std::uint64_t> end = sluice::settle_lane(source, known);
    if (!end) {
        Error error = end.error();
        if (error.code == ErrorCode::kCorrupt) {
            error.message = "\"" + file->path().string() + "\" " + error.message;
        }
        return error;
    }
    LaneCell& cell = lanes_.cell_of(*row);
    put_cell(cell.durable, *end, lanes_.key_of(*row));
    put_cell(cell.settled, *end, lanes_.key_of(*row));
    return true;
}

Result<bool> LaneRecovery::holds_earlier_boot() {
    const Result<std::vector<LaneRow>> rows = read_rows_();
    if (!rows) {
        return rows.error();
    }
    for (const LaneRow& row : *rows) {
        const LaneKnown known = lanes_.known_of(row);
        if (!is_settled(row) || known.durable == row.moved) {
            continue;
        }
        const Result<std::shared_ptr<LaneFile>> file = lanes_.file(row);
        if (!file) {
            return file.error();
        }
        LaneFileSource source(**file, lanes_.buffers());
        const Result<bool> earlier = sluice::holds_earlier_boot(source, known, lanes_.boot());
        if (!earlier || *earlier) {
            return earlier;
        }
    }
    return false;
}

Result<std::optional<ClaimedLane>> LaneRecovery::claim(std::uint64_t bytes_min) {
    const Result<std::vector<LaneRow>> rows = read_rows_();
    if (!rows) {
        return rows.error();
    }
    for (const LaneRow& row : *rows) {
        if (row.bytes < bytes_min || !is_settled(row) ||
            lanes_.known_of(row).durable != row.moved) {
            continue;
        }
        Result<LaneFile> file = lanes_.open_file(row);
        if (!file) {
            return file.error();
        }
        // A cell of the lane's last writer would differ if another process had claimed it before.
        if (file->try_lock() && is_settled(row)) {
            return std::optional(ClaimedLane{row, std::move(*file)});
        }
    }
    return std::optional<ClaimedLane>();
}

}  // namespace sluice::store
