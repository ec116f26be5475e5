#include "worker/drain/forget_archive.hpp"

#include <optional>
#include <utility>

#include "core/forget/edit.hpp"
#include "core/protocol/input_digest.hpp"
#include "core/protocol/record.hpp"
#include "program/system/crash_point.hpp"

namespace sluice::worker {
namespace {

/// Inputs between two calls of `alive`.
constexpr std::uint64_t kAliveEvery = 4096;

StoredInput stored(const store::ArchivedInput& input) {
    return {input.record, input.bulk_body,
            input.original ? std::optional(input.original->body_sha256) : std::nullopt};
}

/// Calls `edit` for every input of the archive, and `alive` regularly.
Status edit_inputs(const std::filesystem::path& folder, const store::ArchiveOptions& options,
                   const std::function<void()>& alive, const store::ArchiveEdit& edit) {
    std::uint64_t seen = 0;
    const Result<std::uint64_t> edited = store::edit_archive(
        folder,
        [&](std::string_view queue, const store::ArchivedInput& input) {
            if (++seen % kAliveEvery == 0) {
                alive();
            }
            return edit(queue, input);
        },
        options);
    return edited ? Status() : Status(edited.error());
}

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
        return edit_inputs(
            folder, options, alive,
            [&](std::string_view queue,
                const store::ArchivedInput& input) -> std::optional<store::ArchivedInput> {
                if (wanted(queue, input.seq, input.record)) {
                    visit(stored(input));
                }
                return std::nullopt;
            });
    };
}

Status edit_forgotten(const std::filesystem::path& folder, const store::ArchiveOptions& options,
                      const ForgetJob& job, LedgerReader& ledger,
                      const std::function<void()>& alive) {
    ForgetEdit forget(job, ledger);
    // An edited input points into these.
    std::optional<EditedInput> kept;
    std::optional<DeadLetter> letter;
    const auto redact =
        [&](std::string_view node,
            const store::ArchivedInput& input) -> std::optional<store::ArchivedInput> {
        if (!is_before(job, node, input.seq, input.record)) {
            return std::nullopt;
        }
        kept = forget.edit(stored(input));
        if (!kept) {
            return std::nullopt;
        }
        store::ArchivedInput made = input;
        made.record = kept->record;
        made.original = {kept->body_sha256,
                         input.original ? input.original->input : input_digest(input.record)};
        if (!kept->keeps_bulk) {
            made.body = store::ArchivedBody::kInRecord;
            made.bulk_body = {};
        }
        // The reason of a dead letter may quote data that is forgotten.
        letter = node == ledger.head().node ? ledger.dead_letter(input.seq) : std::nullopt;
        if (letter) {
            made.dead_reason = store::cut_reason(letter->reason);
        }
        return made;
    };
    Status edited = edit_inputs(folder, options, alive, redact);
    crash_point("edited");
    return edited;
}

}  // namespace sluice::worker
