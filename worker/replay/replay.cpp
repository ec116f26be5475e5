#include "worker/replay/replay.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <map>
#include <memory>
#include <set>
#include <thread>
#include <utility>

#include "core/ledger/account_rows.hpp"
#include "core/values/lookup.hpp"
#include "os/clock/clock.hpp"
#include "worker/copy/snapshot.hpp"
#include "worker/drain/input_tail.hpp"
#include "worker/drain/rebuild.hpp"
#include "worker/replay/stored_ledger.hpp"

namespace sluice::worker {
namespace {

/// The worker makes its archive durable several times a second, and forgets within a second or two.
constexpr std::chrono::seconds kPatience{10};
constexpr std::chrono::milliseconds kReplayPoll{100};
constexpr unsigned kTriesMax = 3;

// ---- How far the ledger is ----------------------------------------------------------------------

/// Three places of a ledger say how far a node is. One that was edited is outvoted by the others.
SequenceNumber agreed(std::array<std::uint64_t, 3> said) {
    std::ranges::sort(said);
    return {said[1]};
}

std::uint64_t inputs_of(const Totals& totals) {
    return totals.applied + totals.stale + totals.duplicate + totals.catalog + totals.clicks +
           totals.commands + totals.dead;
}

struct LedgerState {
    ReplayEnd end;                ///< Has the nodes of the archives that the ledger knows.
    std::set<std::string> nodes;  ///< The nodes of its batches.
    std::map<std::string, LedgerHead> heads;
};

LedgerState state_of(LedgerReader& ledger, const std::set<std::string>& queues) {
    LedgerState state;
    std::map<std::string, AppliedBatch> batches;
    ledger.scan(AppliedBatch{}, {}, [&](const AppliedBatch& row) {
        state.end.batch = row.number;
        state.nodes.insert(row.node);
        batches.insert_or_assign(row.node, row);
    });
    const auto& heads = state.heads;
    for (const LedgerHead& head : heads_of(ledger)) {
        state.heads.emplace(head.node, head);
    }
    for (const std::string& queue : queues) {
        const auto head = heads.find(queue);
        const auto batch = batches.find(queue);
        if (head == heads.end() && batch == batches.end()) {
            continue;
        }
        const std::uint64_t last =
            batch == batches.end() ? head->second.applied_seq.value : batch->second.last_seq.value;
        const std::uint64_t applied = head == heads.end() ? last : head->second.applied_seq.value;
        const std::uint64_t counted = head == heads.end() ? last : inputs_of(head->second.totals);
        ReplayEnd::Node& node = state.end.nodes[queue];
        node.applied = agreed({applied, counted, last});
        if (batch != batches.end()) {
            node.batch = batch->second.number;
            node.slices = batch->second.slices;
        }
    }
    return state;
}

Result<std::set<std::string>> queues_of(const std::vector<std::filesystem::path>& archives) {
    std::set<std::string> queues;
    for (const std::filesystem::path& folder : archives) {
        const auto found = store::archived_queues(folder);
        if (!found) {
            return found.error();
        }
        queues.insert(found->begin(), found->end());
    }
    return queues;
}

/// Returns whether some node has not performed a FORGET yet. A task that no command left does not
/// count: it is a difference.
bool is_forgetting(StoredLedger& stored, const std::set<std::string>& queues) {
    std::set<std::string> tasks;
    stored.reader().scan(ForgetTask{}, {},
                         [&tasks](const ForgetTask& task) { tasks.insert(task.command_id); });
    bool found = false;
    for (auto queue = queues.begin(); !tasks.empty() && !found && queue != queues.end(); ++queue) {
        stored.reader().turn_to(*queue);
        stored.reader().scan_commands([&](const CommandRow& row) {
            found = row.topic == Topic::kForget && tasks.contains(row.command_id);
            return !found;
        });
    }
    return found;
}

class Audit {
public:
    explicit Audit(const ReplayOptions& options) : options_(options) {}

