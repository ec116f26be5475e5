#include "worker/drain/forget_archive.hpp"

#include <optional>
#include <utility>

#include "core/forget/edit.hpp"
#include "core/protocol/record.hpp"
#include "worker/system/crash_point.hpp"

namespace sluice::worker {
namespace {

/// Inputs between two calls of `alive`.
constexpr std::uint64_t kAliveEvery = 4096;

StoredInput stored(const store::ArchivedInput& input) {
    return {input.record, input.bulk_body, input.original_sha256};
}

/// Makes the archived input without the forgotten data.
class ArchiveRedaction {
public:
    ArchiveRedaction(const ForgetJob& job, LedgerReader& ledger)
        : job_(job), edit_(job, ledger), ledger_(ledger) {}

    std::optional<store::ArchivedInput> operator()(std::string_view node,
                                                   const store::ArchivedInput& input) {
        if (!is_before(job_, node, input.seq, input.record)) {
            return std::nullopt;
        }
        edited_ = edit_.edit(stored(input));
        if (!edited_) {
            return std::nullopt;
        }
        store::ArchivedInput made = input;
        made.record = edited_->record;
        made.original_sha256 = edited_->body_sha256;
        if (!edited_->keeps_bulk) {
            made.body = store::ArchivedBody::kInRecord;
            made.bulk_body = {};
        }
        // The reason of a dead letter may quote data that is forgotten.
        letter_ = node == ledger_.head().node ? ledger_.dead_letter(input.seq) : std::nullopt;
        if (letter_) {
            made.dead_reason = store::cut_reason(letter_->reason);
        }
        return made;
    }

private:
    const ForgetJob& job_;
    ForgetEdit edit_;
    LedgerReader& ledger_;
    std::optional<EditedInput> edited_;
    std::optional<DeadLetter> letter_;
};

}  // namespace

bool is_before(const ForgetJob& job, std::string_view queue, SequenceNumber seq,
               std::string_view record) {
    if (queue == job.node) {
        return seq < job.seq;
    }
    const Result<RecordView> view = decode_record(record);
    return view && job.is_before(queue, seq, view->meta.received_at);
}

ScanInputs archived_inputs(
    const std::filesystem::path& folder, const store::ArchiveOptions& options,
    std::function<bool(std::string_view queue, SequenceNumber seq, std::string_view record)> wanted,
    std::function<void()> alive) {
    return [folder, options, wanted = std::move(wanted),
            alive = std::move(alive)](const std::function<void(const StoredInput&)>& visit) {
        std::uint64_t seen = 0;
        const auto look =
            [&](std::string_view queue,
                const store::ArchivedInput& input) -> std::optional<store::ArchivedInput> {
            if (++seen % kAliveEvery == 0) {
                alive();
            }
            if (wanted(queue, input.seq, input.record)) {
                visit(stored(input));
            }
            return std::nullopt;
        };
        const Result<std::uint64_t> scanned = store::edit_archive(folder, look, options);
        return scanned ? Status() : Status(scanned.error());
    };
}

Status edit_forgotten(const std::filesystem::path& folder, const store::ArchiveOptions& options,
                      const ForgetJob& job, LedgerReader& ledger,
                      const std::function<void()>& alive) {
    ArchiveRedaction redaction(job, ledger);
    std::uint64_t seen = 0;
    const Result<std::uint64_t> edited = store::edit_archive(
        folder,
        [&](std::string_view node, const store::ArchivedInput& input) {
            if (++seen % kAliveEvery == 0) {
                alive();
            }
            return redaction(node, input);
        },
        options);
    crash_point("edited");
    return edited ? Status() : Status(edited.error());
}

}  // namespace sluice::worker
