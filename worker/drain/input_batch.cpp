#include "worker/drain/input_batch.hpp"

#include <algorithm>
#include <exception>
#include <new>
#include <span>
#include <utility>

#include "core/protocol/record.hpp"
#include "lmdb_store/queue/bulk_file.hpp"
#include "os/clock/clock.hpp"
#include "program/system/crash_point.hpp"
#include "worker/drain/target_ledger.hpp"

namespace sluice::worker {

namespace {

/// Orders that are attributed again in one transaction. The next input waits for all of them.
constexpr std::size_t kWorkSlice = 1000;
/// Inputs that are announced to the ledger together: enough for one round trip to a database, and
/// few enough for the time of a batch.
constexpr std::size_t kInputsExpected = 1000;

/// Thrown for an input that cannot be applied. The transaction is aborted, and the input with it.
struct PoisonFound {
    SequenceNumber seq;
    Poison poison;
};

/// Makes views of the next few inputs, which are applied while the views are in the processor's
/// cache.
void view_next(std::span<const OwnedInput> inputs, std::vector<Input>& views) {
    views.clear();
    for (const OwnedInput& input : inputs.first(std::min(kInputsExpected, inputs.size()))) {
        views.push_back(input.view());
    }
}

/// Prefetches a record's head and the beginning of its body, because they were read so long ago
/// that the processor's cache has lost them.
void fetch_ahead(const std::string& record) {
    constexpr std::size_t kCacheLine = 64;
    constexpr std::size_t kBytes = 8 * kCacheLine;
    for (std::size_t at = 0; at < std::min(kBytes, record.size()); at += kCacheLine) {
        __builtin_prefetch(record.data() + at);
    }
}

}  // namespace

Applied BatchApplier::apply_one(LedgerTxn& txn, const OwnedInput& input,
                                const PreparedInput* ahead) {
    Input view = input.view();
    if (const auto known = poison_.find(input.seq); known != poison_.end()) {
        (known->second.is_damage ? view.damage : view.dead_reason) = known->second.reason;
        view.is_bare = known->second.is_bare;
    }
    try {
        return applier_.apply(view, txn, ahead);
    } catch (const DamagedRow& damaged) {
        if (!damaged.order() || view.damage) {
            throw;  // the row affects other inputs as well
        }
        throw PoisonFound{input.seq, {damaged.error().message, true}};
    } catch (const LedgerFailure&) {
        throw;
    } catch (const std::bad_alloc&) {
        throw;
    } catch (const std::exception& failure) {
        throw PoisonFound{input.seq,
                          {std::string("it could not be applied: ") + failure.what(), false}};
    }
}

void BatchApplier::apply_inputs(LedgerTxn& txn, std::vector<OwnedInput>& inputs, std::size_t first,
                                const BatchLimits& limits, BatchOutcome& outcome) {
    const Clock::time_point end = steady_now() + limits.time_max;
    const std::size_t last = first + std::min(limits.records_max, inputs.size() - first);
    std::vector<Input> views;  // of inputs[viewed] and its successors
    std::size_t viewed = first;
    std::size_t expected = first;
    const PreparedScope scope(
        ahead_, std::span(inputs).subspan(first, limits.is_helped ? last - first : 0));
    for (std::size_t at = first; at < last; ++at) {
        if (at == expected) {
            // Apply all rows that were read ahead, because reading them again costs more.
            if (at != first && steady_now() >= end) {
                return;
            }
            if (at == viewed + views.size()) {
                view_next(std::span(inputs).subspan(at, last - at), views);
                viewed = at;
            }
            expected += txn.expect(std::span(views).subspan(at - viewed), at != first);
        }
        if (at == expected) {
            return;
        }
        if (inputs[at].seq.value != txn.head().applied_seq.value + 1) {
            return;  // the next call says which are missing
        }
        if (++outcome.inputs_tried == 1) {
            outcome.first_tried = inputs[at].seq;
        }
        if (at + 1 < last) {
            fetch_ahead(inputs[at + 1].record);
        }
        const std::uint64_t next_work = txn.head().next_work;
        Applied applied = apply_one(txn, inputs[at], ahead_.at(at - first));
        const InputClass input_class = applied.input_class;
        inputs[at].input_class = input_class;
        inputs[at].token = applied.token;
        inputs[at].received_at = applied.received_at;
        inputs[at].last_seq = txn.head().applied_seq;
        inputs[at].chain = txn.head().inputs_sha256;
        if (input_class == InputClass::kDead && is_verdict(applied.text)) {
            inputs[at].verdict = std::move(applied.text);
        }
        ++outcome.inputs_applied;
        ++outcome.inputs_done;
        if (txn.head().next_work != next_work && txn.first_work()) {
            return;
        }
    }
}

/// Halves the batch after the ledger rejected an input of it, down to the rejected input itself,
/// which becomes a dead letter. The letter has no bytes if the ledger rejects the bytes as well.
std::size_t BatchApplier::narrow(const BatchOutcome& outcome, const LedgerFailure& failure) {
    if (outcome.inputs_tried > 1) {
        return outcome.inputs_tried / 2;
    }
    const auto [known, is_new] =
        poison_.try_emplace(outcome.first_tried, Poison{failure.error().message});
    if (!is_new && known->second.is_bare) {
        throw failure;  // no input causes that
    }
    known->second = {failure.error().message, false, !is_new};
    return 1;
}

Result<BatchOutcome> BatchApplier::apply(Ledger& ledger, std::string_view node,
                                         std::vector<OwnedInput>& inputs, std::size_t first,
                                         const BatchLimits& limits) {
    BatchLimits narrowed = limits;
    bool work_only = false;
    for (;;) {
        BatchOutcome outcome;
        bool work_was_pending = false;
        try {
            const std::unique_ptr<LedgerTxn> txn = ledger.begin(node);
            const SequenceNumber applied = txn->head().applied_seq;
            while (first + outcome.inputs_done < inputs.size() &&
                   inputs[first + outcome.inputs_done].seq <= applied) {
                ++outcome.inputs_done;
            }
            const std::size_t next = first + outcome.inputs_done;
            if (next < inputs.size() && inputs[next].seq.value != applied.value + 1) {
                return missing_inputs({applied.value + 1}, {inputs[next].seq.value - 1});
            }
            work_was_pending = txn->first_work().has_value();
            if (!work_was_pending && next == inputs.size()) {
                outcome.head = txn->head();
                return outcome;  // nothing to do, nothing to commit
            }
            const bool slice_only = work_was_pending && applier_.work(*txn, kWorkSlice);
            if (!slice_only && !work_only) {
                apply_inputs(*txn, inputs, next, narrowed, outcome);
            }
            outcome.work = work_left(*txn);
            txn->note_batch({applied, txn->head().applied_seq, outcome.work.pieces != 0});
            crash_point("applied");
            txn->commit();
            crash_point("committed");
            outcome.head = txn->head();
            outcome.batch = txn->noted_batch();
            return outcome;
        } catch (const ForgetNotSearched& wanted) {
            applier_.discard();
            if (outcome.inputs_tried > 1) {
                narrowed.records_max = outcome.inputs_tried - 1;
            } else if (!work_only && work_was_pending) {
                work_only = true;  // the pending work may belong to an earlier forget
            } else {
                outcome.search = wanted;
                outcome.work = {};
                return outcome;
            }
        } catch (const PoisonFound& found) {
            applier_.discard();
            poison_[found.seq] = found.poison;
        } catch (const LedgerFailure& failure) {
            applier_.discard();
            if (failure.error().code != ErrorCode::kInvalid || outcome.inputs_tried == 0) {
                throw;
            }
            narrowed.records_max = narrow(outcome, failure);
        } catch (...) {
            applier_.discard();
            throw;
        }
    }
}

namespace {

/// Does nothing if the record cannot be decoded, because the applier reports that.
Status load_bulk(const store::StorePaths& paths, bool no_memory, OwnedInput& input) {
    if (!claims_bulk(input.record)) {
        return Status::success();
    }
    const Result<RecordView> record = decode_record(input.record);
    if (!record || !record->meta.bulk) {
        return Status::success();
    }
    input.bulk_file = record->meta.bulk->file_name;
    if (no_memory) {
        input.dead_reason = "there was not enough memory to read its body";
        return Status::success();
    }
    Result<std::string> body = store::read_bulk(paths, *record->meta.bulk);
    if (body) {
        input.bulk_body = std::move(*body);
        return Status::success();
    }
    const Error& error = body.error();
    if (error.code != ErrorCode::kNotFound && error.code != ErrorCode::kCorrupt) {
        return error;
    }
    input.dead_reason = error.message;
    return Status::success();
}

}  // namespace

Result<std::vector<OwnedInput>> read_inputs(store::Queue& queue, const store::StorePaths& paths,
                                            SequenceNumber from, std::size_t inputs_max,
                                            std::size_t bytes_max, bool no_memory) {
    // Read first: whatever has a number by then is in the queue.
    const Result<SequenceNumber> last = queue.last_seq();
    if (!last) {
        return last.error();
    }
    if (last->value + 1 < from.value) {
        return older_queue({from.value - 1}, *last);
    }
    Result<std::vector<store::QueuedRecord>> records = queue.read(from, inputs_max, bytes_max);
    if (!records) {
        return records.error();
    }
    if (records->empty() && *last >= from) {
        return missing_inputs(from, *last);
    }
    std::vector<OwnedInput> inputs;
    inputs.reserve(records->size());
    std::size_t bytes = 0;
    for (store::QueuedRecord& record : *records) {
        OwnedInput& input = inputs.emplace_back();
        input.seq = record.seq;
        input.record = std::move(record.bytes);
        if (Status loaded = load_bulk(paths, no_memory, input); !loaded) {
            inputs.pop_back();
            if (inputs.empty()) {
                return loaded.error();
            }
            break;  // the inputs before this one can be applied meanwhile
        }
        bytes += input.bulk_body.size();
        if (bytes > bytes_max) {
            break;
        }
    }
    return inputs;
}

}  // namespace sluice::worker