    Result<ReplayOutcome> run() {
        Status opened = assign(queues_, queues_of(options_.archives));
        opened = opened ? assign(stored_, open_stored(options_.ledger)) : opened;
        if (!opened) {
            return opened.error();
        }
        for (unsigned attempt = 0; attempt < kTriesMax; ++attempt) {
            if (Status replayed = replay_somehow(attempt); !replayed) {
                return replayed.error();
            }
            const auto changed = has_forgotten();
            if (!changed) {
                return changed.error();
            }
            if (!*changed) {
                return compare();
            }
        }
        return busy("data was forgotten meanwhile: try again");
    }

private:
    [[nodiscard]] bool is_stopped() const { return options_.stops && options_.stops(); }
    /// Takes a snapshot between two forgets, which change ledger and archive one after the other.
    [[nodiscard]] Status take_snapshot() {
        for (const auto end = steady_now() + kPatience;;) {
            if (Status taken = stored_->take_snapshot(); !taken) {
                return taken;
            }
            if (!is_forgetting(*stored_, queues_)) {
                break;
            }
            if (steady_now() >= end) {
                return busy("a forget is under way; try again when the workers have done it");
            }
            std::this_thread::sleep_for(kReplayPoll);
        }
        const LedgerState state = state_of(stored_->reader(), queues_);
        end_ = state.end;
        return check_nodes(state);
    }
    /// Checks that the archives are those of the ledger's nodes.
    [[nodiscard]] Status check_nodes(const LedgerState& state) const {
        const bool has_inputs = std::ranges::any_of(
            state.heads, [](const auto& head) { return head.second.applied_seq.value != 0; });
        if (end_.nodes.empty() && !queues_.empty() && has_inputs) {
            return conflict("the archive is that of queue " + *queues_.begin() +
                            ", of which the ledger has no input: it is the archive of another "
                            "store");
        }
        for (const std::string& node : state.nodes) {
            if (!queues_.contains(node) && state.heads.contains(node)) {
                return conflict("the ledger has inputs of queue " + node +
                                ", whose archive was not named: --from names the archive of every "
                                "node");
            }
        }
        return {};
    }
    /// Begins with the first input, else with the newest snapshot.
    [[nodiscard]] Status replay_somehow(unsigned attempt) {
        Status replayed = replay(attempt);
        if (snapshot_ || replayed || replayed_ == nullptr || !replayed_->lacks_inputs()) {
            return replayed;
        }
        auto newest = newest_snapshot(options_.snapshots);
        if (!newest || !*newest) {
            return newest ? conflict(replayed.error().message +
                                     ", or compared from a snapshot on, which "
                                     "`sluice ledger snapshot` makes in " +
                                     options_.snapshots.string())
                          : newest.error();
        }
        snapshot_ = std::move(*newest);
        return replay(attempt + kTriesMax);
    }
    [[nodiscard]] Status begin(const std::filesystem::path& folder, const RebuildOptions& how) {
        if (snapshot_) {
            const CommandKeys none;
            const CommandKeys& keys = options_.seals == nullptr ? none : options_.seals->keys();
            if (Status there = restore_snapshot(*snapshot_, keys, folder); !there) {
                return there;
            }
        }
        auto begun = snapshot_ ? Rebuild::resume_in(options_.archives, folder, how)
                               : Rebuild::begin(options_.archives, folder, how);
        if (!begun) {
            return begun.error();
        }
        replayed_ = std::move(*begun);
        return {};
    }
    /// A snapshot that is newer than the ledger is not one of its past.
    [[nodiscard]] Status check_begin() {
        for (const auto& [queue, node] : end_.nodes) {
            if (replayed_->applied(queue) > node.applied) {
                return conflict("the snapshot " + snapshot_->string() + " ends at input " +
                                std::to_string(replayed_->applied(queue).value) + " of queue " +
                                queue + ", the ledger at input " +
                                std::to_string(node.applied.value) +
                                ": the ledger was restored or cut");
            }
        }
        return {};
    }
    /// An embedded ledger keeps the pages of a snapshot, so that most is replayed before it.
    [[nodiscard]] Status replay(unsigned attempt) {
        const std::filesystem::path folder =
            options_.temporary / ("replay" + std::to_string(attempt));
        if (Status taken = take_snapshot(); !taken) {
            return taken;
        }
        const std::uint64_t wanted =
            sum_of(end_.nodes, [](const auto& node) { return node.second.applied.value; });
        RebuildOptions how{.stops = options_.stops, .is_temporary = true, .seals = options_.seals};
        how.progress = [this, wanted](std::uint64_t inputs) {
            if (options_.progress) {
                options_.progress(std::min(inputs, wanted), wanted);
            }
        };
        replayed_.reset();
        Status begun = begin(folder, how);
        begun = (begun && snapshot_) ? check_begin() : begun;
        if (!begun) {
            return begun;
        }
        if (stored_->is_embedded()) {
            stored_->drop_snapshot();
            Status taken = replayed_->replay_to(end_);
            taken = taken ? take_snapshot() : taken;
            if (!taken) {
                return taken;
            }
        }
        return catch_up();
    }
    /// Returns a queue of which inputs are missing, or nothing.
    [[nodiscard]] const std::string* behind() {
        for (const auto& [queue, node] : end_.nodes) {
            if (replayed_->applied(queue) < node.applied) {
                return &queue;
            }
        }
        return nullptr;
    }
    /// Waits until the archives of a fleet hold what the snapshot has, because another node's later
    /// batch must not be replayed before it. If one never does, the replay says what it lacks.
    [[nodiscard]] Status wait_for_archives() {
        for (const auto end = steady_now() + kPatience; end_.nodes.size() > 1;) {
            const auto held = archives_hold(options_.archives, end_);
            if (!held) {
                return held.error();
            }
            if (*held || steady_now() >= end || is_stopped()) {
                break;
            }
            std::this_thread::sleep_for(kReplayPoll);
        }
        return {};
    }
    /// Replays to the snapshot's position. An archive lags a little; what its store has applied and
    /// not archived is still in its queue.
    [[nodiscard]] Status catch_up() {
        if (Status waited = wait_for_archives(); !waited) {
            return waited;
        }
        for (const auto end = steady_now() + kPatience;;) {
            if (Status more = replayed_->replay_to(end_); !more) {
                return more;
            }
            const std::string* const late = behind();
            if (late == nullptr) {
                return {};
            }
            if (Status tail = replay_queue(); !tail) {
                return tail;
            }
            if (behind() == nullptr) {
                return {};
            }
            if (steady_now() >= end || is_stopped()) {
                return conflict("the archive of queue " + *late + " ends at input " +
                                std::to_string(replayed_->applied(*late).value) +
                                ", the ledger has applied input " +
                                std::to_string(end_.nodes.at(*late).applied.value) +
                                ": the archive was cut, or it is not the one of this ledger");
            }
            std::this_thread::sleep_for(kReplayPoll);
        }
    }
    /// Applies what the own queue still has of the inputs that the archive lacks, if they are what
    /// the ledger has applied.
    [[nodiscard]] Status replay_queue() {
        if (!options_.own) {
            return {};
        }
        const auto format = store::read_store_format(*options_.own);
        if (!format) {
            return format.error();
        }
        const std::string& node = format->uuid;
        const auto state = end_.nodes.find(node);
        if (state == end_.nodes.end() || replayed_->applied(node) >= state->second.applied) {
            return {};
        }
        const auto queue = store::Queue::open(*options_.own, {});
        if (!queue) {
            return queue.error();
        }
        const SequenceNumber after = replayed_->applied(node);
        stored_->reader().turn_to(node);
        InputTail tail(**queue, *options_.own);
        if (Status proved = tail.prove(after, replayed_->chain(node), stored_->reader().head());
            !proved) {
            const auto gap = (*queue)->first_gap(after);
            const bool is_trimmed = gap && *gap && (*gap)->first.value == after.value + 1;
            return is_trimmed ? Status() : proved;  // the archive has them by now
        }
        while (!tail.is_at_end()) {
            auto inputs = tail.next(stored_->reader());
            if (!inputs) {
                return inputs.error();
            }
            if (Status applied = replayed_->append(node, std::move(*inputs)); !applied) {
                return applied;
            }
        }
        return replayed_->do_work(node, state->second.slices);
    }
    /// Returns whether a FORGET was applied since the replay began: it changes the archive.
    [[nodiscard]] Result<bool> has_forgotten() {
        auto now = open_stored(options_.ledger);
        if (!now) {
            return now.error();
        }
        if (Status taken = (*now)->take_snapshot(); !taken) {
            return taken.error();
        }
        bool found = false;
        for (const auto& [queue, node] : end_.nodes) {
            const CommandRow first{.seq = {node.applied.value + 1}};
            (*now)->reader().turn_to(queue);
            (*now)->reader().scan(first, {0, 1}, [&found](const CommandRow& row) {
                found = found || row.topic == Topic::kForget;
                return !found;
            });
        }
        return found;
    }
    [[nodiscard]] Result<ReplayOutcome> compare() {
        ReplayOutcome outcome{.inputs = replayed_->inputs_count(), .snapshot = snapshot_};
        std::map<std::string, std::uint64_t> shown;
        const auto add = [&](const store::RowDifference& difference) {
            if (++shown[difference.table] <= options_.differences_max) {
                outcome.differences.push_back(difference);
            } else {
                ++outcome.more;
            }
            return !is_stopped();
        };
        if (Status compared =
                stored_->compare(replayed_->ledger(), options_.temporary, outcome.tables, add);
            !compared) {
            return compared.error();
        }
        if (is_stopped()) {
            return busy("it was interrupted");
        }
        return outcome;
    }

    const ReplayOptions& options_;
    std::set<std::string> queues_;
    std::unique_ptr<StoredLedger> stored_;
    std::unique_ptr<Rebuild> replayed_;
    ReplayEnd end_;
    std::optional<std::filesystem::path> snapshot_;  ///< Where the replay begins, else input 1.
};

}  // namespace

std::uint64_t ReplayOutcome::rows() const {
    return sum_of(tables, &ComparedTable::rows_source);
}

Result<ReplayOutcome> replay_ledger(const ReplayOptions& options) {
    try {
        return Audit(options).run();
    } catch (const LedgerFailure& failure) {
        return failure.error();
    }
}

}  // namespace sluice::worker
