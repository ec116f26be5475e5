#include <set>
#include <string>
#include <vector>

#include "lmdb_store/archive/archive.hpp"
#include "lmdb_store/archive/segment.hpp"
#include "lmdb_store/environment/store_failure.hpp"

namespace sluice::store {
namespace {

/// One segment after the edits.
struct EditedSegment {
    std::string bytes;
    std::uint64_t changes_count = 0;
};

std::uint64_t edit_block(std::string_view queue_uuid, std::string_view raw, const ArchiveEdit& edit,
                         std::string& edited) {
    std::uint64_t changes = 0;
    while (!raw.empty()) {
        const ArchivedInput input = checked(take_input(raw));
        const auto replacement = edit(queue_uuid, input);
        append_input(edited, replacement ? *replacement : input);
        changes += replacement ? 1U : 0U;
    }
    return changes;
}

EditedSegment edit_segment(const Segment& segment, const ArchiveEdit& edit, BlockPacker& packer) {
    EditedSegment result{encode_segment_head(segment.head), 0};
    BlockCursor cursor(segment.file);
    while (const auto block = cursor.next()) {
        const std::string raw = checked(unpack_block(block->head, block->payload));
        std::string edited;
        const std::uint64_t changes = edit_block(segment.head.queue_uuid, raw, edit, edited);
        result.changes_count += changes;
        result.bytes += changes == 0 ? encode_block_head(block->head) + block->payload
                                     : packer.pack(block->head, edited);
    }
    return result;
}

}  // namespace

Result<std::uint64_t> edit_archive(const std::filesystem::path& folder, const ArchiveEdit& edit,
                                   const ArchiveOptions& options) {
    return attempt([&] {
        BlockPacker packer(options.level);
        std::uint64_t changes = 0;
        for (const auto& [ordinal, path] : checked(list_segments(folder))) {
            const EditedSegment edited = edit_segment(open_segment(path), edit, packer);
            if (edited.changes_count != 0) {
                check(replace_file(path, edited.bytes));
                changes += edited.changes_count;
            }
        }
        return changes;
    });
}

Result<std::vector<std::string>> archived_queues(const std::filesystem::path& folder) {
    return attempt([&] {
        std::set<std::string> queues;
        for (const auto& [ordinal, path] : checked(list_segments(folder))) {
            queues.insert(open_segment(path).head.queue_uuid);
        }
        return std::vector<std::string>(queues.begin(), queues.end());
    });
}

}  // namespace sluice::store
