#include "lmdb_store/backup/archive_copy.hpp"

#include "lmdb_store/archive/order.hpp"
#include "lmdb_store/archive/segment.hpp"
#include "lmdb_store/backup/file_copy.hpp"
#include "lmdb_store/environment/store_failure.hpp"
#include "os/files/file_io.hpp"

namespace sluice::store {
namespace {

namespace fs = std::filesystem;

/// How much of a segment is copied.
struct SegmentPart {
    std::uint64_t bytes = kWholeFile;
    bool torn = false;      ///< An invalid block follows.
    SequenceNumber last{};  ///< The last input in these bytes; of none, the one before the segment.
};

/// Returns the part of a segment up to its last block that ends at or before `last`.
SegmentPart part_up_to(const OpenFile& segment, const SegmentHead& head, SequenceNumber last) {
    BlockCursor blocks(segment);
    SegmentPart part{blocks.offset(), false, {head.first_seq.value - 1}};
    while (const auto block = blocks.next()) {
        if (block->head.last_seq > last) {
            return part;
        }
        part.last = block->head.last_seq;
        part.bytes = blocks.offset();
    }
    part.torn = blocks.torn();
    return part;
}

/// The worker takes an input off the queue once the archive has it, so a block that is being
/// written has none before the queue's first one.
std::string fault_of(const fs::path& segment, const SegmentPart& part, const QueueFill& queue) {
    const std::uint64_t first = first_in(queue);
    if (!part.torn || part.last.value + 1 >= first) {
        return {};
    }
    return "archive: " + segment.filename().string() + " is damaged behind input " +
           std::to_string(part.last.value) + ", and the queue begins with input " +
           std::to_string(first) + ": the ledger alone has those between";
}

/// @param fault  Set to the fault of the newest segment, if it has one.
void copy_segment(const fs::path& from, const fs::path& to, const QueueState& queue, bool is_newest,
                  std::string& fault) {
    const auto file = OpenFile::open(from, OpenFile::Mode::kRead);
    if (!file && file.error().code == ErrorCode::kNotFound) {
        return;  // removed since, because the archive is limited
    }
    if (!file) {
        throw StoreFailure(file.error());
    }
    const auto head = read_segment_head(*file);
    std::uint64_t bytes = kWholeFile;
    if (head && head->queue_uuid == queue.uuid) {
        const SegmentPart part = part_up_to(*file, *head, queue.fill.last_seq);
        fault = is_newest ? fault_of(from, part, queue.fill) : std::string();
        // A damaged segment is copied as it is; the newest may end in a block being written.
        bytes = part.torn && (!is_newest || !fault.empty()) ? kWholeFile : part.bytes;
    }
    if (bytes > kSegmentHeadBytes) {
        copy_part(*file, to, bytes);
    }
}

void copy_segments(const fs::path& from, const fs::path& to, const QueueState& queue,
                   std::string& fault) {
    const auto segments = checked(list_segments(from));
    for (const auto& [ordinal, path] : segments) {
        const bool is_newest = ordinal == segments.rbegin()->first;
        copy_segment(path, to / path.filename(), queue, is_newest, fault);
    }
}

/// Copies the batch order of a queue, that of `queue` without rows of inputs that the copy lacks. A
/// damaged one is copied as it is.
void copy_order(const fs::path& from, const fs::path& to, const std::string& of,
                const QueueState& queue) {
    const bool is_damaged = damaged_row(from.parent_path(), of).has_value();
    const std::uint64_t bytes =
        of == queue.uuid && !is_damaged
            ? checked(order_bytes_up_to(from.parent_path(), of, queue.fill.last_seq))
            : kWholeFile;
    copy_part(checked(OpenFile::open(from, OpenFile::Mode::kRead)), to, bytes);
}

/// Copies the batch orders next to the segments. They are read after the segments, so that they
/// cover each of their inputs.
void copy_orders(const fs::path& from, const fs::path& to, const QueueState& queue) {
    for (const std::string& of : list_orders(from)) {
        copy_order(order_path(from, of), order_path(to, of), of, queue);
    }
}

}  // namespace

std::uint64_t first_in(const QueueFill& queue) noexcept {
    return queue.rows == 0 ? queue.last_seq.value + 1 : queue.first_seq.value;
}

void copy_archive(const fs::path& from, const fs::path& to, const QueueState& queue,
                  std::string& fault) {
    copy_segments(from, to, queue, fault);
    copy_orders(from, to, queue);
}

}  // namespace sluice::store
