#include "worker/access/receipt_search.hpp"

#include <utility>

#include "core/protocol/record.hpp"
#include "lmdb_store/archive/archive.hpp"
#include "lmdb_store/queue/bulk_file.hpp"
#include "program/cli/cli_values.hpp"
#include "worker/access/ledger_access.hpp"

namespace sluice::cli {
namespace {

constexpr std::size_t kReadRecords = 256;
constexpr std::size_t kReadBytes = 4U << 20;

using Search = Result<std::optional<FoundRecord>>;

bool is_of(const RecordName& name, SequenceNumber seq, std::string_view record) {
    if (!name.receipt) {
        return seq == name.seq;
    }
    const auto decoded = decode_record(record);
    return decoded.ok() && decoded->receipt == name.receipt;
}

/// Reads the body of a large record, which is a file. The worker may just have unlinked it.
std::string bulk_of(const store::StorePaths& paths, std::string_view record) {
    const auto decoded = decode_record(record);
    if (!decoded.ok() || !decoded->meta.bulk) {
        return {};
    }
    return store::read_bulk(paths, *decoded->meta.bulk).value_or({});
}

/// Reads the lanes before the queue, so that a record that moves meanwhile is found in the queue.
/// @param uuid  Receives the queue's id.
Search find_in_queue(const Frame& frame, const RecordName& name, SequenceNumber applied,
                     std::string& uuid) {
    const auto paths = frame.paths();
    auto queue = store::Queue::open(paths, queue_options());
    if (!queue.ok()) {
        return queue.error();
    }
    uuid = queue.value()->uuid();
    if (const std::string own = node_tag(uuid); !name.node_tag.empty() && name.node_tag != own) {
        return not_found(
            "the receipt is of another node: those of this one begin "
            "with " +
            own + ", ask where they begin with " + name.node_tag);
    }
    auto lanes = queue.value()->read_lanes(kReadLanesBytes);
    if (!lanes.ok()) {
        return lanes.error();
    }
    std::optional<FoundRecord> found;
    const SequenceNumber from{name.receipt ? 1 : name.seq.value};
    const Status read = visit_queue(**queue, from, [&](store::QueuedRecord& record) {
        if (is_of(name, record.seq, record.bytes)) {
            std::string body = bulk_of(paths, record.bytes);
            found = {record.seq <= applied ? RecordPlace::kApplied : RecordPlace::kQueue,
                     record.seq, std::move(record.bytes), std::move(body), std::nullopt};
        }
        return !found && name.receipt;  // a number names the first record or none
    });
    if (!read.ok() || found) {
        return read.ok() ? Search(std::move(found)) : read.error();
    }
    for (store::LaneRecord& record : lanes.value()) {
        if (name.receipt && record.receipt == *name.receipt) {
            std::string body = bulk_of(paths, record.bytes);
            return std::optional<FoundRecord>({RecordPlace::kLane, SequenceNumber{},
                                               std::move(record.bytes), std::move(body),
                                               std::nullopt});
        }
    }
    return std::optional<FoundRecord>();
}

FoundRecord archived(const store::ArchivedInput& input) {
    return {RecordPlace::kApplied, input.seq, std::string(input.record),
            std::string(input.bulk_body),
            input.original ? std::optional(input.original->body_sha256) : std::nullopt};
}

Search find_in_archive(const Frame& frame, const RecordName& name, const std::string& queue) {
    auto archive = store::ArchiveReader::open(frame.paths().archive);
    if (!archive.ok()) {
        return archive.error();
    }
    for (;;) {
        auto place =
            name.receipt ? archive.value()->next() : archive.value()->find(queue, name.seq);
        if (!place.ok()) {
            return place.error();
        }
        if (!*place) {
            return std::optional<FoundRecord>();
        }
        const store::ArchivedInput& input = (*place)->input;
        if ((*place)->queue_uuid == queue && is_of(name, input.seq, input.record)) {
            return std::optional(archived(input));
        }
    }
}

}  // namespace

std::string_view to_string(RecordPlace place) noexcept {
    return place == RecordPlace::kLane    ? "in_lane"
           : place == RecordPlace::kQueue ? "queued"
                                          : "applied";
}

Status visit_queue(store::Queue& queue, SequenceNumber from,
                   const std::function<bool(store::QueuedRecord&)>& visit) {
    for (;;) {
        auto records = queue.read(from, kReadRecords, kReadBytes);
        if (!records.ok() || records->empty()) {
            return records.ok() ? Status::success() : records.error();
        }
        for (store::QueuedRecord& record : records.value()) {
            from = {record.seq.value + 1};
            if (!visit(record)) {
                return Status::success();
            }
        }
    }
}

Result<RecordName> parse_record_name(std::string_view text) {
    const std::string tag(node_tag_of(text).value_or(std::string_view{}));
    text.remove_prefix(tag.empty() ? 0 : tag.size() + 1);
    if (const auto receipt = parse_receipt(text)) {
        return RecordName{receipt, {}, tag};
    }
    const auto seq = parse_count(text, 1, UINT64_MAX);
    if (!seq.ok()) {
        return invalid(
            "expected a receipt such as 7KQ4M9-3-1a000-17, or a sequence number, as "
            "$sluice_receipt shows it");
    }
    return RecordName{std::nullopt, {*seq}, tag};
}

Status visit_applied(const Frame& frame, const std::vector<SequenceNumber>& seqs,
                     const std::function<void(const FoundRecord&)>& visit) {
    const auto paths = frame.paths();
    auto queue = store::Queue::open(paths, queue_options());
    if (!queue.ok()) {
        return queue.error();
    }
    auto archive = store::ArchiveReader::open(paths.archive);
    for (const SequenceNumber seq : seqs) {
        std::optional<FoundRecord> found;
        if (archive.ok()) {
            auto place = archive.value()->find(queue.value()->uuid(), seq);
            if (!place.ok()) {
                return place.error();
            }
            if (*place && (*place)->input.seq == seq) {
                found = archived((*place)->input);
            }
        }
        const Status read = visit_queue(**queue, seq, [&](store::QueuedRecord& record) {
            if (!found && record.seq == seq) {
                std::string body = bulk_of(paths, record.bytes);
                found = {RecordPlace::kApplied, seq, std::move(record.bytes), std::move(body),
                         std::nullopt};
            }
            return false;
        });
        if (!read.ok()) {
            return read;
        }
        if (found) {
            visit(*found);
        }
    }
    return Status::success();
}

Result<FoundRecord> find_record(const Frame& frame, const RecordName& name,
                                SequenceNumber applied) {
    std::string queue;
    auto found = find_in_queue(frame, name, applied, queue);
    // The archive has the bytes that were applied. Those of the queue may have changed since.
    if (found.ok() && (!*found || (*found)->place == RecordPlace::kApplied)) {
        auto archived = find_in_archive(frame, name, queue);
        found = archived.ok() && !*archived ? std::move(found) : std::move(archived);
    }
    if (!found.ok()) {
        return found.error();
    }
    if (!*found) {
        return not_found("no record with the " +
                         (name.receipt ? "receipt " + to_string(*name.receipt)
                                       : "sequence number " + std::to_string(name.seq.value)) +
                         " is in a lane, in the queue or in the archive");
    }
    return std::move(**found);
}

}  // namespace sluice::cli
