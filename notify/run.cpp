// sluice notify run
#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>

#include "notify/sender.hpp"
#include "notify/subcommands.hpp"
#include "os/files/file_io.hpp"
#include "pg_store/ledger/sender_lock.hpp"
#include "program/system/process.hpp"
#include "worker/access/ledger_access.hpp"

namespace sluice::cli {
namespace {

struct RunCommand {
    std::string ledger, ca_file;
};

/// Keeps the sender lock of a PostgreSQL ledger on a thread of its own, because the database may
/// answer late.
class FleetLock {
public:
    explicit FleetLock(pg::Url url)
        : thread_([this, url = std::move(url)](const std::stop_token& stop) { run(url, stop); }) {}

    /// Returns whether this node may send. Any thread.
    [[nodiscard]] bool is_held() const noexcept { return held_.load(); }

private:
    void run(const pg::Url& url, const std::stop_token& stop) {
        constexpr std::chrono::seconds kPause{1};
        pg::SenderLock sender_lock(
            url, [&stop](std::chrono::milliseconds) { return !stop.stop_requested(); });
        std::mutex mutex;
        std::unique_lock lock(mutex);
        std::condition_variable_any stopped;
        while (!stop.stop_requested()) {
            note(sender_lock.hold(), stop);
            stopped.wait_for(lock, stop, kPause, [] { return false; });
        }
        held_ = false;
    }

    /// Says on standard error when this node begins to send, and why it does not.
    void note(const Result<bool>& held, const std::stop_token& stop) {
        const bool holds = held.ok() && *held;
        const bool is_news = holds != held_ || !was_told_;
        held_ = holds;
        was_told_ = true;
        if (!is_news || stop.stop_requested()) {
            return;
        }
        if (!held.ok()) {
            std::fprintf(stderr,
                         "sluice: sends nothing, because the database does not answer: %s\n",
                         printable(held.error().message).c_str());
        } else {
            std::fprintf(stderr, holds ? "sluice: this node sends the notifications\n"
                                       : "sluice: another node sends the notifications; waiting\n");
        }
    }

    std::atomic<bool> held_ = false;
    bool was_told_ = false;
    std::jthread thread_;  ///< Ends before the members that it uses.
};

/// Locks the store's destinations against another process that sends.
Result<Fd> lock_destinations(const store::StorePaths& paths) {
    const auto path = store::DestinationPaths(paths).run_lock;
    auto file = open_plain(path, O_RDWR);
    if (!file.ok()) {
        return file.error();
    }
    if (::flock(file->get(), LOCK_EX | LOCK_NB) != 0) {
        return errno == EWOULDBLOCK ? Error{ErrorCode::kBusy,
                                            "another process sends the notifications of this store"}
                                    : system_error(errno, "lock", path);
    }
    return file;
}

Result<std::optional<pg::Url>> url_of(const std::string& text) {
    return pg::Url::parse(text);
}

std::string shown(const std::optional<pg::Url>& url) {
    return url ? url->shown() : std::string();
}

Status run_notify(const Frame& frame, const RunCommand& command) {
    auto opened =
        store::DestinationStore::open(frame.paths(), store::DestinationStore::Mode::kWrite);
    const auto lock = opened.ok() ? lock_destinations(frame.paths()) : opened.error();
    const auto key = lock.ok() ? (*opened)->key() : lock.error();
    if (!key.ok()) {
        return key.error();
    }
    const std::atomic<bool>& stop = catch_stop_signals();
    auto opener =
        ledger_for_reading(frame, command.ledger, ReadFrom::kPrimary,
                           for_short_reads([&stop](std::chrono::milliseconds) { return !stop; }));
    auto url = !opener.ok()             ? opener.error()
               : command.ledger.empty() ? shared_ledger(frame)
                                        : url_of(command.ledger);
    if (!url.ok()) {
        return url.error();
    }
    std::unique_ptr<FleetLock> fleet;
    notify::SenderOptions options;
    options.store = frame.paths();
    options.ca_file = command.ca_file;
    if (command.ledger.empty()) {
        options.has_same_ledger = [&frame, used = shown(*url)] {
            const auto now = shared_ledger(frame);
            return !now.ok() || shown(*now) == used;
        };
    }
    if (*url) {
        fleet = std::make_unique<FleetLock>(**std::move(url));
        options.may_send = [&fleet] { return fleet->is_held(); };
    }
    return notify::send_notifications(**opened, *key, std::move(opener).value(), std::move(options),
                                      stop);
}

}  // namespace

void declare_notify_run(Subcommand group) {
    auto [run, command] =
        add_command(group, "run", "Send the notifications, until SIGTERM", run_notify);
    add_ledger(run, command.ledger);
    add_ca_file(run, command.ca_file);
}

void add_ca_file(Subcommand app, std::string& target) {
    add_text(app, "--ca-file", "FILE", target,
             "Certificates (PEM) of the authorities that are trusted, instead of the system's");
}

}  // namespace sluice::cli
