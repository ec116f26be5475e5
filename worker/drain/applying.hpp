// Applying: the drain's next batch, from the queue into the ledger.
//
// Reads inputs ahead of the ledger and applies them batch by batch. An error changes nothing, and
// the next step() tries the same inputs. While there is a backlog, the next inputs are read on
// another thread while these are applied; if anything is wrong with them, they are read again when
// their turn comes. Not thread-safe.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "core/ledger/ledger.hpp"
#include "core/values/ids.hpp"
#include "core/values/result.hpp"
#include "lmdb_store/queue/queue.hpp"
#include "lmdb_store/store/format.hpp"
#include "os/clock/clock.hpp"
#include "worker/drain/input_batch.hpp"
#include "worker/drain/side_thread.hpp"
#include "worker/drain/target_ledger.hpp"

namespace sluice::worker {

class Applying {
public:
    /// Searches for the data that a FORGET names. The FORGET is the next input.
    using Searcher = std::function<Result<ForgetFound>(const ForgetNotSearched&)>;

    struct Options {
        BatchLimits batch;
        std::size_t read_bytes_max = 0;  ///< Bytes of the queue that are copied at once.
        SealCheck* seals = nullptr;      ///< As Applier has them.
        SenderCheck* senders = nullptr;
        unsigned threads = 0;         ///< DrainOptions::threads
        std::uint64_t help_from = 0;  ///< DrainOptions::help_from
    };
    /// Result of one step.
    struct Step {
        bool worked = false;    ///< False if the queue is empty and no work is left.
        std::size_t first = 0;  ///< Index in inputs() of the first that is done.
        BatchOutcome outcome;
        std::chrono::microseconds took{0};
    };

    /// Requires: the queue outlives it.
    Applying(const store::StorePaths& paths, store::Queue& queue, LedgerOpener open_ledger,
             const Options& options, Searcher searcher);

    /// Opens the ledger and reads its checkpoint. Once, before step().
    [[nodiscard]] Status open();
    /// Applies one batch. Returns a LedgerFailure or a lack of memory as an Error.
    [[nodiscard]] Result<Step> step();
    /// Closes the ledger, which may be unusable after an I/O error. The next step() reopens it.
    void close_ledger() noexcept { ledger_.reset(); }

    [[nodiscard]] const std::vector<OwnedInput>& inputs() const noexcept { return *inputs_; }
    /// Returns inputs(), whose applied ones do not change any more.
    [[nodiscard]] std::shared_ptr<const std::vector<OwnedInput>> shared_inputs() const noexcept {
        return inputs_;
    }
    [[nodiscard]] const LedgerHead& head() const noexcept { return head_; }
    [[nodiscard]] const WorkLeft& work() const noexcept { return work_; }
    /// Returns the start of the last batch.
    [[nodiscard]] Clock::time_point batch_began() const noexcept { return batch_began_; }
    /// Returns whether other threads help, because many inputs wait.
    [[nodiscard]] bool is_helped() const noexcept { return is_helped_; }
    /// Returns true if more inputs are known to wait, or work is left.
    [[nodiscard]] bool has_backlog() const noexcept;
    [[nodiscard]] bool has_ledger() const noexcept { return ledger_ != nullptr; }
    /// Requires: has_ledger().
    [[nodiscard]] Ledger& ledger() noexcept { return *ledger_; }

private:
    [[nodiscard]] Status open_ledger();
    /// Inputs that were read while earlier inputs were applied.
    struct FurtherInputs {
        SequenceNumber from;
        std::vector<OwnedInput> inputs;  ///< None if there are none, or if they cannot be read.
    };

    [[nodiscard]] Status read_ahead();
    [[nodiscard]] Result<std::vector<OwnedInput>> read_now();
    [[nodiscard]] bool is_full() const noexcept;
    void seek_help();
    void read_further();
    [[nodiscard]] std::vector<OwnedInput> take_further();
    void hold(std::vector<OwnedInput> inputs);
    [[nodiscard]] Result<Step> apply_batch();
    [[nodiscard]] Status search(const ForgetNotSearched& wanted);
    [[nodiscard]] Error no_memory();

    store::StorePaths paths_;
    store::Queue& queue_;
    LedgerOpener opener_;
    Options options_;
    Searcher searcher_;
    std::unique_ptr<Ledger> ledger_;
    BatchApplier applier_;
    bool is_helped_ = false;
    BatchLimits limits_;  ///< Smaller than the options' while memory is short.

    LedgerHead head_;
    WorkLeft work_;
    std::shared_ptr<std::vector<OwnedInput>> inputs_ = std::make_shared<std::vector<OwnedInput>>();
    std::size_t next_ = 0;  ///< Index in inputs_ of the first that is not applied yet.
    Clock::time_point batch_began_{};
    unsigned no_memory_count_ = 0;  ///< Failures in a row with a batch of one input.
    bool skips_body_ = false;       ///< The next input's body does not fit into the memory.
    std::optional<FurtherInputs> further_;
    SideThread reader_;  ///< Writes `further_`. Ends before the members that it uses.
};

}  // namespace sluice::worker
