#include "lmdb_store/backup/archive_copy.hpp"

#include "lmdb_store/archive/order.hpp"
#include "lmdb_store/archive/segment.hpp"
#include "lmdb_store/backup/file_copy.hpp"
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
Result<SegmentPart> part_up_to(const OpenFile& segment, const SegmentHead& head,
                               SequenceNumber last) {
    BlockCursor blocks(segment);
    SegmentPart part{blocks.offset(), false, {head.first_seq.value - 1}};
    for (;; part.bytes = blocks.offset()) {
        const auto block = blocks.next();
        if (!block) {
            return block.error();
        }
        if (!*block) {
            part.torn = blocks.torn();
            return part;
        }
        if ((*block)->head.last_seq > last) {
            return part;
        }
        part.last = (*block)->head.last_seq;
    }
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
Status copy_segment(const fs::path& from, const fs::path& to, const QueueState& queue,
                    bool is_newest, std::string& fault) {
    const auto file = OpenFile::open(from, OpenFile::Mode::kRead);
    if (!file) {  // removed since, because the archive is limited
        return file.error().code == ErrorCode::kNotFound ? Status::success() : Status(file.error());
    }
    const auto head = read_segment_head(*file);
    std::uint64_t bytes = kWholeFile;
    if (head && head->queue_uuid == queue.uuid) {
        const auto part = part_up_to(*file, *head, queue.fill.last_seq);
        if (!part) {
            return part.error();
        }
        fault = is_newest ? fault_of(from, *part, queue.fill) : std::string();
        // A damaged segment is copied as it is; the newest may end in a block being written.
        bytes = part->torn && (!is_newest || !fault.empty()) ? kWholeFile : part->bytes;
    }
    return bytes <= kSegmentHeadBytes ? Status::success() : copy_file(*file, to, bytes, {});
}

Status copy_segments(const fs::path& from, const fs::path& to, const QueueState& queue,
                     std::string& fault) {
    const auto segments = list_segments(from);
    if (!segments) {
        return segments.error();
    }
    for (const auto& [ordinal, path] : *segments) {
        const bool is_newest = ordinal == segments->rbegin()->first;
        if (Status copied = copy_segment(path, to / path.filename(), queue, is_newest, fault);
            !copied) {
            return copied;
        }
    }
    return Status::success();
}

/// Copies the batch order of a queue, that of `queue` without rows of inputs that the copy lacks. A
/// damaged one is copied as it is.
Status copy_order(const fs::path& from, const fs::path& to, const std::string& of,
                  const QueueState& queue) {
    std::uint64_t bytes = kWholeFile;
    const auto damaged = damaged_row(from.parent_path(), of);
    if (!damaged) {
        return damaged.error();
    }
    if (of == queue.uuid && !*damaged) {
        const auto up_to = order_bytes_up_to(from.parent_path(), of, queue.fill.last_seq);
        if (!up_to) {
            return up_to.error();
        }
        bytes = *up_to;
    }
    return copy_file(from, to, bytes, {});
}

/// Copies the batch orders next to the segments. They are read after the segments, so that they
/// cover each of their inputs.
Status copy_orders(const fs::path& from, const fs::path& to, const QueueState& queue) {
    const auto queues = list_orders(from);
    if (!queues) {
        return queues.error();
    }
    for (const std::string& of : *queues) {
        if (Status copied = copy_order(order_path(from, of), order_path(to, of), of, queue);
            !copied) {
            return copied;
        }
    }
    return Status::success();
}

}  // namespace

std::uint64_t first_in(const QueueFill& queue) noexcept {
    return queue.rows == 0 ? queue.last_seq.value + 1 : queue.first_seq.value;
}

Status copy_archive(const fs::path& from, const fs::path& to, const QueueState& queue,
                    std::string& fault) {
    Status copied = copy_segments(from, to, queue, fault);
    return copied ? copy_orders(from, to, queue) : copied;
}

}  // namespace sluice::store
