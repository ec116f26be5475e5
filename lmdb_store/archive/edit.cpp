#include <set>
#include <string>
#include <vector>

#include "lmdb_store/archive/archive.hpp"
#include "lmdb_store/archive/segment.hpp"

namespace sluice::store {
namespace {

/// One segment after the edits.
struct EditedSegment {
    std::string bytes;
    std::uint64_t changes_count = 0;
};

Result<std::uint64_t> edit_block(std::string_view queue_uuid, std::string_view raw,
                                 const ArchiveEdit& edit, std::string& edited) {
    std::uint64_t changes = 0;
    while (!raw.empty()) {
        const auto input = take_input(raw);
        if (!input) {
            return input.error();
        }
        const auto replacement = edit(queue_uuid, *input);
        append_input(edited, replacement ? *replacement : *input);
        changes += replacement ? 1U : 0U;
    }
    return changes;
}

Result<EditedSegment> edit_segment(const Segment& segment, const ArchiveEdit& edit,
                                   BlockPacker& packer) {
    EditedSegment result{encode_segment_head(segment.head), 0};
    BlockCursor cursor(segment.file);
    for (;;) {
        auto block = cursor.next();
        if (!block) {
            return block.error();
        }
        if (!*block) {
            break;
        }
        const auto raw = unpack_block((*block)->head, (*block)->payload);
        if (!raw) {
            return raw.error();
        }
        std::string edited;
        const auto changes = edit_block(segment.head.queue_uuid, *raw, edit, edited);
        if (!changes) {
            return changes.error();
        }
        result.changes_count += *changes;
        result.bytes += *changes == 0 ? encode_block_head((*block)->head) + (*block)->payload
                                      : packer.pack((*block)->head, edited);
    }
    return result;
}

}  // namespace

Result<std::uint64_t> edit_archive(const std::filesystem::path& folder, const ArchiveEdit& edit,
                                   const ArchiveOptions& options) {
    const auto segments = list_segments(folder);
    if (!segments) {
        return segments.error();
    }
    BlockPacker packer(options.level);
    std::uint64_t changes = 0;
    for (const auto& [ordinal, path] : *segments) {
        const auto segment = open_segment(path);
        if (!segment) {
            return segment.error();
        }
        const auto edited = edit_segment(*segment, edit, packer);
        if (!edited) {
            return edited.error();
        }
        if (edited->changes_count == 0) {
            continue;
        }
        if (Status placed = replace_file(path, edited->bytes); !placed) {
            return placed.error();
        }
        changes += edited->changes_count;
    }
    return changes;
}

Result<std::vector<std::string>> archived_queues(const std::filesystem::path& folder) {
    const auto segments = list_segments(folder);
    if (!segments) {
        return segments.error();
    }
    std::set<std::string> queues;
    for (const auto& [ordinal, path] : *segments) {
        const auto segment = open_segment(path);
        if (!segment) {
            return segment.error();
        }
        queues.insert(segment->head.queue_uuid);
    }
    return std::vector<std::string>(queues.begin(), queues.end());
}

}  // namespace sluice::store
