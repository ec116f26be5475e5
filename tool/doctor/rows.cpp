// Doctor: readers, registry, queue, worker.
#include <set>

#include "core/values/shell_word.hpp"
#include "lmdb_store/environment/page_use.hpp"
#include "lmdb_store/queue/queue.hpp"
#include "lmdb_store/registry/publish.hpp"
#include "lmdb_store/registry/registry.hpp"
#include "os/files/file_io.hpp"
#include "tool/doctor/doctor.hpp"
#include "worker/access/ledger_access.hpp"
#include "worker/drain/worker_lock.hpp"

namespace sluice::cli {
namespace {

constexpr std::uint64_t kHeartbeatMsMax = 5'000;
constexpr std::uint64_t kLagProblem = 100'000;
constexpr std::uint64_t kFillPercentProblem = 90;
constexpr std::uint64_t kSnapshotAgeMax = 1'000;

std::uint64_t percent(std::uint64_t part, std::uint64_t whole) {
    return whole == 0 ? 0
                      : static_cast<std::uint64_t>(static_cast<double>(part) * 100.0 /
                                                   static_cast<double>(whole));
}

void check_fill(const store::QueueFill& fill, Findings& findings) {
    const std::uint64_t filled = percent(fill.bytes_used, fill.bytes_high_water);
    const bool near = filled >= kFillPercentProblem;
    findings.push_back(
        {"queue", near ? Health::kProblem : Health::kOk,
         "filled to " + std::to_string(filled) + " % of the size at which orders are refused (" +
             std::to_string(fill.bytes_high_water >> 20u) + " MB)",
         near ? "make sure that the worker runs, or raise map_size of sluice_store" : ""});
    if (fill.idempotency_rows * 10 >= fill.idempotency_rows_max * 9) {
        findings.push_back(
            {"keys", Health::kProblem,
             std::to_string(fill.idempotency_rows) + " of " +
                 std::to_string(fill.idempotency_rows_max) +
                 " idempotency keys are kept; with all of them, product batches get "
                 "503 until the oldest expire",
             "make map_size of sluice_store larger, or sluice_idempotency_ttl shorter"});
    }
}

std::string waiting_text(std::uint64_t lag) {
    return std::to_string(lag) + (lag == 1 ? " input waits" : " inputs wait");
}

void check_lanes(const store::StorePaths& paths, const store::Queue& queue,
                 const store::LanesFill& lanes, Findings& findings) {
    if (const auto latch = queue.latched()) {
        findings.push_back(
            {"latch", Health::kProblem, "no request is accepted, because " + queue.latch_text(),
             *latch == store::Latch::kIo ? "check the disk, then restart nginx, or run `" +
                                               sluice_command(paths, "queue unlatch") + "`"
                                         : store::latch_remedy(*latch)});
    }
    findings.push_back({"lanes", Health::kOk,
                        std::to_string(lanes.lanes) + " (" + std::to_string(lanes.in_use) +
                            " in use) hold " + std::to_string(lanes.records) +
                            " events that are not in the queue yet" +
                            (lanes.cached == 0 ? ""
                                               : "; their file system refuses O_DIRECT, so each "
                                                 "write is copied and synced")});
}

/// Returns true if a signal stopped the process.
bool is_stopped(std::uint64_t pid) {
    const auto stat = read_proc("/proc/" + std::to_string(pid) + "/stat");
    const std::size_t name = stat.ok() ? stat->rfind(") ") : std::string::npos;
    return name != std::string::npos && stat->substr(name + 2, 1) == "T";
}

/// @param lag  Inputs that are not applied.
void check_running_worker(const store::ControlWords& words, std::uint64_t pid, std::uint64_t lag,
                          std::uint64_t now_ms, Findings& findings) {
    const auto state = static_cast<store::WorkerState>(words.worker_state.load());
    const std::uint64_t heartbeat = words.heartbeat_ms.load();
    if (state == store::WorkerState::kRetrying) {
        findings.push_back({"worker", Health::kProblem,
                            "the worker cannot apply now; " + waiting_text(lag),
                            "its log says why: journalctl -u sluice"});
    } else if (now_ms > heartbeat + kHeartbeatMsMax) {
        findings.push_back(
            {"worker", Health::kProblem,
             "the worker (pid " + std::to_string(pid) + ") showed no sign of life for " +
                 std::to_string((now_ms - heartbeat) / 1000) + " s; " + waiting_text(lag),
             is_stopped(pid) ? "it is stopped: kill -CONT " + std::to_string(pid)
                             : "look for what hangs, such as the disk (dmesg)"});
    } else {
        const bool behind = lag > kLagProblem;
        findings.push_back({"worker", behind ? Health::kProblem : Health::kOk,
                            "the worker runs; " + waiting_text(lag),
                            behind ? "check the disk and the worker's log" : ""});
    }
}

/// How far the ledger is, and how many dead letters it has.
struct Progress {
    SequenceNumber applied;
    std::uint64_t dead = 0;
};

/// Takes it from the ledger if no worker runs: the control page has what the last worker wrote, and
/// none ran after a restore. Without a ledger that can be read, the page has to do.
Progress progress_of(const Frame& frame, const store::ControlWords& words, bool runs) {
    Progress progress{{words.applied_seq.load()}, words.dead_open.load()};
    if (!runs) {
        const Status read = with_snapshot(frame, {}, [&progress](LedgerReader& ledger) {
            progress = {ledger.head().applied_seq, ledger.head().totals.dead};
        });
        static_cast<void>(read);  // check_ledger() reports it
    }
    return progress;
}

/// Takes from the lock whether a worker runs, and from the control page only what it does.
void check_worker(const Frame& frame, store::Queue& queue, const store::QueueFill& fill,
                  std::uint64_t now_ms, Findings& findings) {
    const store::ControlWords& words = queue.control().words();
    const auto holder = worker::WorkerLock::holder(frame.paths());
    const Progress progress = progress_of(frame, words, holder.ok() && *holder);
    const std::uint64_t lag = fill.depth(progress.applied);
    if (!holder.ok()) {
        add_damage(frame.paths(), "worker", holder.error(), findings);
    } else if (!*holder) {
        findings.push_back({"worker", Health::kProblem, "no worker runs; " + waiting_text(lag),
                            start_worker_command(frame.paths())});
    } else {
        check_running_worker(words, **holder, lag, now_ms, findings);
    }
    if (progress.dead > 0) {
        findings.push_back(
            {"dead", Health::kProblem,
             std::to_string(progress.dead) + (progress.dead == 1 ? " input" : " inputs") +
                 " could not be applied",
             sluice_command(frame.paths(), "dead list") + "; then " +
                 sluice_command(frame.paths(), "dead replay SEQ") + " if the cause is gone, or " +
                 sluice_command(frame.paths(), "dead discard SEQ --reason TEXT")});
    }
}

void check_readers_of(const std::filesystem::path& folder, Findings& findings) {
    const auto readers = store::check_readers(folder);
    if (!readers.ok()) {
        return;  // other checks report the cause
    }
    const std::string name = folder.filename().string();
    if (readers->dead_count > 0) {
        findings.push_back({"readers", Health::kNote,
                            name + ": " + std::to_string(readers->dead_count) +
                                " reader slots of dead processes were freed",
                            "nothing to do; a process of sluice or nginx was killed"});
    }
    if (readers->slots < readers->slots_wanted) {
        findings.push_back({"readers", Health::kNote,
                            name + ": its lock file has " + std::to_string(readers->slots) +
                                " reader slots of " + std::to_string(readers->slots_wanted) +
                                ": many nginx workers may not find one",
                            "stop nginx, sluice worker and every other sluice program once; what "
                            "starts first makes room"});
    }
    if (readers->oldest_behind > kSnapshotAgeMax) {
        const std::string process = std::to_string(readers->oldest_process);
        findings.push_back({"readers", Health::kProblem,
                            name + ": process " + process + " keeps a snapshot that is " +
                                std::to_string(readers->oldest_behind) +
                                " transactions old, so that the file grows",
                            "if it hangs, end it: kill " + process});
    }
}

}  // namespace

void check_readers(const store::StorePaths& paths, Findings& findings) {
    const std::size_t before = findings.size();
    for (const auto& folder : {paths.registry, paths.queue, paths.ledger}) {
        check_readers_of(folder, findings);
    }
    if (findings.size() == before) {
        findings.push_back({"readers", Health::kOk, "no process holds back pages of the store"});
    }
}

namespace {

std::string damage_remedy(const store::StorePaths& paths, const Error& error) {
    if (const std::size_t at = error.message.find("doctor --mend "); at != std::string::npos) {
        return "stop nginx and the worker; " + sluice_command(paths, error.message.substr(at));
    }
    switch (error.code) {
        case ErrorCode::kPermission:
            return access_remedy(paths);
        case ErrorCode::kBusy:
            return "end that process, or wait until it ends; reports read the ledger meanwhile";
        case ErrorCode::kUnsupported:
            return "";  // a format: the finding says what to do
        default:
            return kRestore;
    }
}

}  // namespace

void add_damage(const store::StorePaths& paths, const char* check, const Error& error,
                Findings& findings) {
    const bool is_access = error.code == ErrorCode::kPermission && !is_own_store(paths);
    findings.push_back({check, is_access ? Health::kNote : Health::kProblem, error.message,
                        damage_remedy(paths, error)});
}

namespace {

/// A token or user, as the log names it, and the command that ends it.
struct Unlogged {
    std::string key;
    std::string end;
};

/// Returns the tokens and users in force that no logged change made, at most `max` of them.
std::vector<Unlogged> unlogged(store::Registry& registry,
                               const std::vector<store::ChangeRow>& changes, std::size_t max) {
    std::set<std::string, std::less<>> made;
    for (const store::ChangeRow& change : changes) {
        made.insert(change.change.substr(0, change.change.rfind(": ")));
    }
    std::vector<Unlogged> missing;
    const auto add_unlogged = [&](Unlogged one) {
        if (!made.contains(one.key) && missing.size() < max) {
            missing.push_back(std::move(one));
        }
    };
    for (const store::TokenRow& row : registry.tokens(std::nullopt).value_or({})) {
        if (!row.revoked_at) {
            add_unlogged({"token create " + row.token_id.str() + " of " + row.account_id.str(),
                          "token revoke " + row.token_id.str()});
        }
    }
    for (const store::UserRow& row : registry.users(std::nullopt).value_or({})) {
        add_unlogged(
            {"user add " + row.name + " of " + row.account_id.str(),
             "user remove " + shell_word(row.name) + " --account " + row.account_id.str()});
    }
    return missing;
}

/// Names the last change of the registry, and rows that no logged change made.
void check_changes(const store::StorePaths& paths, store::Registry& registry, Findings& findings) {
    constexpr std::size_t kNamedMax = 5;
    const auto changes = registry.changes();
    if (!changes.ok()) {
        add_damage(paths, "changes", changes.error(), findings);
        return;
    }
    for (const Unlogged& one : unlogged(registry, *changes, kNamedMax)) {
        findings.push_back(
            {"changes", Health::kProblem, "no logged change says who did this: " + one.key,
             sluice_command(paths, one.end) + "; then make it again, if it is known and needed"});
    }
    if (!changes->empty()) {
        const store::ChangeRow& last = changes->back();
        findings.push_back({"changes", Health::kOk,
                            std::to_string(changes->size()) +
                                " changes of accounts, shops, tokens, users and destinations; the "
                                "last at " +
                                last.at.to_string() + " by " + last.author.actor + ": " +
                                last.change});
    }
}

}  // namespace

void check_registry(const store::StorePaths& paths, Findings& findings) {
    const auto format = store::read_store_format(paths);
    auto registry = store::Registry::open(paths, store::Registry::Mode::kReadOnly);
    if (!registry.ok()) {
        add_damage(paths, "registry", registry.error(), findings);
        return;
    }
    const auto accounts = registry.value()->accounts();
    if (!accounts.ok()) {
        add_damage(paths, "registry", accounts.error(), findings);
        return;
    }
    if (Status published = store::check_published(paths); !published.ok()) {
        findings.push_back({"registry", Health::kProblem, published.error().message,
                            sluice_command(paths, "registry publish")});
    }
    check_changes(paths, *registry.value(), findings);
    std::uint64_t slots = 0;
    for (const store::RegisteredAccount& account : accounts.value()) {
        slots = std::max<std::uint64_t>(slots, account.slot.value + 1u);
    }
    const std::uint64_t max_accounts = format.ok() ? format->max_accounts : 0;
    const bool near = percent(slots, max_accounts) >= kFillPercentProblem;
    findings.push_back(
        {"registry", near ? Health::kProblem : Health::kOk,
         std::to_string(slots) + " of " + std::to_string(max_accounts) + " account slots are used",
         near ? sluice_command(paths, "store set --max-accounts N") + ", then restart nginx" : ""});
    if (auto key = store::MasterKey::load(paths.master_key); key.ok()) {
        if (Status fits = registry.value()->check_key(key.value()); !fits.ok()) {
            findings.push_back(
                {"key", Health::kProblem, fits.error().message, copy_key(paths, paths.master_key)});
        } else if (key->next()) {
            findings.push_back({"key", Health::kProblem,
                                "a rotation of the master key was interrupted; its file holds the "
                                "old key and the new one, and nginx finds the right one",
                                sluice_command(paths, "key rotate")});
        }
    }
}

void check_queue(const Frame& frame, Timestamp now, Findings& findings) {
    const store::StorePaths paths = frame.paths();
    auto queue = store::Queue::open(paths, queue_options());
    if (!queue.ok()) {
        add_damage(paths, "queue", queue.error(), findings);
        return;
    }
    auto fill = queue.value()->fill();
    if (!fill.ok()) {
        add_damage(paths, "queue", fill.error(), findings);
        return;
    }
    check_fill(fill.value(), findings);
    if (const auto lanes = queue.value()->fill_with_lanes(); lanes.ok()) {
        fill = lanes;
        check_lanes(paths, *queue.value(), fill->lanes, findings);
    } else {
        add_damage(paths, "lanes", lanes.error(), findings);
    }
    const auto now_ms = static_cast<std::uint64_t>(now.seconds) * 1000 + now.nanos / 1'000'000;
    check_worker(frame, *queue.value(), fill.value(), now_ms, findings);
}

}  // namespace sluice::cli
