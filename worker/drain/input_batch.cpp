#include "worker/drain/input_batch.hpp"

#include <algorithm>
#include <exception>
#include <new>
#include <span>

#include "os/clock/clock.hpp"
#include "worker/system/crash_point.hpp"

namespace sluice::worker {
namespace {

/// Orders tried again in one transaction; the next input waits for them all.
constexpr std::size_t kWorkSlice = 1000;
/// Inputs that a ledger is told of at once: worth a way to a database, and applied well within a
/// batch's time.
constexpr std::size_t kInputsExpected = 1000;

/// Thrown by the applier at one input; what it did is undone with the transaction.
struct PoisonFound {
    SequenceNumber seq;
    Poison poison;
};

/// A few at a time: they are applied while they are still in the processor's cache.
void view_next(std::span<const OwnedInput> inputs, std::vector<Input>& views) {
    views.clear();
    for (const OwnedInput& input : inputs.first(std::min(kInputsExpected, inputs.size()))) {
        views.push_back(input.view());
    }
}

/// Its head and the beginning of its body: they were read so long ago that only memory has them.
void fetch_ahead(const std::string& record) {
    constexpr std::size_t kCacheLine = 64;
    constexpr std::size_t kBytes = 8 * kCacheLine;
    for (std::size_t at = 0; at < std::min(kBytes, record.size()); at += kCacheLine) {
        __builtin_prefetch(record.data() + at);
    }
}

Error missing_inputs(SequenceNumber applied, SequenceNumber first) {
    return {ErrorCode::kCorrupt, "inputs " + std::to_string(applied.value + 1) + " to " +
                                     std::to_string(first.value - 1) +
                                     " are missing: the ledger ends at input " +
                                     std::to_string(applied.value) + " and the next one there is " +
                                     std::to_string(first.value)};
}

}  // namespace

Input OwnedInput::view() const {
    return {seq,
            record,
            bulk_body,
            dead_reason,
            original_sha256,
            damage,
            forget_found ? &*forget_found : nullptr};
}

InputClass BatchApplier::apply_one(LedgerTxn& txn, const OwnedInput& input) {
    Input view = input.view();
    if (const auto known = poison_.find(input.seq); known != poison_.end()) {
        (known->second.is_damage ? view.damage : view.dead_reason) = known->second.reason;
    }
    try {
        return applier_.apply(view, txn).input_class;
    } catch (const DamagedRow& damaged) {
        if (!damaged.order() || view.damage) {
            throw;  // in the way of more than this input
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
    std::vector<Input> views;  // of inputs[viewed] and what follows it
    std::size_t viewed = first;
    std::size_t expected = first;
    for (std::size_t at = first; at < last; ++at) {
        if (at == expected) {
            // What was read ahead is applied: to read it again would cost more than the time.
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
        if (++outcome.inputs_tried == 1) {
            outcome.first_tried = inputs[at].seq;
        }
        if (at + 1 < last) {
            fetch_ahead(inputs[at + 1].record);
        }
        const InputClass input_class = apply_one(txn, inputs[at]);
        inputs[at].input_class = input_class;
        ++outcome.inputs_applied;
        ++outcome.inputs_done;
        if (input_class == InputClass::kCommand && work_is_pending(txn)) {
            return;
        }
    }
}

/// The ledger does not take something of this batch: half of it is tried, down to the one input
/// that is at fault, which goes to the dead letters.
std::size_t BatchApplier::narrow(const BatchOutcome& outcome, const LedgerFailure& failure) {
    if (outcome.inputs_tried > 1) {
        return outcome.inputs_tried / 2;
    }
    if (!poison_.try_emplace(outcome.first_tried, Poison{failure.error().message, false}).second) {
        throw failure;  // not even as a dead letter
    }
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
                return missing_inputs(applied, inputs[next].seq);
            }
            const bool work_pending = work_is_pending(*txn);
            work_was_pending = work_pending;
            if (!work_pending && next == inputs.size()) {
                outcome.head = txn->head();
                return outcome;  // nothing to do, nothing to commit
            }
            const bool slice_only = work_pending && applier_.work(*txn, kWorkSlice);
            if (!slice_only && !work_only) {
                apply_inputs(*txn, inputs, next, narrowed, outcome);
            }
            outcome.work = work_left(*txn);
            crash_point("applied");
            txn->commit();
            crash_point("committed");
            outcome.head = txn->head();
            return outcome;
        } catch (const ForgetNotSearched& wanted) {
            applier_.discard();
            if (outcome.inputs_tried > 1) {
                narrowed.records_max = outcome.inputs_tried - 1;
            } else if (!work_only && work_was_pending) {
                work_only = true;  // an earlier forget may be among it
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

}  // namespace sluice::worker
