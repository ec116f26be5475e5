// sluice worker
#include <chrono>
#include <thread>

#include "lmdb_store/queue/queue.hpp"
#include "lmdb_store/store/control_page.hpp"
#include "os/clock/clock.hpp"
#include "program/cli/cli_values.hpp"
#include "program/commands.hpp"
#include "program/system/process.hpp"
#include "worker/access/ledger_access.hpp"
#include "worker/drain/drain.hpp"
#include "worker/drain/housekeeping.hpp"
#include "worker/drain/worker_lock.hpp"

namespace sluice::cli {
namespace {

constexpr std::uint64_t kBatchMax = 1'000'000;
constexpr std::uint64_t kRetryTimeoutMax = 86'400;
/// Durations of a wait for the database after which the worker is reported as failing, and after
/// which a stop signal ends the wait.
constexpr std::chrono::milliseconds kReportAfter{1000};
constexpr std::chrono::milliseconds kStopAfter{2000};

struct WorkerCommand {
    std::string ledger;
    bool until_empty = false;
    std::uint32_t retry_timeout_seconds = 30;
    bool no_archive = false;
    worker::DrainOptions drain;
};

/// Writes lines to standard error: `[2026-01-31 00:00:00.000] [sluice] [warning] text`, in UTC.
struct WorkerLog {
    bool shows_info;

