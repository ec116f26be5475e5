#include "worker/drain/rebuild.hpp"

#include <algorithm>
#include <chrono>
#include <new>
#include <system_error>
#include <thread>
#include <utility>

#include "core/ledger/account_rows.hpp"
#include "core/values/texts.hpp"
#include "os/clock/clock.hpp"

namespace sluice::worker {
namespace {

constexpr std::size_t kBatchBytesMax = 64U << 20;
/// Time limit of waits for the worker, which syncs its archive several times a second.
constexpr std::chrono::seconds kArchivePatience{10};
constexpr std::chrono::milliseconds kArchivePoll{100};

/// Returns true if a forget is applied and not finished, so that its data may still be in the
/// ledger or the archive (F2).
bool is_forgetting(store::EmbeddedLedger& ledger, const std::string& node) {
    bool found = false;
    ledger.snapshot(node)->scan(ForgetTask{}, {}, [&found](const ForgetTask&) {
        found = true;
        return false;
    });
    return found;
}

/// Waits until the worker has finished its forgets. Returns false after the time limit.
bool waits_for_forgets(store::EmbeddedLedger& ledger, const std::string& node) {
    for (const auto end = steady_now() + kArchivePatience; is_forgetting(ledger, node);) {
        if (steady_now() >= end) {
            return false;
        }
        std::this_thread::sleep_for(kArchivePoll);
    }
    return true;
}

/// Returns true if another attempt can succeed: the map grows with it, and another node's
/// transaction has ended by then.
bool passes(ErrorCode code) {
    return code == ErrorCode::kFull || code == ErrorCode::kBusy;
}

Error missing_inputs(const std::string& node, SequenceNumber applied, SequenceNumber first) {
    const std::string after =
        applied.value == 0 ? "" : ", the ledger ends at input " + std::to_string(applied.value);
    return {ErrorCode::kConflict,
            "the archive begins with input " + std::to_string(first.value) + " of queue " + node +
                after +
                ": what came before was removed or never archived, and a ledger can only be "
                "rebuilt from all of it"};
}

Status make_folder(const std::filesystem::path& folder) {
    std::error_code failure;
    std::filesystem::create_directory(folder, failure);
    if (failure) {
        return Error{ErrorCode::kIo,
                     "cannot make \"" + folder.string() + "\": " + failure.message()};
    }
    const bool empty = std::filesystem::is_empty(folder, failure);
    if (failure || !empty) {
        return Error{ErrorCode::kConflict, "\"" + folder.string() +
                                               "\" is not an empty folder: name one that does not "
                                               "exist yet"};
    }
    return Status::success();
}

}  // namespace

Result<std::unique_ptr<Rebuild>> Rebuild::begin(std::vector<std::filesystem::path> archives,
                                                const std::filesystem::path& folder,
                                                const RebuildOptions& options) {
    // Opened first, so that a wrong name leaves no empty ledger.
    const auto reader = ArchiveMerge::open(archives);
    if (!reader) {
        return reader.error();
    }
    const std::string mark =
        options.is_temporary ? "" : joined(archives, ", ", &std::filesystem::path::native);
    Status made = make_folder(folder);
    made = made ? store::EmbeddedLedger::create(folder, mark) : made;
    return made ? open_in(folder, mark.empty() ? Mode::kTemporary : Mode::kUnfinished,
                          std::move(archives), options)
                : made.error();
}

Result<std::unique_ptr<Rebuild>> Rebuild::resume_in(std::vector<std::filesystem::path> archives,
                                                    const std::filesystem::path& folder,
                                                    const RebuildOptions& options) {
    return open_in(folder, Mode::kTemporary, std::move(archives), options);
}

Result<std::unique_ptr<Rebuild>> Rebuild::open_in(const std::filesystem::path& folder, Mode mode,
                                                  std::vector<std::filesystem::path> archives,
                                                  const RebuildOptions& options) {
    auto opened = store::EmbeddedLedger::open(folder, mode);
    if (!opened) {
        return opened.error();
    }
    std::unique_ptr<Rebuild> rebuild(new Rebuild(std::move(archives), options));
    rebuild->embedded_ = opened->get();
    rebuild->ledger_ = std::move(*opened);
    return rebuild;
}

Result<std::unique_ptr<Rebuild>> Rebuild::resume(std::vector<std::filesystem::path> archives,
                                                 std::unique_ptr<Ledger> ledger,
                                                 const RebuildOptions& options) {
    const auto reader = ArchiveMerge::open(archives);
    if (!reader) {
        return reader.error();
    }
    std::unique_ptr<Rebuild> rebuild(new Rebuild(std::move(archives), options));
    rebuild->ledger_ = std::move(ledger);
    return rebuild;
}

/// Applies inputs of the batch, or a slice of work. Returns whether work is left.
Result<bool> Rebuild::apply_some(std::size_t& next) {
    for (;;) {
        try {
            const auto outcome = applier_.apply(*ledger_, node_, batch_, next, options_.batch);
            if (!outcome) {
                return outcome.error();
            }
            if (outcome->search) {
                return Error{ErrorCode::kCorrupt,
                             "input " + std::to_string(outcome->search->seq.value) +
                                 " of the archive is a FORGET that was not archived as one"};
            }
            next += outcome->inputs_done;
            return outcome->work.pieces != 0;
        } catch (const LedgerFailure& failure) {
            if (!passes(failure.error().code)) {
                return failure.error();
            }
        } catch (const std::bad_alloc&) {
            return Error{ErrorCode::kInternal, "there is not enough memory"};
        }
    }
}

/// Applies the batch, over as many transactions as its work takes.
Status Rebuild::apply(std::optional<std::uint64_t> slices) {
    if (options_.stops && options_.stops()) {
        return Error{ErrorCode::kBusy, "it was interrupted"};
    }
    std::size_t next = 0;
    bool work_left = !slices && !node_.empty();
    while (next < batch_.size() || work_left) {
        const auto applied = apply_some(next);
        if (!applied) {
            return applied.error();
        }
        work_left = !slices && *applied;
    }
    for (std::uint64_t slice = 0; slice < slices.value_or(0); ++slice) {
        if (const auto applied = apply_some(next); !applied) {
            return applied.error();
        }
    }
    inputs_count_ += batch_.size();
    if (!batch_.empty()) {
        applied_[node_] = std::max(batch_.back().seq, batch_.back().last_seq);
    }
    batch_.clear();
    batch_bytes_ = 0;
    if (options_.progress) {
        options_.progress(inputs_count_);
    }
    return Status::success();
}

Digest256 Rebuild::chain(const std::string& node) {
    return ledger_->snapshot(node)->head().inputs_sha256;
}

SequenceNumber Rebuild::applied(const std::string& node) {
    const auto [known, added] = applied_.try_emplace(node);
    if (added) {
        known->second = ledger_->snapshot(node)->head().applied_seq;
    }
    return known->second;
}

Status Rebuild::replay() {
    Status replayed = replay_all();
    if (embedded_ != nullptr && !options_.is_temporary) {
        try {
            embedded_->finish();
        } catch (const LedgerFailure& failure) {
            return replayed ? failure.error() : replayed;
        }
    }
    return replayed;
}

Status Rebuild::replay_all() {
    try {
        if (Status replayed = replay_steps(nullptr); !replayed) {
            return replayed;
        }
        const Positions positions = applied_;
        for (const auto& [node, seq] : positions) {
            if (Status worked = do_work(node, std::nullopt); !worked) {
                return worked;
            }
        }
        return {};
    } catch (const LedgerFailure& failure) {
        return failure.error();
    }
}

Status Rebuild::replay_to(const ReplayEnd& end) {
    try {
        return replay_steps(&end);
    } catch (const LedgerFailure& failure) {
        return failure.error();
    }
}

Status Rebuild::append(const std::string& node, std::vector<OwnedInput> inputs) {
    node_ = node;
    number_ = 0;
    batch_ = std::move(inputs);
    return apply(0);
}

Status Rebuild::do_work(const std::string& node, std::optional<std::uint64_t> slices) {
    node_ = node;
    number_ = 0;
    slices_ = slices;
    return finish_batch(nullptr);
}

Status Rebuild::replay_steps(const ReplayEnd* end) {
    Positions had;
    std::optional<AppliedBatch> latest;
    {
        const std::unique_ptr<LedgerReader> ledger = ledger_->snapshot({});
        ledger->scan_heads(
            [&had](const LedgerHead& head) { had.emplace(head.node, head.applied_seq); });
        latest = ledger->latest_batch();
    }
    const auto ahead =
        StepsAhead::open(archives_, had, latest ? latest->number : 0, options_.threads != 0);
    if (!ahead) {
        return ahead.error();
    }
    for (;;) {
        auto steps = (*ahead)->next();
        if (!steps) {
            return steps.error();
        }
        if (!*steps) {
            return finish_batch(end);
        }
        if (Status taken = take(**steps, end); !taken) {
            return taken;
        }
    }
}

/// Returns false if the ledger has the input, or if it comes after the end.
/// @param input  One of the steps, or nullptr for work alone.
bool Rebuild::is_wanted(const OwnedSteps& steps, const OwnedInput* input, const ReplayEnd* end) {
    if (input != nullptr && input->seq <= applied(steps.queue)) {
        return false;
    }
    if (end == nullptr) {
        return true;
    }
    const auto node = end->nodes.find(steps.queue);
    return node != end->nodes.end() &&
           (input != nullptr ? input->seq <= node->second.applied : steps.batch <= end->batch);
}

/// Returns the slices of work that the ledger has done in the batch whose inputs are all applied.
std::uint64_t Rebuild::slices_done() {
    const std::optional<AppliedBatch> latest = ledger_->snapshot({})->latest_batch();
    const bool is_it =
        latest && latest->node == node_ && (number_ == 0 || latest->number == number_);
    return is_it ? latest->slices.value_or(0) : 0;
}

/// Applies the rest of the batch, and the work that it has done after its last input. The end says
/// how much that is for the node's last batch, to which the order may add more later.
Status Rebuild::finish_batch(const ReplayEnd* end) {
    if (node_.empty()) {
        return {};
    }
    std::optional<std::uint64_t> slices = slices_;
    if (end != nullptr) {
        const auto last = end->nodes.find(node_);
        const bool is_last =
            last != end->nodes.end() && (number_ == 0 || number_ == last->second.batch);
        slices = is_last ? last->second.slices : slices;
    }
    if (slices && batch_.empty()) {
        slices = *slices - std::min(*slices, slices_done());
    }
    return apply(slices);
}

/// Takes the steps one by one, and moves their inputs.
Status Rebuild::take(OwnedSteps& steps, const ReplayEnd* end) {
    if (steps.inputs.empty()) {
        return take_one(steps, nullptr, end);
    }
    for (OwnedInput& input : steps.inputs) {
        if (Status taken = take_one(steps, &input, end); !taken) {
            return taken;
        }
    }
    return {};
}

Status Rebuild::take_one(const OwnedSteps& steps, OwnedInput* input, const ReplayEnd* end) {
    if (!is_wanted(steps, input, end)) {
        return {};
    }
    const bool crowded =
        batch_.size() >= options_.batch.records_max || batch_bytes_ >= kBatchBytesMax;
    const bool begins = steps.queue != node_ || steps.batch != number_;
    if (begins || crowded) {
        // An input waits for the work of those before it in its batch.
        if (Status applied_batch = begins ? finish_batch(end) : apply(std::nullopt);
            !applied_batch) {
            return applied_batch;
        }
    }
    node_ = steps.queue;
    number_ = steps.batch;
    slices_ = steps.slices;
    if (input == nullptr) {
        return {};
    }
    if (batch_.empty() && input->seq.value > applied(node_).value + 1) {
        lacks_inputs_ = true;
        return missing_inputs(node_, applied(node_), input->seq);
    }
    batch_.push_back(std::move(*input));
    if (options_.edit) {
        options_.edit(batch_.back());
    }
    batch_bytes_ += batch_.back().record.size() + batch_.back().bulk_body.size();
    return {};
}

Status Rebuild::wait_for(const std::string& node, SequenceNumber upto) {
    const auto end = steady_now() + kArchivePatience;
    for (;;) {
        if (Status replayed = replay_to({{{node, {upto, 0, {}}}}, UINT64_MAX}); !replayed) {
            return replayed;
        }
        if (applied(node) >= upto) {
            return do_work(node, std::nullopt);
        }
        if (steady_now() >= end) {
            return Error{ErrorCode::kConflict,
                         "the archive ends at input " + std::to_string(applied(node).value) +
                             ", the ledger has applied input " + std::to_string(upto.value) +
                             ": they cannot be compared"};
        }
        std::this_thread::sleep_for(kArchivePoll);
    }
}

Result<RebuildComparison> Rebuild::compare(store::EmbeddedLedger& other, const std::string& node) {
    try {
        if (!waits_for_forgets(other, node)) {
            return RebuildComparison{
                false, true, "a forget is under way there; try again when the worker has done it"};
        }
        const auto theirs = other.rows(node);
        const SequenceNumber upto = theirs->head().applied_seq;
        if (applied(node) > upto) {
            return RebuildComparison{false, true,
                                     "that ledger ends at input " + std::to_string(upto.value) +
                                         ", before input " + std::to_string(applied(node).value) +
                                         " of the archive"};
        }
        if (Status waited = wait_for(node, upto); !waited) {
            return waited.error();
        }
        const auto ours = embedded_->rows(node);
        const auto difference = store::first_difference(*ours, *theirs);
        if (difference) {
            return RebuildComparison{false, false,
                                     "after " + std::to_string(inputs_count_) +
                                         " inputs the ledgers differ, first in table \"" +
                                         difference->table + "\", key " + difference->key_hex};
        }
        return RebuildComparison{
            true, false,
            "after " + std::to_string(inputs_count_) + " inputs the ledgers are equal"};
    } catch (const LedgerFailure& failure) {
        return failure.error();
    }
}

}  // namespace sluice::worker
