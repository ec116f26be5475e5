#include "worker/drain/archive_merge.hpp"

#include <utility>

#include "core/protocol/record.hpp"

namespace sluice::worker {

Result<std::unique_ptr<ArchiveMerge>> ArchiveMerge::open(
    const std::vector<std::filesystem::path>& folders) {
    auto merge = std::make_unique<ArchiveMerge>();
    for (const std::filesystem::path& folder : folders) {
        auto reader = store::ArchiveReader::open(folder);
        if (!reader) {
            return reader.error();  // it names the folder
        }
        merge->sources_.push_back({folder, std::move(*reader), std::nullopt, {}, true});
    }
    return merge;
}

Error ArchiveMerge::named(const Source& source, const Error& error) const {
    return sources_.size() == 1 ? error
                                : Error{error.code, source.folder.string() + ": " + error.message};
}

/// Reads the next input if the last one was returned. An unreadable record gets the time of receipt
/// of its predecessor, so that it follows it.
Status ArchiveMerge::fill(Source& source) {
    if (!source.is_spent) {
        return Status::success();
    }
    auto place = source.reader->next();
    if (!place) {
        return named(source, place.error());
    }
    source.place = *place;
    source.is_spent = false;
    if (sources_.size() > 1 && source.place) {
        const auto record = decode_record(source.place->input.record);
        source.received_at =
            record ? std::max(source.received_at, record->meta.received_at) : source.received_at;
    }
    return Status::success();
}

Result<std::optional<store::ArchivePlace>> ArchiveMerge::next() {
    Source* first = nullptr;
    for (Source& source : sources_) {
        if (Status filled = fill(source); !filled) {
            return filled.error();
        }
        if (source.place && (first == nullptr || source.received_at < first->received_at)) {
            first = &source;
        }
    }
    if (first == nullptr) {
        return std::optional<store::ArchivePlace>();
    }
    first->is_spent = true;
    return first->place;
}

}  // namespace sluice::worker
