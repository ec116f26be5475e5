// Rebuild: replays archives into a ledger. Identical inputs give identical bytes in a new one, with
// any number of threads: they read and prepare inputs, and the caller's alone applies them.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/values/ids.hpp"
#include "core/values/result.hpp"
#include "lmdb_store/archive/archive.hpp"
#include "lmdb_store/ledger/ledger.hpp"
#include "worker/drain/archive_merge.hpp"
#include "worker/drain/input_batch.hpp"
#include "worker/drain/steps_ahead.hpp"

namespace sluice::worker {

struct RebuildOptions {
    BatchLimits batch{10'000, std::chrono::hours(1)};
    /// Receives the number of inputs replayed so far, after each batch. May be empty.
    std::function<void(std::uint64_t)> progress = {};
    /// May change each input before it is applied (`program preview`). May be empty.
    std::function<void(OwnedInput&)> edit = {};
    /// Returns true to end the replay with kBusy. May be empty.
    std::function<bool()> stops = {};
    bool is_temporary = false;  ///< The new ledger is never made durable.
    /// Judges the seals of commands, and outlives the rebuild. nullptr keeps the verdicts of the
    /// workers that applied them.
    SealCheck* seals = nullptr;
    /// Threads that prepare inputs before they are applied. 0 means that the archives are not read
    /// ahead either.
    unsigned threads = preparing_threads();
};

/// Result of the comparison with a ledger in use.
struct RebuildComparison {
    bool equal = false;
    bool behind = false;  ///< Not compared, because the other is older than the archive or busy.
    std::string text;     ///< One line with the tables compared and the first difference.
};

class Rebuild {
public:
    /// Makes a new ledger in `folder`, which must be empty or not exist. Unless it is temporary, it
    /// is refused until replay() has returned, because its batches are not synced.
    /// @param archives  At least one; of a fleet, one for each node. Merged in the order in which
    /// the fleet's ledger applied them.
    [[nodiscard]] static Result<std::unique_ptr<Rebuild>> begin(
        std::vector<std::filesystem::path> archives, const std::filesystem::path& folder,
        const RebuildOptions& options);
    /// Resumes after the checkpoints of the embedded ledger in `folder`. Requires: it is temporary.
    [[nodiscard]] static Result<std::unique_ptr<Rebuild>> resume_in(
        std::vector<std::filesystem::path> archives, const std::filesystem::path& folder,
        const RebuildOptions& options);
    /// Resumes after the checkpoints of a ledger, which may hold inputs of other nodes.
    [[nodiscard]] static Result<std::unique_ptr<Rebuild>> resume(
        std::vector<std::filesystem::path> archives, std::unique_ptr<Ledger> ledger,
        const RebuildOptions& options);

    /// Replays the archived inputs that the ledger lacks, and the work that they leave. Returns
    /// kCorrupt if the archive is damaged or incomplete, kConflict if retention removed the next
    /// input. In both cases the batches that were replayed are durable.
    [[nodiscard]] Status replay();
    /// As replay(), but stops at `end`: after each node's last input and work slice there. Skips
    /// the inputs of other nodes.
    [[nodiscard]] Status replay_to(const ReplayEnd& end);
    /// Applies the next inputs of `node`, and leaves the work of the last one.
    [[nodiscard]] Status append(const std::string& node, std::vector<OwnedInput> inputs);
    /// Does work that the node's last input left: up to `slices` in total, or all of it.
    [[nodiscard]] Status do_work(const std::string& node, std::optional<std::uint64_t> slices);
    /// Returns the last input of the node that was replayed.
    [[nodiscard]] SequenceNumber applied(const std::string& node);
    /// Returns the chain after applied().
    [[nodiscard]] Digest256 chain(const std::string& node);
    /// Compares with a ledger that may be in use: replays the inputs that it has applied meanwhile,
    /// and reads one snapshot. Waits some seconds for a lagging archive and for a running forget.
    /// Requires: begin() made this object, from one archive.
    [[nodiscard]] Result<RebuildComparison> compare(store::EmbeddedLedger& other,
                                                    const std::string& node);

    [[nodiscard]] std::uint64_t inputs_count() const noexcept { return inputs_count_; }
    /// Returns whether a replay failed because retention removed the next input.
    [[nodiscard]] bool lacks_inputs() const noexcept { return lacks_inputs_; }
    /// Requires: begin() or resume_in() made this object.
    [[nodiscard]] store::EmbeddedLedger& ledger() noexcept { return *embedded_; }

private:
    using Mode = store::EmbeddedLedger::Mode;

    Rebuild(std::vector<std::filesystem::path> archives, const RebuildOptions& options)
        : archives_(std::move(archives)),
          options_(options),
          applier_(options.seals, nullptr, options.threads) {}
    [[nodiscard]] static Result<std::unique_ptr<Rebuild>> open_in(
        const std::filesystem::path& folder, Mode mode, std::vector<std::filesystem::path> archives,
        const RebuildOptions& options);
    [[nodiscard]] Status replay_all();
    [[nodiscard]] Status replay_steps(const ReplayEnd* end);
    [[nodiscard]] bool is_wanted(const OwnedSteps& steps, const OwnedInput* input,
                                 const ReplayEnd* end);
    [[nodiscard]] Status take(OwnedSteps& steps, const ReplayEnd* end);
    [[nodiscard]] Status take_one(const OwnedSteps& steps, OwnedInput* input, const ReplayEnd* end);
    [[nodiscard]] Status finish_batch(const ReplayEnd* end);
    [[nodiscard]] std::uint64_t slices_done();
    /// @param slices  Slices of the work that the batch leaves; no value means all.
    [[nodiscard]] Status apply(std::optional<std::uint64_t> slices);
    [[nodiscard]] Result<bool> apply_some(std::size_t& next);
    [[nodiscard]] Status wait_for(const std::string& node, SequenceNumber upto);

    std::vector<std::filesystem::path> archives_;
    RebuildOptions options_;
    std::unique_ptr<Ledger> ledger_;
    store::EmbeddedLedger* embedded_ = nullptr;  ///< `ledger_`, if it is an embedded one.
    BatchApplier applier_;
    std::string node_;                     ///< Node whose inputs are in the batch.
    std::uint64_t number_ = 0;             ///< Number of the batch in the order, or 0.
    std::optional<std::uint64_t> slices_;  ///< MergedStep::slices of the batch.
    std::vector<OwnedInput> batch_;
    std::size_t batch_bytes_ = 0;
    Positions applied_;
    std::uint64_t inputs_count_ = 0;
    bool lacks_inputs_ = false;
};

}  // namespace sluice::worker
