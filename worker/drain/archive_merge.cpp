#include "worker/drain/archive_merge.hpp"

#include <set>
#include <utility>

namespace sluice::worker {

Result<bool> archives_hold(const std::vector<std::filesystem::path>& folders,
                           const ReplayEnd& end) {
    std::set<std::string> held;
    for (const std::filesystem::path& folder : folders) {
        const auto queues = store::archived_queues(folder);
        if (!queues) {
            return queues.error();
        }
        for (const std::string& queue : *queues) {
            const auto node = end.nodes.find(queue);
            if (node == end.nodes.end()) {
                continue;
            }
            const auto reader = store::ArchiveReader::open(folder);
            if (!reader) {
                return reader.error();
            }
            const SequenceNumber applied = node->second.applied;
            const auto found = (*reader)->find(queue, applied);
            const auto last = store::last_in_order(folder, queue);
            if (!found || !last) {
                return found ? last.error() : found.error();
            }
            const bool has_inputs = applied.value == 0 || found->has_value();
            const std::uint64_t batch = *last ? (*last)->number : 0;
            if (has_inputs && batch >= node->second.batch) {
                held.insert(queue);
            }
        }
    }
    return held.size() == end.nodes.size();
}

Result<std::unique_ptr<ArchiveMerge>> ArchiveMerge::open(
    const std::vector<std::filesystem::path>& folders, const Positions& applied,
    std::uint64_t batch) {
    auto merge = std::make_unique<ArchiveMerge>();
    merge->batch_done_ = batch;
    for (const std::filesystem::path& folder : folders) {
        auto reader = store::ArchiveReader::open(folder);
        if (!reader) {
            return reader.error();  // it names the folder
        }
        Source& source = merge->sources_.emplace_back();
        source.folder = folder;
        source.reader = std::move(*reader);
        if (Status found = merge->seek(source, applied); !found) {
            return merge->named(source, found.error());
        }
    }
    return merge;
}

Error ArchiveMerge::named(const Source& source, const Error& error) const {
    return sources_.size() == 1 ? error
                                : Error{error.code, source.folder.string() + ": " + error.message};
}

/// Goes straight to the first input that is wanted, if the archive has one queue and that input.
Status ArchiveMerge::seek(Source& source, const Positions& applied) const {
    const auto queues = store::archived_queues(source.folder);
    if (!queues) {
        return queues.error();
    }
    const auto known = queues->size() == 1 ? applied.find(queues->front()) : applied.end();
    if (known == applied.end() || known->second.value == 0) {
        return {};
    }
    const auto found = source.reader->find(known->first, {known->second.value + 1});
    if (!found) {
        return found.error();
    }
    if (!*found) {
        return assign(source.reader, store::ArchiveReader::open(source.folder));
    }
    source.place = *found;
    source.is_spent = false;
    Status entered = enter_queue(source, source.place->queue_uuid);
    return entered ? enter_batch(source) : entered;
}

Status ArchiveMerge::enter_queue(Source& source, std::string_view queue) const {
    if (source.queue == queue) {
        return {};
    }
    source.queue = queue;
    Status opened = assign(source.order, store::OrderReader::open(source.folder, queue));
    if (!opened) {
        return opened;
    }
    source.following.reset();
    Status first = next_batch(source);
    return first ? next_batch(source) : first;
}

/// Moves on to the batch that follows, and reads the one after it.
Status ArchiveMerge::next_batch(Source& source) const {
    source.batch = std::exchange(source.following, std::nullopt);
    return assign(source.following, source.order->next());
}

/// Finds the batch of the place, or work alone before it. The last batch covers all inputs after
/// its first.
Status ArchiveMerge::enter_batch(Source& source) const {
    while (!source.has_work && source.following &&
           (!source.place || source.place->input.seq > source.batch->last_seq)) {
        const AppliedBatch& following = *source.following;
        const bool is_work = following.first_seq > following.last_seq;
        if (!source.place && !is_work) {
            return {};  // its inputs are not archived yet
        }
        if (Status moved = next_batch(source); !moved) {
            return moved;
        }
        source.has_work = is_work && source.batch->number > batch_done_;
    }
    return {};
}

Status ArchiveMerge::fill(Source& source) const {
    if (source.is_spent) {
        auto place = source.reader->next();
        if (!place) {
            return place.error();
        }
        source.place = *place;
        source.is_spent = false;
        if (source.place) {
            if (Status entered = enter_queue(source, source.place->queue_uuid); !entered) {
                return entered;
            }
        }
    }
    Status entered = enter_batch(source);
    if (!entered || sources_.size() == 1 || !source.place) {
        return entered;
    }
    const SequenceNumber seq = source.place->input.seq;
    if (!source.batch || seq < source.batch->first_seq) {
        return Error{
            ErrorCode::kConflict,
            "the archive does not say when its inputs were applied among those of the "
            "other nodes: its file order." +
                source.queue +
                (source.batch ? " lacks input " + std::to_string(seq.value) : " is missing")};
    }
    return {};
}

MergedStep ArchiveMerge::take(Source& source) const {
    MergedStep step;
    step.queue_uuid = source.queue;
    step.batch = source.batch ? source.batch->number : 0;
    // The last row may be older than its inputs.
    const bool is_older = source.batch && !source.has_work && !source.following &&
                          source.place->input.seq > source.batch->last_seq;
    step.slices = source.batch && !is_older ? source.batch->slices : std::nullopt;
    if (!source.has_work) {
        step.input = &source.place->input;
        source.is_spent = true;
    }
    source.has_work = false;
    return step;
}

Result<std::optional<MergedStep>> ArchiveMerge::next() {
    Source* first = nullptr;
    for (Source& source : sources_) {
        if (Status filled = fill(source); !filled) {
            return named(source, filled.error());
        }
        if (!source.place && !source.has_work) {
            continue;
        }
        if (first == nullptr || (source.batch && source.batch->number < first->batch->number)) {
            first = &source;
        }
    }
    return first == nullptr ? std::optional<MergedStep>() : std::optional(take(*first));
}

}  // namespace sluice::worker
