// Reads the records of lanes for people, without moving them and without a lock; and drops lanes
// whose files are missing (`sluice queue drop-lanes`).
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "lmdb_store/queue/lmdb_queue.hpp"
#include "os/clock/clock.hpp"

namespace sluice::store {

LanesFill LmdbQueue::fill_of(const std::vector<LaneRow>& rows) {
    LanesFill fill;
    const std::uint64_t now = monotonic_ns();
    for (const LaneRow& row : rows) {
        ++fill.lanes;
        fill.bytes_all += row.bytes;
        const std::shared_ptr<LaneFile> file = checked(lanes_->file(row));
        fill.in_use += file->is_locked_elsewhere() ? 1U : 0U;
        fill.cached += file->is_direct() ? 0U : 1U;
        check(visit_lane(*lanes_, row, *file, [&](const LaneBatch& batch) {
            fill.records += batch.head().count;
            fill.bytes += batch.head().bytes;
            if (batch.head().boot == lanes_->boot() && batch.head().stamp_ns < now) {
                fill.oldest_ns = std::max(fill.oldest_ns, now - batch.head().stamp_ns);
            }
            return true;
        }));
    }
    return fill;
}

Result<std::vector<LaneRecord>> LmdbQueue::read_lanes(std::size_t bytes_max) {
    return attempt([&] {
        std::vector<LaneRecord> records;
        std::size_t bytes = 0;
        for (const LaneRow& row : checked(lane_rows())) {
            const std::shared_ptr<LaneFile> file = checked(lanes_->file(row));
            check(visit_lane(*lanes_, row, *file, [&](const LaneBatch& batch) {
                std::uint32_t index = 0;
                batch.for_each_record([&](std::string_view record) {
                    records.push_back(
                        {{row.number, batch.head().offset, index++}, std::string(record)});
                });
                bytes += batch.head().bytes;
                return bytes < bytes_max;
            }));
        }
        return records;
    });
}

Result<std::vector<std::string>> LmdbQueue::drop_missing_lanes() {
    std::vector<std::string> dropped;
    WriteTxn txn;
    std::vector<LaneRow> rows;
    int rc = txn.begin(*env_);
    rc = rc == 0 ? read_lane_rows(txn.get(), rows) : rc;
    for (const LaneRow& row : rows) {
        const auto path = lanes_->path_of(row.number);
        if (rc == 0 && ::access(path.c_str(), F_OK) != 0 && errno == ENOENT) {
            rc = delete_lane_row(txn.get(), row.number);
            dropped.push_back(path.string());
        }
    }
    rc = rc == 0 && !dropped.empty() ? txn.commit() : rc;
    if (rc != 0) {
        return env_->error(rc, "write");
    }
    return dropped;
}

}  // namespace sluice::store
