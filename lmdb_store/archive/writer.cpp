#include <algorithm>
#include <utility>

#include "core/values/assert.hpp"
#include "lmdb_store/archive/archive.hpp"
#include "lmdb_store/archive/segment.hpp"
#include "lmdb_store/environment/store_failure.hpp"

namespace sluice::store {
struct ArchiveWriter::State {
    State(std::filesystem::path folder_path, std::string uuid, const ArchiveOptions& chosen)
        : folder(std::move(folder_path)),
          queue_uuid(std::move(uuid)),
          options(chosen),
          packer(chosen.level) {}

    void adopt_newest();
    void adopt_last_of_queue(const std::map<std::uint64_t, std::filesystem::path>& segments);
    Status begin_segment(SequenceNumber first_seq, Timestamp now);
    [[nodiscard]] bool retention_is_due(Timestamp now) const noexcept;
    Status write_block();
    [[nodiscard]] bool needs_new_segment(const ArchivedInput& input, Timestamp now) const;
    void drop_undurable();
    [[nodiscard]] Status truncate_to_durable();

    std::filesystem::path folder;
    std::string queue_uuid;
    ArchiveOptions options;
    BlockPacker packer;

    std::uint64_t newest_ordinal = 0;
    std::optional<OpenFile> file;  ///< The segment that grows. Empty means begin one.
    std::int64_t file_created_at = 0;
    std::uint64_t file_bytes = 0;        ///< Written.
    std::uint64_t durable_bytes = 0;     ///< Synced.
    bool is_truncated = true;            ///< The file ends at durable_bytes, except for new blocks.
    Timestamp retained_at{};             ///< Time of the last apply_retention().
    std::uint64_t retained_ordinal = 0;  ///< Newest segment at that time.

