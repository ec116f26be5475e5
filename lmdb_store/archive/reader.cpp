#include <map>
#include <utility>

#include "lmdb_store/archive/archive.hpp"
#include "lmdb_store/archive/segment.hpp"
#include "lmdb_store/environment/store_failure.hpp"

namespace sluice::store {

struct ArchiveReader::State {
    void enter(std::map<std::uint64_t, std::filesystem::path>::const_iterator at);
    bool load_block();
    void check_follows(const ArchivedInput& input);
    /// Returns the value of a result. Throws its error with the name of the file.
    template <class Value>
    [[nodiscard]] Value located(Result<Value> result) const {
        if (!result) {
            throw StoreFailure(
                {result.error().code, result.error().message + " (" + file->path().string() + ")"});
        }
        return std::move(*result);
    }
    bool go_to(std::string_view queue_uuid, SequenceNumber seq);
    std::optional<ArchivePlace> next();

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

void ArchiveReader::State::enter(
    std::map<std::uint64_t, std::filesystem::path>::const_iterator at) {
    segment = at;
    cursor.reset();
    rest = {};
    Segment opened = open_segment(at->second);
    head = std::move(opened.head);
    file = std::move(opened.file);
    cursor.emplace(*file);
}

/// Loads the next block. Returns false at the end of the archive. A torn segment ends at its last
/// valid block: the writer began another segment for the inputs that followed, and if it did not,
/// check_follows() finds the gap.
bool ArchiveReader::State::load_block() {
    for (;;) {
        if (cursor) {
            if (const auto block = cursor->next()) {
                raw = located(unpack_block(block->head, block->payload));
                rest = raw;
                return true;
            }
        }
        const auto following = cursor ? std::next(segment) : segments.cbegin();
        if (following == segments.end()) {
            return false;
        }
        enter(following);
    }
}

void ArchiveReader::State::check_follows(const ArchivedInput& input) {
    auto [known, is_new] = last_seqs.emplace(head.queue_uuid, input.last_seq);
    const SequenceNumber last = std::exchange(known->second, input.last_seq);
    if (!is_new && input.seq.value != last.value + 1) {
        throw StoreFailure(corrupt("the archive is incomplete: input " +
                                   std::to_string(last.value) + " of queue " + head.queue_uuid +
                                   " is followed by input " + std::to_string(input.seq.value) +
                                   " (" + file->path().string() + ")"));
    }
}

std::optional<ArchivePlace> ArchiveReader::State::next() {
    if (rest.empty() && !load_block()) {
        return std::nullopt;
    }
    const ArchivedInput input = located(take_input(rest));
    check_follows(input);
    return ArchivePlace{head.queue_uuid, input};
}

Result<std::optional<ArchivePlace>> ArchiveReader::next() {
    return attempt([&] { return state_->next(); });
}

/// Opens the last segment of the queue that begins at or before `seq`. Returns false if there is
/// none.
bool ArchiveReader::State::go_to(std::string_view queue_uuid, SequenceNumber seq) {
    for (auto at = segments.cend(); at != segments.cbegin();) {
        enter(--at);
        if (head.queue_uuid == queue_uuid && head.first_seq <= seq) {
            return true;
        }
    }
    return false;
}

Result<std::optional<ArchivePlace>> ArchiveReader::find(std::string_view queue_uuid,
                                                        SequenceNumber seq) {
    return attempt([&]() -> std::optional<ArchivePlace> {
        State& state = *state_;
        if (!state.go_to(queue_uuid, seq)) {
            return std::nullopt;
        }
        state.cursor->skip_before(seq);
        state.last_seqs.clear();
        const auto in_segment = state.segment;
        auto place = state.next();
        // Another queue's segment may follow.
        while (place && state.segment == in_segment && place->input.last_seq < seq) {
            place = state.next();
        }
        return place && state.segment == in_segment && place->input.seq <= seq ? place
                                                                               : std::nullopt;
    });
}

}  // namespace sluice::store