    void warn(const std::string& text) const { write("warning", text); }
    void info(const std::string& text) const {
        if (shows_info) {
            write("info", text);
        }
    }

private:
    static void write(const char* level, const std::string& text) {
        const Timestamp at = now();
        const std::string second = Timestamp{at.seconds, 0}.to_string();
        std::fprintf(stderr, "[%.10s %.8s.%03u] [sluice] [%s] %s\n", second.c_str(),
                     second.c_str() + 11, at.nanos / 1'000'000, level, printable(text).c_str());
    }
};

/// Returns SLUICE_VERSION, `1.2.3`, as the control page stores it.
std::uint64_t version_number() {
    unsigned major = 0;
    unsigned minor = 0;
    unsigned patch = 0;
    if (std::sscanf(SLUICE_VERSION, "%u.%u.%u", &major, &minor, &patch) != 3) {
        return 0;
    }
    return store::packed_version(major, minor, patch);
}

worker::DrainOptions drain_options(const WorkerCommand& command) {
    worker::DrainOptions options = command.drain;
    options.version = version_number();
    if (command.until_empty) {
        options.retry_seconds_max = command.retry_timeout_seconds;
    }
    if (command.no_archive) {
        options.archive.reset();
    }
    return options;
}

/// Notifies systemd also during retries, because a restart would not end the failure.
worker::DrainEvents service_events(const WorkerLog& log) {
    worker::DrainEvents events;
    events.retrying = [&log](const Error& error) {
        log.warn("cannot apply now, retrying: " + error.message);
        notify_service("WATCHDOG=1\nSTATUS=Cannot apply now, see the log.");
    };
    events.recovered = [&log](std::chrono::seconds failed_for) {
        log.warn("applies again, after " + std::to_string(failed_for.count()) + " s");
        notify_service("STATUS=Applying.");
    };
    events.warning = [&log](const std::string& text) { log.warn(text); };
    events.heartbeat = [] { notify_service("WATCHDOG=1\nSTATUS=Applying."); };
    return events;
}

/// Reports signs of life while the drain waits for the database. A stop signal waits some seconds
/// for an answer, so that no commit is left in doubt without need.
pg::LedgerOptions ledger_options(store::Queue& queue, const std::atomic<bool>& stop,
                                 const WorkerLog& log) {
    using std::chrono::milliseconds;
    pg::LedgerOptions options;
    options.waiting = [&queue, &stop](milliseconds waited) {
        store::ControlWords& words = queue.control().words();
        words.heartbeat_ms.store(wall_ms());
        if (waited >= kReportAfter) {
            words.worker_error.store(1 + static_cast<std::uint64_t>(ErrorCode::kIo));
            words.worker_state.store(static_cast<std::uint64_t>(store::WorkerState::kRetrying));
        }
        notify_service("WATCHDOG=1");
        return !stop || waited < kStopAfter;
    };
    options.notice = [&log](const std::string& text) { log.warn(text); };
    return options;
}

/// Opens the drain. A service waits at its start for room on the disk, and for a database that is
/// unreachable or busy with another node's batch. The worker lock is held by then.
Result<std::unique_ptr<worker::Drain>> open_drain(const Frame& frame, const WorkerCommand& command,
                                                  store::Queue& queue, const WorkerLog& log,
                                                  const std::atomic<bool>& stop) {
    constexpr std::chrono::milliseconds kRetry{1000};
    auto opener = ledger_for_writing(frame, command.ledger, ledger_options(queue, stop, log));
    if (!opener.ok()) {
        return opener.error();
    }
    const auto own = has_own_ledger(frame);
    const bool has_database = !(command.ledger.empty() && own.ok() && *own);
    for (;;) {
        auto drain = worker::Drain::open(frame.paths(), queue, opener.value(),
                                         drain_options(command), service_events(log));
        const ErrorCode code = drain.ok() ? ErrorCode::kInternal : drain.error().code;
        const bool passes =
            !drain.ok() && (store::is_out_of_room(drain.error()) ||
                            (has_database && (code == ErrorCode::kIo || code == ErrorCode::kBusy)));
        if (!passes || command.until_empty || stop) {
            return drain;
        }
        service_events(log).retrying(drain.error());
        notify_service("READY=1");
        for (auto left = kRetry; left.count() > 0 && !stop; left -= kRetry / 20) {
            std::this_thread::sleep_for(kRetry / 20);
        }
    }
}

Status run_worker(const Frame& frame, const WorkerCommand& command) {
    const auto paths = frame.paths();
    const std::atomic<bool>& stop = catch_stop_signals();
    auto queue = store::Queue::open(paths, queue_options());
    const auto lock = queue.ok() ? worker::WorkerLock::take_soon(paths) : queue.error();
    if (!lock.ok()) {
        return lock.error();
    }
    const WorkerLog log{!command.until_empty};
    auto drain = open_drain(frame, command, *queue.value(), log, stop);
    if (!drain.ok()) {
        return drain.error();
    }
    log.info("sluice " SLUICE_VERSION " applies " + frame.store + " from input " +
             std::to_string(drain.value()->applied_seq().value + 1) + " on");
    notify_service("READY=1");
    Status ended =
        command.until_empty ? drain.value()->run_until_empty(stop) : drain.value()->run(stop);
    notify_service("STOPPING=1");
    if (ended.ok()) {
        log.info("stopped behind input " + std::to_string(drain.value()->applied_seq().value));
    }
    return ended;
}

}  // namespace

void declare_worker(Subcommand app) {
    auto [worker, command] =
        add_command(app, "worker", "Apply the queue to the ledger until stopped", run_worker);
    add_ledger(worker, command.ledger);
    add_flag(worker, "--until-empty", command.until_empty, "Exit when everything is applied");
    add_count(worker, "--retry-timeout", "SECONDS", command.retry_timeout_seconds, 1,
              kRetryTimeoutMax,
              "With --until-empty: give up when a failure lasts longer, in seconds (default: 30)");
    add_count(worker, "--batch", "N", command.drain.batch.records_max, 1, kBatchMax,
              "Records per transaction, 1 to 1000000 (default: 10000)");
    add_flag(worker, "--no-archive", command.no_archive, "Keep no archive of applied inputs");
    add_count(worker, "--archive-days", "N", command.drain.archive->keep_days, 1, 36'500,
              "Days that archived inputs are kept (default: without end)");
    add_value(worker, "--archive-size", "SIZE", command.drain.archive->keep_bytes, parse_size,
              "Maximum size of the archive: 500m, 20g (default: unlimited)");
}

}  // namespace sluice::cli
