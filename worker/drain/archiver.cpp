#include "worker/drain/archiver.hpp"

#include <system_error>
#include <utility>

#include "core/forget/edit.hpp"
#include "core/protocol/record.hpp"
#include "lmdb_store/archive/segment.hpp"
#include "worker/drain/forget_archive.hpp"
#include "worker/system/crash_point.hpp"

namespace sluice::worker {
namespace {

constexpr std::size_t kCatchUpInputs = 2000;
constexpr std::size_t kCatchUpBytes = 8U << 20;
/// Inputs, and time, between two syncs. The queue is trimmed only up to the last sync.
constexpr std::uint64_t kFlushInputs = 20'000;
constexpr std::chrono::milliseconds kFlushAfter{200};

store::ArchivedInput archived(const OwnedInput& input) {
    store::ArchivedInput made;
    made.seq = input.seq;
    made.record = input.record;
    if (input.dead_reason) {
        made.body = store::ArchivedBody::kBulkMissing;
        made.dead_reason = store::cut_reason(*input.dead_reason);
        return made;
    }
    if (!input.bulk_file.empty()) {
        made.body = store::ArchivedBody::kBulk;
        made.bulk_body = input.bulk_body;
    }
    made.dead_reason = store::cut_reason(input.not_sealed);
    return made;
}

/// Returns true if the batch is the last one of the order, or begins where that one ends.
bool follows(const std::optional<AppliedBatch>& last, const AppliedBatch& batch) {
    if (!last || batch.number < last->number) {
        return !last;
    }
    const std::uint64_t first =
        batch.number == last->number ? last->first_seq.value : last->last_seq.value + 1;
    return batch.first_seq.value == first;
}

/// Returns true if the ledger has the batch, which may have grown.
bool has_batch(LedgerReader& ledger, const AppliedBatch& batch) {
    AppliedBatch row;
    row.number = batch.number;
    return ledger.load(row) && row.node == batch.node && row.first_seq == batch.first_seq;
}

}  // namespace

Result<std::unique_ptr<Archiver>> Archiver::open(const ArchiverParts& parts) {
    std::unique_ptr<Archiver> archiver(new Archiver(parts));
    if (Status opened = archiver->open_writer(); !opened) {
        return opened.error();
    }
    return archiver;
}

Status Archiver::open_writer() {
    auto writer =
        store::ArchiveWriter::open(parts_.paths.archive, parts_.queue.uuid(), parts_.options);
    if (!writer) {
        return writer.error();
    }
    writer_ = std::move(*writer);
    return open_order();
}

Status Archiver::open_order() {
    auto order = store::OrderWriter::open(parts_.paths.archive, parts_.queue.uuid());
    if (!order) {
        return order.error();
    }
    order_ = std::move(*order);
    order_is_known_ = false;
    return Status::success();
}

/// Puts this queue's batches from that number on.
Status Archiver::put_batches(LedgerReader& ledger, std::uint64_t from,
                             store::OrderWriter& order) const {
    AppliedBatch first;
    first.number = from;
    Status put;
    ledger.scan(first, {0, 1}, [&](const AppliedBatch& row) {
        put = row.node == parts_.queue.uuid() ? order.put(row) : Status();
        return put.ok();
    });
    return put;
}

/// Reads from the ledger this queue's batches since the last one that the archive has, or all of
/// them if the ledger does not have that one: it was rebuilt or restored.
Status Archiver::read_order() {
    const std::unique_ptr<LedgerReader> ledger = parts_.snapshot();
    const std::optional<AppliedBatch> last = order_->last();
    Status read = !last || has_batch(*ledger, *last)
                      ? put_batches(*ledger, last ? last->number : 0, *order_)
                      : replace_order(*ledger);
    order_is_known_ = read.ok();
    if (order_->is_dirty()) {
        count_unflushed();
    }
    return read;
}

Status Archiver::replace_order(LedgerReader& ledger) {
    auto order = store::OrderWriter::begin_anew(parts_.paths.archive, parts_.queue.uuid());
    if (!order) {
        return order.error();
    }
    Status put = put_batches(ledger, 0, *order);
    put = put ? order->publish() : put;
    return put ? open_order() : put;
}

void Archiver::count_unflushed() {
    if (unflushed_count_++ == 0) {
        oldest_unflushed_ = steady_now();
    }
}

Status Archiver::add_one(const OwnedInput& input, Timestamp now) {
    const bool may_forget = input.not_sealed.empty() &&
                            (!input.input_class || *input.input_class == InputClass::kCommand);
    const Result<RecordView> record =
        may_forget ? decode_record(input.record) : Error{ErrorCode::kInvalid, {}};
    Status added = record && record->meta.topic == Topic::kForget
                       ? add_forget(input, now)
                       : writer_->add(archived(input), now);
    count_unflushed();  // last, because a forget flushes what was added before it
    return added;
}

/// Archives a FORGET without the person and the identifier, after its data was removed from the
/// archive before it. So a FORGET that is durable in the archive was performed there, whenever the
/// process died.
Status Archiver::add_forget(const OwnedInput& input, Timestamp now) {
    const std::unique_ptr<LedgerReader> ledger = parts_.snapshot();
    const std::optional<CommandRow> row = ledger->command(input.seq);
    const std::optional<EditedInput> kept =
        row ? forgotten_command({input.record, input.bulk_body, input.original_sha256}, *row)
            : std::nullopt;
    if (!kept) {
        return writer_->add(archived(input),
                            now);  // an undecodable dead letter has no data to find
    }
    if (const std::optional<ForgetJob> job = load_task(*ledger, row->command_id)) {
        if (Status edited = edit(*job); !edited) {
            return edited;
        }
    }
    store::ArchivedInput made;
    made.seq = input.seq;
    made.record = kept->record;
    made.original_sha256 = kept->body_sha256;
    return writer_->add(made, now);
}

Status Archiver::edit(const ForgetJob& job) {
    if (Status flushed = flush(); !flushed) {
        return flushed;
    }
    crash_point("forgetting");
    const std::unique_ptr<LedgerReader> ledger = parts_.snapshot();
    writer_.reset();
    Status edited =
        edit_forgotten(parts_.paths.archive, parts_.options, job, *ledger, parts_.alive);
    if (Status opened = open_writer(); !opened) {
        return opened;
    }
    if (edited) {
        edited_[job.command_id] = job.found;
    }
    return edited;
}

bool Archiver::has_edited(const ForgetJob& job) const {
    const auto known = edited_.find(job.command_id);
    return known != edited_.end() && known->second == job.found;
}

Status Archiver::add(const std::vector<OwnedInput>& inputs, std::size_t first, std::size_t count,
                     const std::optional<AppliedBatch>& batch, Timestamp now) {
    order_is_known_ = order_is_known_ && batch && follows(order_->last(), *batch);
    if (order_is_known_) {
        if (Status put = order_->put(*batch); !put) {
            return put;
        }
        if (order_->is_dirty()) {
            count_unflushed();
        }
    }
    for (std::size_t at = first; at < first + count && !behind_; ++at) {
        const SequenceNumber last = writer_->last_seq();
        if (inputs[at].seq <= last) {
            continue;  // archived before the ledger was set back
        }
        if (last.value != 0 && inputs[at].seq.value != last.value + 1) {
            behind_ = true;
        } else if (Status added = add_one(inputs[at], now); !added) {
            return added;
        }
    }
    crash_point("archived");
    return Status::success();
}

Result<bool> Archiver::catch_up(SequenceNumber applied, Timestamp now) {
    if (!order_is_known_) {
        if (Status read = read_order(); !read) {
            return read.error();
        }
    }
    const SequenceNumber last = writer_->last_seq();
    behind_ = behind_ && last < applied;
    if (!behind_) {
        return false;
    }
    auto inputs =
        read_inputs(parts_.queue, parts_.paths, {last.value + 1}, kCatchUpInputs, kCatchUpBytes);
    if (!inputs) {
        return inputs.error();
    }
    const std::unique_ptr<LedgerReader> ledger = parts_.snapshot();
    for (OwnedInput& input : *inputs) {
        if (input.seq > applied) {
            break;
        }
        const auto record = decode_record(input.record);
        if (input.dead_reason || (record && is_command(record->meta.topic))) {
            const std::optional<DeadLetter> letter = ledger->dead_letter(input.seq);
            if (input.dead_reason) {
                input.dead_reason = letter ? letter->reason : *input.dead_reason;
            } else if (letter && is_not_sealed(letter->reason)) {
                input.not_sealed = letter->reason;
            }
        }
        if (Status added = add_one(input, now); !added) {
            return added.error();
        }
    }
    // Nothing there: these inputs were trimmed while no archive was kept.
    behind_ = writer_->last_seq() < applied && writer_->last_seq() != last;
    return behind_;
}

Status Archiver::flush() {
    unflushed_count_ = 0;
    // First, so that every input that is durable has its place.
    Status flushed = order_->flush();
    flushed = flushed ? writer_->flush() : flushed;
    crash_point("flushed");
    return flushed;
}

bool Archiver::flush_is_due() const noexcept {
    return unflushed_count_ >= kFlushInputs ||
           (unflushed_count_ != 0 && steady_now() - oldest_unflushed_ >= kFlushAfter);
}

std::uint64_t Archiver::bytes() const {
    std::uint64_t bytes = 0;
    const auto segments = store::list_segments(parts_.paths.archive);
    if (!segments) {
        return 0;
    }
    for (const auto& [ordinal, path] : *segments) {
        std::error_code gone;
        const std::uint64_t size = std::filesystem::file_size(path, gone);
        bytes += gone ? 0 : size;
    }
    return bytes;
}

}  // namespace sluice::worker
