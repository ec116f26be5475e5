#include "worker/drain/archiver.hpp"

#include <algorithm>
#include <map>
#include <system_error>
#include <utility>

#include "core/forget/edit.hpp"
#include "core/protocol/input_digest.hpp"
#include "core/protocol/record.hpp"
#include "lmdb_store/archive/segment.hpp"
#include "program/system/crash_point.hpp"
#include "worker/drain/forget_archive.hpp"

namespace sluice::worker {
namespace {

/// Inputs, and time, between two syncs. The queue is trimmed only up to the last sync.
constexpr std::uint64_t kFlushInputs = 20'000;
constexpr std::chrono::milliseconds kFlushAfter{200};

store::ArchivedInput archived(const OwnedInput& input) {
    store::ArchivedInput made;
    made.seq = input.seq;
    made.last_seq = input.last_seq;
    made.chain = input.chain;
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
    made.dead_reason = store::cut_reason(input.verdict);
    return made;
}

/// Gives inputs that were read from the queue again the verdicts of the worker that applied them. A
/// body in a bulk file must be there still.
Status judge_as_applied(LedgerReader& ledger, std::vector<OwnedInput>& inputs) {
    if (inputs.empty()) {
        return {};
    }
    std::map<SequenceNumber, DeadLetter> letters;
    ledger.scan(DeadLetter{inputs.front().seq}, {0, 1}, [&](const DeadLetter& letter) {
        if (letter.seq <= inputs.back().seq) {
            letters.emplace(letter.seq, letter);
        }
        return letter.seq < inputs.back().seq;
    });
    for (OwnedInput& input : inputs) {
        const auto letter = letters.find(input.seq);
        const bool was_lost = letter != letters.end() && claims_bulk(input.record) &&
                              letter->second.bulk_body.empty();
        if (was_lost) {
            input.dead_reason = letter->second.reason;
        } else if (input.dead_reason) {
            return Error{ErrorCode::kCorrupt,
                         "the body of input " + std::to_string(input.seq.value) +
                             " is not the one that was applied: " + *input.dead_reason};
        } else if (letter != letters.end() && is_verdict(letter->second.reason)) {
            input.verdict = letter->second.reason;
        }
    }
    return {};
}

/// Returns whether the input may be a FORGET, as far as its class and verdict say.
bool may_forget(const OwnedInput& input) {
    return input.verdict.empty() &&
           (!input.input_class || *input.input_class == InputClass::kCommand);
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
    Status opened = assign(writer_, store::ArchiveWriter::open(
                                        parts_.paths.archive, parts_.queue.uuid(), parts_.options));
    return opened ? open_order() : opened;
}

Status Archiver::open_order() {
    const std::filesystem::path& folder = parts_.paths.archive;
    Status opened = assign(order_, store::OrderWriter::open(folder, parts_.queue.uuid()));
    if (opened) {
        order_is_known_ = false;
    }
    return opened;
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
    const Result<RecordView> record =
        may_forget(input) ? decode_record(input.record) : Error{ErrorCode::kInvalid, {}};
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
        row ? forgotten_command({input.record, input.bulk_body, std::nullopt}, *row) : std::nullopt;
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
    made.last_seq = input.last_seq;
    made.chain = input.chain;
    made.record = kept->record;
    made.original = {kept->body_sha256, input_digest(input.record)};
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
        const SequenceNumber last = std::max(writer_->last_seq(), skipped_);
        if (inputs[at].seq <= last) {
            // Archived before the ledger was set back. The queue has to have the same inputs still.
            if (inputs[at].last_seq == last && inputs[at].chain != writer_->chain()) {
                return Error{ErrorCode::kCorrupt,
                             "the archive has other inputs up to " + std::to_string(last.value) +
                                 " than the ledger has applied: the ledger was set back, and the "
                                 "queue was changed meanwhile"};
            }
            continue;
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

bool Archiver::needs_ledger(const std::vector<OwnedInput>& inputs, std::size_t first,
                            std::size_t count) const {
    const auto begin = inputs.begin() + static_cast<std::ptrdiff_t>(first);
    return behind_ || !order_is_known_ ||
           std::any_of(begin, begin + static_cast<std::ptrdiff_t>(count), may_forget);
}

Result<bool> Archiver::catch_up(SequenceNumber applied, Timestamp now) {
    if (!order_is_known_) {
        if (Status read = read_order(); !read) {
            return read.error();
        }
    }
    behind_ = behind_ && std::max(writer_->last_seq(), skipped_) < applied;
    if (!behind_) {
        return false;
    }
    if (tail_.is_at_end()) {
        if (Status begun = begin_tail(); !begun) {
            return begun.error();
        }
    }
    const std::unique_ptr<LedgerReader> ledger = parts_.snapshot();
    auto inputs = tail_.next(*ledger);
    if (!inputs) {
        return inputs.error();
    }
    if (Status judged = judge_as_applied(*ledger, *inputs); !judged) {
        return judged.error();
    }
    for (const OwnedInput& input : *inputs) {
        if (Status added = add_one(input, now); !added) {
            return added.error();
        }
    }
    behind_ = std::max(writer_->last_seq(), skipped_) < applied;
    return behind_;
}

/// Proves the inputs of the queue that the archive lacks. If the queue lacks some of them as well,
/// the archive was off while they were applied. It then begins where this drain began, because the
/// chain is known there.
Status Archiver::begin_tail() {
    const SequenceNumber last = writer_->last_seq();
    const auto gap = parts_.queue.first_gap(last);
    if (!gap) {
        return gap.error();
    }
    const bool begins = !*gap || (*gap)->first.value > last.value + 1;
    const LedgerHead head = parts_.snapshot()->head();
    if (begins) {
        return tail_.prove(last, writer_->chain(), head, parts_.alive);
    }
    const LedgerHead start = parts_.start ? parts_.start() : head;
    skipped_ = start.applied_seq;
    return tail_.prove(start.applied_seq, start.inputs_sha256, head, parts_.alive);
}

Status Archiver::flush() {
    unflushed_count_ = 0;
    // First, so that every input that is durable has its place.
    Status flushed = order_->flush();
    flushed = flushed ? writer_->flush() : flushed;
    crash_point("flushed");
    return flushed;
}

Status Archiver::retain(Timestamp now) {
    const auto removed = writer_->apply_retention(now);
    return removed ? Status::success() : Status(removed.error());
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
