#include "worker/drain/applying.hpp"

#include <algorithm>
#include <exception>
#include <new>
#include <utility>

#include "program/system/crash_point.hpp"
#include "worker/drain/retry.hpp"

namespace sluice::worker {
namespace {

constexpr unsigned kNoMemoryMax = 10;

}  // namespace

Applying::Applying(const store::StorePaths& paths, store::Queue& queue, LedgerOpener open_ledger,
                   const Options& options, Searcher searcher)
    : paths_(paths),
      queue_(queue),
      opener_(std::move(open_ledger)),
      options_(options),
      searcher_(std::move(searcher)),
      applier_(options.seals, options.senders, options.threads),
      limits_(options.batch) {}

Status Applying::open_ledger() {
    auto opened = opener_();
    if (!opened) {
        return opened.error();
    }
    ledger_ = std::move(*opened);
    return Status::success();
}

Status Applying::open() {
    if (Status opened = open_ledger(); !opened) {
        return opened;
    }
    try {
        const auto snapshot = ledger_->snapshot(queue_.uuid());
        head_ = snapshot->head();
        work_ = work_left(*snapshot);
    } catch (const LedgerFailure& failure) {
        return failure.error();
    }
    return Status::success();
}

bool Applying::has_backlog() const noexcept {
    return next_ < inputs_->size() || inputs_->size() >= limits_.records_max || work_.pieces != 0;
}

Result<Applying::Step> Applying::step() {
    try {
        if (!ledger_) {
            if (Status opened = open_ledger(); !opened) {
                return opened.error();
            }
        }
        return apply_batch();
    } catch (const LedgerFailure& failure) {
        return failure.error();
    } catch (const std::bad_alloc&) {
        return no_memory();
    }
}

/// Makes these the inputs to apply next. The archiving thread may still use the earlier ones.
void Applying::hold(std::vector<OwnedInput> inputs) {
    inputs_ = std::make_shared<std::vector<OwnedInput>>(std::move(inputs));
    next_ = 0;
}

Result<std::vector<OwnedInput>> Applying::read_now() {
    return read_inputs(queue_, paths_, {head_.applied_seq.value + 1}, limits_.records_max,
                       options_.read_bytes_max, skips_body_);
}

Status Applying::read_ahead() {
    if (next_ < inputs_->size()) {
        return Status::success();
    }
    hold(take_further());
    if (inputs_->empty()) {
        auto read = read_now();
        if (!read) {
            return read.error();
        }
        hold(*std::move(read));
    }
    skips_body_ = false;
    crash_point("read");
    return Status::success();
}

/// Returns whether these inputs are as many as are read at once, so that more may wait.
bool Applying::is_full() const noexcept {
    if (inputs_->size() >= options_.batch.records_max) {
        return true;
    }
    std::size_t bytes = 0;
    for (const OwnedInput& input : *inputs_) {
        bytes += input.record.size() + input.bulk_body.size();
    }
    return bytes >= options_.read_bytes_max;
}

/// Lets threads help while many inputs wait, until fewer do than are applied at once.
void Applying::seek_help() {
    const auto last = is_full() ? queue_.last_seq() : Result<SequenceNumber>(SequenceNumber{});
    const std::uint64_t waiting =
        last && *last > head_.applied_seq ? last->value - head_.applied_seq.value : 0;
    is_helped_ = options_.threads != 0 && waiting >= (is_helped_ ? 1 : options_.help_from);
    limits_.is_helped = is_helped_;
}

/// Begins to read the inputs after these, unless memory is short.
void Applying::read_further() {
    if (!is_helped_ || further_ || limits_.records_max != options_.batch.records_max ||
        inputs_->empty() || !is_full()) {
        return;
    }
    further_.emplace().from = {inputs_->back().seq.value + 1};
    reader_.start([this, further = &*further_, inputs_max = options_.batch.records_max] {
        try {
            auto read =
                read_inputs(queue_, paths_, further->from, inputs_max, options_.read_bytes_max);
            if (read) {
                further->inputs = *std::move(read);
            }
        } catch (const std::exception&) {  // they are read again when their turn comes
        }
    });
}

/// Returns the inputs that were read ahead, or none if they are not those that follow now.
std::vector<OwnedInput> Applying::take_further() {
    reader_.wait();
    std::optional<FurtherInputs> further = std::exchange(further_, std::nullopt);
    const bool is_next = further && further->from.value == head_.applied_seq.value + 1 &&
                         limits_.records_max == options_.batch.records_max && !skips_body_;
    return is_next ? std::move(further->inputs) : std::vector<OwnedInput>();
}

Result<Applying::Step> Applying::apply_batch() {
    if (Status read = read_ahead(); !read) {
        return read.error();
    }
    std::vector<OwnedInput>& inputs = *inputs_;
    if (inputs.empty() && work_.pieces == 0) {
        return Step{};
    }
    if (next_ < inputs.size() && inputs[next_].seq.value > head_.applied_seq.value + 1) {
        const Error missing =
            missing_inputs({head_.applied_seq.value + 1}, {inputs[next_].seq.value - 1});
        hold({});  // the next step reads again, and may find the gap accepted
        return missing;
    }
    batch_began_ = steady_now();
    seek_help();
    read_further();
    auto outcome = applier_.apply(*ledger_, queue_.uuid(), inputs, next_, limits_);
    if (outcome && outcome->search) {
        next_ += outcome->inputs_done;
        if (Status found = search(*outcome->search); !found) {
            return found.error();
        }
        outcome = applier_.apply(*ledger_, queue_.uuid(), inputs, next_, limits_);
    }
    if (!outcome) {
        return outcome.error();
    }
    Step step;
    step.worked = outcome->inputs_done != 0 || work_.pieces != 0;
    step.first = next_;
    step.took = std::chrono::duration_cast<std::chrono::microseconds>(steady_now() - batch_began_);
    next_ += outcome->inputs_done;
    work_ = outcome->work;
    head_ = outcome->head;
    limits_ = options_.batch;
    no_memory_count_ = 0;
    step.outcome = std::move(*outcome);
    return step;
}

/// Searches for the next input's data. A permanent error refuses the FORGET, a temporary one is
/// retried.
Status Applying::search(const ForgetNotSearched& wanted) {
    OwnedInput& input = (*inputs_)[next_];
    Result<ForgetFound> found = Error{ErrorCode::kInternal, {}};
    try {
        found = searcher_(wanted);
    } catch (const DamagedRow& damaged) {
        found = damaged.error();
    }
    if (found) {
        input.forget_found = *std::move(found);
    } else if (may_pass(found.error().code)) {
        return found.error();
    } else {
        input.damage = "nothing was forgotten: " + found.error().message;
    }
    return Status::success();
}

/// Retries with smaller batches. An input that is alone in its batch, and repeatedly lacks memory
/// to be read or applied, becomes a dead letter.
Error Applying::no_memory() {
    if (limits_.records_max == 1 && ++no_memory_count_ >= kNoMemoryMax) {
        no_memory_count_ = 0;
        if (next_ < inputs_->size()) {
            applier_.give_up_on((*inputs_)[next_].seq, "there was not enough memory to apply it");
        } else {
            skips_body_ = true;
        }
    }
    limits_.records_max = std::max<std::size_t>(1, limits_.records_max / 4);
    return {ErrorCode::kBusy, "not enough memory for a batch; trying a smaller one"};
}

}  // namespace sluice::worker
