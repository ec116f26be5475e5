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
#include "os/clock/clock.hpp"
#include "worker/drain/rebuild.hpp"
#include "worker/replay/stored_ledger.hpp"

namespace sluice::worker {
namespace {

/// The worker makes its archive durable several times a second, and forgets within a second or two.
constexpr std::chrono::seconds kPatience{10};
constexpr std::chrono::milliseconds kPoll{100};
constexpr unsigned kTriesMax = 3;
constexpr std::size_t kTailInputs = 2000;
constexpr std::size_t kTailBytes = 8U << 20;

// ---- How far the ledger is ----------------------------------------------------------------------

/// Three places of a ledger say how far a node is. One that was edited is outvoted by the others.
SequenceNumber agreed(std::array<std::uint64_t, 3> said) {
    std::sort(said.begin(), said.end());
    return {said[1]};
}

std::uint64_t inputs_of(const Totals& totals) {
    return totals.applied + totals.stale + totals.duplicate + totals.catalog + totals.commands +
           totals.dead;
}

struct NodeState {
    SequenceNumber applied;
    std::optional<std::uint64_t> slices;  ///< Slices of the work that is left (AppliedBatch).
};
using NodeStates = std::map<std::string, NodeState, std::less<>>;

/// Returns the nodes of the archives that the ledger knows.
NodeStates states_of(LedgerReader& ledger, const std::set<std::string>& queues) {
    std::map<std::string, AppliedBatch> batches;
    ledger.scan(AppliedBatch{}, {}, [&batches](const AppliedBatch& row) {
        batches.insert_or_assign(row.node, row);
        return true;
    });
    std::map<std::string, LedgerHead> heads;
    ledger.scan_heads([&heads](const LedgerHead& head) {
        heads.emplace(head.node, head);
        return true;
    });
    NodeStates states;
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
        NodeState& state = states[queue];
        state.applied = agreed({applied, counted, last});
        state.slices = batch == batches.end() ? std::nullopt : batch->second.slices;
    }
    return states;
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
    stored.reader().scan(ForgetTask{}, {}, [&tasks](const ForgetTask& task) {
        tasks.insert(task.command_id);
        return true;
    });
    bool found = false;
    for (auto queue = queues.begin(); !tasks.empty() && queue != queues.end(); ++queue) {
        stored.turn_to(*queue);
        stored.reader().scan_commands([&](const CommandRow& row) {
            found = row.topic == Topic::kForget && tasks.contains(row.command_id);
            return !found;
        });
        if (found) {
            break;
        }
    }
    return found;
}

class Audit {
public:
    explicit Audit(const ReplayOptions& options) : options_(options) {}

