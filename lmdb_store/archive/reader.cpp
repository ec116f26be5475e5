#include <map>
#include <utility>

#include "lmdb_store/archive/archive.hpp"
#include "lmdb_store/archive/segment.hpp"

namespace sluice::store {

struct ArchiveReader::State {
    Status enter(std::map<std::uint64_t, std::filesystem::path>::const_iterator at);
    Result<bool> load_block();
    Status check_follows(const ArchivedInput& input);
    [[nodiscard]] Error located(const Error& error) const;
    Result<bool> go_to(std::string_view queue_uuid, SequenceNumber seq);

    std::map<std::uint64_t, std::filesystem::path> segments;
    std::map<std::uint64_t, std::filesystem::path>::const_iterator segment;  ///< The open segment.
    std::optional<OpenFile> file;
    SegmentHead head;
    std::optional<BlockCursor> cursor;
    std::string raw;
    std::string_view rest;  ///< The inputs of raw that next() has not returned.
    std::map<std::string, SequenceNumber, std::less<>> last_seqs;  ///< By queue.
};

ArchiveReader::ArchiveReader(std::unique_ptr<State> state) : state_(std::move(state)) {}
ArchiveReader::~ArchiveReader() = default;

Result<std::unique_ptr<ArchiveReader>> ArchiveReader::open(const std::filesystem::path& folder) {
    auto segments = list_segments(folder);
    if (!segments) {
        return segments.error();
    }
    auto state = std::make_unique<State>();
    state->segments = std::move(*segments);
    state->segment = state->segments.end();
    return std::unique_ptr<ArchiveReader>(new ArchiveReader(std::move(state)));
}

Error ArchiveReader::State::located(const Error& error) const {
    return {error.code, error.message + " (" + file->path().string() + ")"};
}

Status ArchiveReader::State::enter(
    std::map<std::uint64_t, std::filesystem::path>::const_iterator at) {
    segment = at;
    cursor.reset();
    rest = {};
    if (at == segments.end()) {
        return Status::success();
    }
    auto opened = open_segment(at->second);
    if (!opened) {
        return opened.error();
    }
    head = std::move(opened->head);
    file = std::move(opened->file);
    cursor.emplace(*file);
    return Status::success();
}

/// Loads the next block. Returns false at the end of the archive. A torn segment ends at its last
/// valid block: the writer began another segment for the inputs that followed, and if it did not,
/// check_follows() finds the gap.
Result<bool> ArchiveReader::State::load_block() {
    for (;;) {
        if (cursor) {
            const auto block = cursor->next();
            if (!block) {
                return block.error();
            }
            if (*block) {
                auto unpacked = unpack_block((*block)->head, (*block)->payload);
                if (!unpacked) {
                    return located(unpacked.error());
                }
                raw = std::move(*unpacked);
                rest = raw;
                return true;
            }
        }
        const auto following = cursor ? std::next(segment) : segments.cbegin();
        if (following == segments.end()) {
            return false;
        }
        if (Status entered = enter(following); !entered) {
            return entered.error();
        }
    }
}

Status ArchiveReader::State::check_follows(const ArchivedInput& input) {
    auto [known, is_new] = last_seqs.emplace(head.queue_uuid, input.last_seq);
    const SequenceNumber last = std::exchange(known->second, input.last_seq);
    if (!is_new && input.seq.value != last.value + 1) {
        return Error{ErrorCode::kCorrupt,
                     "the archive is incomplete: input " + std::to_string(last.value) +
                         " of queue " + head.queue_uuid + " is followed by input " +
                         std::to_string(input.seq.value) + " (" + file->path().string() + ")"};
    }
    return Status::success();
}

Result<std::optional<ArchivePlace>> ArchiveReader::next() {
    if (state_->rest.empty()) {
        const auto loaded = state_->load_block();
        if (!loaded) {
            return loaded.error();
        }
        if (!*loaded) {
            return std::optional<ArchivePlace>();
        }
    }
    const auto input = take_input(state_->rest);
    if (!input) {
        return state_->located(input.error());
    }
    if (Status follows = state_->check_follows(*input); !follows) {
        return follows.error();
    }
    return std::optional(ArchivePlace{state_->head.queue_uuid, *input});
}

/// Opens the last segment of the queue that begins at or before `seq`. Returns false if there is
/// none.
Result<bool> ArchiveReader::State::go_to(std::string_view queue_uuid, SequenceNumber seq) {
    for (auto at = segments.cend(); at != segments.cbegin();) {
        --at;
        if (Status entered = enter(at); !entered) {
            return entered.error();
        }
        if (head.queue_uuid == queue_uuid && head.first_seq <= seq) {
            return true;
        }
    }
    return false;
}

Result<std::optional<ArchivePlace>> ArchiveReader::find(std::string_view queue_uuid,
                                                        SequenceNumber seq) {
    State& state = *state_;
    const auto found = state.go_to(queue_uuid, seq);
    if (!found) {
        return found.error();
    }
    if (!*found) {
        return std::optional<ArchivePlace>();
    }
    if (Status skipped = state.cursor->skip_before(seq); !skipped) {
        return skipped.error();
    }
    state.last_seqs.clear();
    const auto in_segment = state.segment;
    for (;;) {
        auto place = next();
        if (!place) {
            return place.error();
        }
        // Another queue's segment may follow.
        if (!*place || state.segment != in_segment || (*place)->input.seq > seq) {
            return std::optional<ArchivePlace>();
        }
        if ((*place)->input.last_seq >= seq) {
            return place;
        }
    }
}

}  // namespace sluice::store
