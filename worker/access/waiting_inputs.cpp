#include "worker/access/waiting_inputs.hpp"

#include <chrono>
#include <functional>
#include <memory>
#include <set>
#include <string>

#include "lmdb_store/environment/lock_wait.hpp"
#include "lmdb_store/queue/bulk_file.hpp"
#include "lmdb_store/queue/queue.hpp"
#include "worker/access/ledger_access.hpp"
#include "worker/access/receipt_search.hpp"

namespace sluice::cli {
namespace {

/// How long a read waits for a lock of the queue. It gives up then, because the count is optional.
constexpr std::chrono::milliseconds kLockWait{100};
/// Records of the queue that are read.
constexpr std::size_t kRecordsMax = 100'000;

/// Returns nullptr if this store's queue is not the one that the ledger's snapshot is of, or cannot
/// be opened at once. Requires: a LockLimit.
std::unique_ptr<store::Queue> queue_of(const Frame& frame, LedgerReader& ledger) {
    auto queue = store::Queue::open(frame.paths(), queue_options());
    const bool is_own =
        queue.ok() && (ledger.head().node == (*queue)->uuid() || ledger.head().node.empty());
    return is_own ? std::move(queue).value() : nullptr;
}

}  // namespace

std::uint64_t count_waiting(
    const Frame& frame, LedgerReader& ledger,
    const std::function<bool(const RecordMeta& meta, std::string_view body)>& is_wanted) {
    const store::LockLimit limit(kLockWait);
    const auto queue = queue_of(frame, ledger);
    if (queue == nullptr) {
        return 0;
    }
    std::set<std::string> found;  // by time of receipt and request
    const auto count = [&](std::string_view bytes) {
        const auto record = decode_record(bytes);
        if (!record.ok() || !is_of_order(record->meta.topic)) {
            return;
        }
        std::string bulk;
        if (record->meta.bulk) {
            auto body = store::read_bulk(frame.paths(), *record->meta.bulk);
            bulk = body.ok() ? std::move(body).value() : std::string();
        }
        if (is_wanted(record->meta, record->meta.bulk ? bulk : record->body)) {
            found.insert(record->meta.received_at.to_string() +
                         std::string(record->meta.request_id));
        }
    };
    // The lanes first, so that a record that moves meanwhile is not missed. It is found twice then.
    if (auto lanes = queue->read_lanes(kReadLanesBytes); lanes.ok()) {
        for (const store::LaneRecord& record : *lanes) {
            count(record.bytes);
        }
    }
    const SequenceNumber next{ledger.head().applied_seq.value + 1};
    std::size_t seen = 0;
    static_cast<void>(visit_queue(*queue, next, [&](store::QueuedRecord& record) {
        count(record.bytes);
        return ++seen < kRecordsMax;
    }));
    return found.size();
}

}  // namespace sluice::cli