    std::string raw;  ///< Inputs of the next block.
    BlockHead block;
    SequenceNumber last_seq;
    SequenceNumber durable_seq;
    Digest256 chain{};          ///< After last_seq.
    Digest256 durable_chain{};  ///< After durable_seq.
};

ArchiveWriter::ArchiveWriter(std::unique_ptr<State> state) : state_(std::move(state)) {}
ArchiveWriter::~ArchiveWriter() = default;

Result<std::unique_ptr<ArchiveWriter>> ArchiveWriter::open(const std::filesystem::path& folder,
                                                           const std::string& queue_uuid,
                                                           const ArchiveOptions& options) {
    return attempt([&] {
        auto state = std::make_unique<State>(folder, queue_uuid, options);
        state->adopt_newest();
        return std::unique_ptr<ArchiveWriter>(new ArchiveWriter(std::move(state)));
    });
}

/// Continues the newest segment if it is this queue's and ends in a valid block.
void ArchiveWriter::State::adopt_newest() {
    remove_unfinished(folder);
    const auto segments = checked(list_segments(folder));
    if (segments.empty()) {
        return;
    }
    const auto& [ordinal, path] = *segments.rbegin();
    newest_ordinal = ordinal;
    Segment newest = open_segment(path, OpenFile::Mode::kReadWrite);
    if (newest.head.queue_uuid != queue_uuid) {
        return adopt_last_of_queue(segments);
    }
    const SegmentScan scan = scan_segment(newest.file);
    // The last writes of a killed process may not be durable yet.
    check(newest.file.sync());
    if (!scan.torn) {
        file = std::move(newest.file);
        file_created_at = newest.head.created_at_seconds;
        file_bytes = durable_bytes = scan.sound_bytes;
    }
    if (scan.last_seq.value == 0) {
        return adopt_last_of_queue(segments);
    }
    last_seq = durable_seq = scan.last_seq;
    chain = durable_chain = scan.chain;
}

/// Finds the last input of this queue in earlier segments.
void ArchiveWriter::State::adopt_last_of_queue(
    const std::map<std::uint64_t, std::filesystem::path>& segments) {
    for (auto at = segments.rbegin(); at != segments.rend(); ++at) {
        const Segment segment = open_segment(at->second);
        const SegmentScan scan =
            segment.head.queue_uuid == queue_uuid ? scan_segment(segment.file) : SegmentScan();
        if (scan.last_seq.value != 0) {
            last_seq = durable_seq = scan.last_seq;
            chain = durable_chain = scan.chain;
            return;
        }
    }
}

bool ArchiveWriter::State::needs_new_segment(const ArchivedInput& input, Timestamp now) const {
    const bool follows = last_seq.value != 0 && input.seq.value == last_seq.value + 1;
    return !file || !follows || file_bytes >= options.segment_bytes_max ||
           now.seconds >= file_created_at + kSecondsPerDay;
}

Status ArchiveWriter::State::begin_segment(SequenceNumber first_seq, Timestamp now) {
    const std::uint64_t ordinal = newest_ordinal + 1;
    const std::filesystem::path path = segment_path(folder, ordinal);
    const std::string head = encode_segment_head({ordinal, first_seq, now.seconds, queue_uuid});
    if (Status placed = replace_file(path, head); !placed) {
        return placed;
    }
    auto opened = OpenFile::open(path, OpenFile::Mode::kReadWrite);
    if (!opened) {
        return opened.error();
    }
    newest_ordinal = ordinal;
    file = std::move(*opened);
    file_created_at = now.seconds;
    file_bytes = durable_bytes = head.size();
    return Status::success();
}

Status ArchiveWriter::State::write_block() {
    if (raw.empty()) {
        return Status::success();
    }
    const std::string packed = packer.pack(block, raw);
    if (Status written = file->write_at(file_bytes, packed); !written) {
        return written;
    }
    file_bytes += packed.size();
    raw.clear();
    block = {};
    return Status::success();
}

/// Drops the inputs that are not durable. Bytes whose sync failed may never reach the disk, even if
/// a later sync succeeds, so they are truncated and written again.
void ArchiveWriter::State::drop_undurable() {
    raw.clear();
    block = {};
    last_seq = durable_seq;
    chain = durable_chain;
    file_bytes = durable_bytes;
    is_truncated = !file;
    static_cast<void>(truncate_to_durable());  // if it fails, the next add() retries
}

/// Truncates the segment to its durable length. Appending before this succeeds would duplicate
/// inputs.
Status ArchiveWriter::State::truncate_to_durable() {
    Status cut = is_truncated ? Status::success() : file->truncate(durable_bytes);
    is_truncated = cut.ok();
    return cut;
}

SequenceNumber ArchiveWriter::last_seq() const noexcept {
    return state_->last_seq;
}

const Digest256& ArchiveWriter::chain() const noexcept {
    return state_->chain;
}

SequenceNumber ArchiveWriter::durable_seq() const noexcept {
    return state_->durable_seq;
}

Status ArchiveWriter::add(const ArchivedInput& input, Timestamp now) {
    State& state = *state_;
    SLUICE_ASSERT(input.seq.value != 0);
    if (archived_bytes(input) > kBlockRawBytesMax) {
        return Error{ErrorCode::kLimit, "an input is too large for the archive"};
    }
    if (Status cut = state.truncate_to_durable(); !cut) {
        return cut;
    }
    if (state.needs_new_segment(input, now)) {
        if (Status flushed = flush(); !flushed) {
            return flushed;
        }
        if (Status begun = state.begin_segment(input.seq, now); !begun) {
            state.drop_undurable();
            return begun;
        }
    }
    const bool crowded =
        !state.raw.empty() && state.raw.size() + archived_bytes(input) > state.options.block_bytes;
    if (crowded) {
        if (Status written = state.write_block(); !written) {
            state.drop_undurable();
            return written;
        }
    }
    append_input(state.raw, input);
    if (state.block.inputs_count++ == 0) {
        state.block.first_seq = input.seq;
    }
    state.block.last_seq = state.last_seq = std::max(input.seq, input.last_seq);
    state.block.chain = state.chain = input.chain;
    return Status::success();
}

Status ArchiveWriter::flush() {
    State& state = *state_;
    if (state.durable_seq == state.last_seq) {
        return Status::success();
    }
    Status done = state.write_block();
    if (done) {
        done = state.file->sync();
    }
    if (!done) {
        state.drop_undurable();
        return done;
    }
    state.durable_bytes = state.file_bytes;
    state.durable_seq = state.last_seq;
    state.durable_chain = state.chain;
    return Status::success();
}

/// The segment before an empty one has the last input of this queue.
bool ArchiveWriter::State::retention_is_due(Timestamp now) const noexcept {
    const bool is_limited = options.keep_days != 0 || options.keep_bytes != 0;
    const bool has_durable_input = durable_bytes > kSegmentHeadBytes;
    const bool is_other_hour =
        now < retained_at || now >= retained_at.plus_seconds(kSecondsPerHour);
    return is_limited && has_durable_input && (is_other_hour || retained_ordinal != newest_ordinal);
}

Result<std::uint64_t> ArchiveWriter::apply_retention(Timestamp now) {
    if (!state_->retention_is_due(now)) {
        return std::uint64_t{0};
    }
    const ArchiveOptions& options = state_->options;
    state_->retained_at = now;
    state_->retained_ordinal = state_->newest_ordinal;
    const std::int64_t oldest_kept = now.plus_days(-std::int64_t{options.keep_days}).seconds;
    return attempt([&] {
        return remove_old_segments(state_->folder, options.keep_days == 0 ? 0 : oldest_kept,
                                   options.keep_bytes);
    });
}

}  // namespace sluice::store