    Result<ReplayOutcome> run() {
        auto queues = queues_of(options_.archives);
        if (!queues) {
            return queues.error();
        }
        queues_ = std::move(*queues);
        auto opened = open_stored(options_.ledger);
        if (!opened) {
            return opened.error();
        }
        stored_ = std::move(*opened);
        for (unsigned attempt = 0; attempt < kTriesMax; ++attempt) {
            if (Status replayed = replay(attempt); !replayed) {
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
        return Error{ErrorCode::kBusy, "data was forgotten meanwhile: try again"};
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
                return Error{ErrorCode::kBusy,
                             "a forget is under way; try again when the workers have done it"};
            }
            std::this_thread::sleep_for(kPoll);
        }
        states_ = states_of(stored_->reader(), queues_);
        return check_nodes();
    }
    /// Checks that the archives are those of the ledger's nodes.
    [[nodiscard]] Status check_nodes() {
        if (states_.empty() && !queues_.empty() && has_inputs()) {
            return Error{ErrorCode::kConflict,
                         "the archive is that of queue " + *queues_.begin() +
                             ", of which the ledger has no input: it is the archive of another "
                             "store"};
        }
        Status all;
        stored_->reader().scan(AppliedBatch{}, {}, [&](const AppliedBatch& row) {
            if (!queues_.contains(row.node) && is_node(row.node)) {
                all = Error{ErrorCode::kConflict,
                            "the ledger has inputs of queue " + row.node +
                                ", whose archive was not named: --from names the archive of every "
                                "node"};
            }
            return all.ok();
        });
        return all;
    }
    [[nodiscard]] bool has_inputs() {
        bool found = false;
        stored_->reader().scan_heads([&found](const LedgerHead& head) {
            found = found || head.applied_seq.value != 0;
            return !found;
        });
        return found;
    }
    [[nodiscard]] bool is_node(const std::string& uuid) {
        bool found = false;
        stored_->reader().scan_heads([&](const LedgerHead& head) {
            found = found || head.node == uuid;
            return !found;
        });
        return found;
    }
    /// An embedded ledger keeps the pages of a snapshot, so that most is replayed before it.
    [[nodiscard]] Status replay(unsigned attempt) {
        const std::filesystem::path into =
            options_.temporary / ("replay" + std::to_string(attempt));
        if (Status taken = take_snapshot(); !taken) {
            return taken;
        }
        std::uint64_t wanted = 0;
        for (const auto& [queue, state] : states_) {
            wanted += state.applied.value;
        }
        RebuildOptions how;
        how.is_temporary = true;
        how.progress = [this, wanted](std::uint64_t inputs) {
            if (options_.progress) {
                options_.progress(std::min(inputs, wanted), wanted);
            }
        };
        how.stops = options_.stops;
        replayed_.reset();
        auto begun = Rebuild::begin(options_.archives, into, how);
        if (!begun) {
            return begun.error();
        }
        replayed_ = std::move(*begun);
        if (stored_->is_embedded()) {
            stored_->drop_snapshot();
            if (Status most = replayed_->replay_to(positions()); !most) {
                return most;
            }
            if (Status taken = take_snapshot(); !taken) {
                return taken;
            }
        }
        return catch_up();
    }
    [[nodiscard]] Positions positions() const {
        Positions positions;
        for (const auto& [queue, state] : states_) {
            positions.emplace(queue, state.applied);
        }
        return positions;
    }
    /// Returns a queue of which inputs are missing, or nothing.
    [[nodiscard]] const std::string* behind() {
        for (const auto& [queue, state] : states_) {
            if (replayed_->applied(queue) < state.applied) {
                return &queue;
            }
        }
        return nullptr;
    }
    /// Replays to the snapshot's position. An archive lags a little; what its store has applied and
    /// not archived is still in its queue.
    [[nodiscard]] Status catch_up() {
        for (const auto end = steady_now() + kPatience;;) {
            if (Status more = replayed_->replay_to(positions()); !more) {
                return more;
            }
            const std::string* const late = behind();
            if (late == nullptr) {
                break;
            }
            if (Status tail = replay_queue(); !tail) {
                return tail;
            }
            if (behind() == nullptr) {
                break;
            }
            if (steady_now() >= end || is_stopped()) {
                return Error{ErrorCode::kConflict,
                             "the archive of queue " + *late + " ends at input " +
                                 std::to_string(replayed_->applied(*late).value) +
                                 ", the ledger has applied input " +
                                 std::to_string(states_.at(*late).applied.value) +
                                 ": the archive was cut, or it is not the one of this ledger"};
            }
            std::this_thread::sleep_for(kPoll);
        }
        for (const auto& [queue, state] : states_) {
            if (Status worked = replayed_->do_work(queue, state.slices); !worked) {
                return worked;
            }
        }
        return {};
    }
    /// Applies what the own queue still has of the inputs that the archive lacks.
    [[nodiscard]] Status replay_queue() {
        if (!options_.own) {
            return {};
        }
        store::QueueOptions how;
        how.idempotency_ttl_seconds = 0;
        const auto queue = store::Queue::open(*options_.own, how);
        if (!queue) {
            return queue.error();
        }
        const std::string node = (*queue)->uuid();
        const auto state = states_.find(node);
        while (state != states_.end() && replayed_->applied(node) < state->second.applied) {
            const SequenceNumber next{replayed_->applied(node).value + 1};
            auto inputs = read_inputs(**queue, *options_.own, next, kTailInputs, kTailBytes);
            if (!inputs || inputs->empty()) {
                return {};  // they were trimmed: the archive has them
            }
            std::erase_if(*inputs, [&](const OwnedInput& input) {
                return input.seq > state->second.applied;
            });
            if (Status applied = replayed_->append(node, std::move(*inputs)); !applied) {
                return applied;
            }
        }
        return {};
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
        for (const auto& [queue, state] : states_) {
            CommandRow first;
            first.seq = {state.applied.value + 1};
            (*now)->turn_to(queue);
            (*now)->reader().scan(first, {0, 1}, [&found](const CommandRow& row) {
                found = found || row.topic == Topic::kForget;
                return !found;
            });
        }
        return found;
    }
    [[nodiscard]] Result<ReplayOutcome> compare() {
        ReplayOutcome outcome;
        outcome.inputs = replayed_->inputs_count();
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
            return Error{ErrorCode::kBusy, "it was interrupted"};
        }
        return outcome;
    }

    const ReplayOptions& options_;
    std::set<std::string> queues_;
    std::unique_ptr<StoredLedger> stored_;
    std::unique_ptr<Rebuild> replayed_;
    NodeStates states_;
};

}  // namespace

std::uint64_t ReplayOutcome::rows() const {
    std::uint64_t rows = 0;
    for (const ComparedTable& table : tables) {
        rows += table.rows_source;
    }
    return rows;
}

Result<ReplayOutcome> replay_ledger(const ReplayOptions& options) {
    try {
        return Audit(options).run();
    } catch (const LedgerFailure& failure) {
        return failure.error();
    }
}

}  // namespace sluice::worker
