#include "lmdb_store/lanes/lane_recovery.hpp"

#include <fcntl.h>

#include <algorithm>
#include <cerrno>

#include "lmdb_store/lanes/lane_reader.hpp"

namespace sluice::store {
namespace {

struct flock lock_of(int byte, short type) noexcept {
    struct flock lock {};
    lock.l_type = type;
    lock.l_whence = SEEK_SET;
    lock.l_start = byte;
    lock.l_len = 1;
    return lock;
}

class SettleLock : public ByteLock {
public:
    explicit SettleLock(int fd) noexcept : ByteLock(fd, 2, true) {}
};

}  // namespace

ByteLock::ByteLock(int fd, int byte, bool waits) noexcept : fd_(fd), byte_(byte) {
    struct flock lock = lock_of(byte, F_WRLCK);
    int rc = 0;
    do {
        rc = ::fcntl(fd, waits ? F_OFD_SETLKW : F_OFD_SETLK, &lock);
    } while (rc != 0 && errno == EINTR);
    held_ = rc == 0;
}

ByteLock::~ByteLock() {
    if (held_) {
        struct flock lock = lock_of(byte_, F_UNLCK);
        ::fcntl(fd_, F_OFD_SETLK, &lock);
    }
}

bool LaneRecovery::is_settled(const LaneRow& row) const noexcept {
    const auto durable = lanes_.known_of(row).durable;
    return durable && get_cell(lanes_.cell_of(row).settled, lanes_.key_of(row)) == *durable;
}

Result<bool> LaneRecovery::is_unknown(const LaneRow& row) {
    if (is_settled(row)) {
        return false;
    }
    const Result<std::shared_ptr<LaneFile>> file = lanes_.file(row);
    return file ? Result<bool>(!(*file)->is_locked_elsewhere()) : Result<bool>(file.error());
}

Status LaneRecovery::settle() {
    Result<std::vector<LaneRow>> rows = read_rows_();
    bool unknown = false;
    for (std::size_t i = 0; rows && !unknown && i < rows->size(); ++i) {
        const Result<bool> found = is_unknown((*rows)[i]);
        if (!found) {
            return found.error();
        }
        unknown = *found;
    }
    if (!rows || !unknown) {
        return rows ? Status::success() : Status(rows.error());
    }
    // A process that settles a lane holds the lane's lock, and would be taken for its writer.
    const SettleLock lock(locks_.get());
    if (!lock.is_held()) {
        return disk_error(errno, "lock", lanes_.folder() / "cells");
    }
    rows = read_rows_();
    for (std::size_t i = 0; rows && i < rows->size(); ++i) {
        if (Status settled = is_settled((*rows)[i]) ? Status::success() : settle_lane((*rows)[i]);
            !settled) {
            return settled;
        }
    }
    return rows ? Status::success() : Status(rows.error());
}

Status LaneRecovery::settle_lane(const LaneRow& seen) {
    Result<LaneFile> file = lanes_.open_file(seen);
    if (!file) {
        return file.error();
    }
    if (!file->try_lock()) {
        return Status::success();  // a process writes to it
    }
    // Its last writer may have written on after `seen` was read.
    const Result<std::vector<LaneRow>> rows = read_rows_();
    if (!rows) {
        return rows.error();
    }
    const auto row = std::find_if(rows->begin(), rows->end(),
                                  [&](const LaneRow& each) { return each.lane == seen.lane; });
    if (row == rows->end() || is_settled(*row)) {
        return Status::success();
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
    return Status::success();
}

Result<std::optional<std::pair<LaneRow, LaneFile>>> LaneRecovery::claim() {
    std::optional<std::pair<LaneRow, LaneFile>> claimed;
    const Result<std::vector<LaneRow>> rows = read_rows_();
    if (!rows) {
        return rows.error();
    }
    for (const LaneRow& row : *rows) {
        if (!is_settled(row) || lanes_.known_of(row).durable != row.moved) {
            continue;
        }
        Result<LaneFile> file = lanes_.open_file(row);
        if (!file) {
            return file.error();
        }
        // A cell of the lane's last writer would differ if another process had claimed it before.
        if (file->try_lock() && is_settled(row)) {
            claimed.emplace(row, std::move(*file));
            break;
        }
    }
    return claimed;
}

}  // namespace sluice::store
