// sluice notify run
#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <memory>
#include <optional>

#include "os/files/file_io.hpp"
#include "worker/access/ledger_access.hpp"
#include "worker/notify/fleet_lock.hpp"
#include "worker/notify/sender.hpp"
#include "worker/notify/subcommands.hpp"
#include "worker/system/process.hpp"

namespace sluice::cli {
namespace {

constexpr std::chrono::seconds kStatementLimit{5}, kLockLimit{2};

struct RunCommand {
    std::string ledger, ca_file;
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
    auto url = pg::Url::parse(text);
    return url.ok() ? Result(std::optional(std::move(url).value()))
                    : Result<std::optional<pg::Url>>(url.error());
}

Status run_notify(const Frame& frame, const RunCommand& command) {
    auto opened =
        store::DestinationStore::open(frame.paths(), store::DestinationStore::Mode::kWrite);
    if (!opened.ok()) {
        return opened.error();
    }
    const auto lock = lock_destinations(frame.paths());
    if (!lock.ok()) {
        return lock.error();
    }
    const auto key = (*opened)->key();
    if (!key.ok()) {
        return key.error();
    }
    const std::atomic<bool>& stop = catch_stop_signals();
    pg::LedgerOptions limits;
    limits.waiting = [&stop](std::chrono::milliseconds) { return !stop; };
    limits.statement_limit = kStatementLimit;
    limits.lock_limit = kLockLimit;
    auto opener = ledger_for_reading(frame, command.ledger, ReadFrom::kPrimary, limits);
    if (!opener.ok()) {
        return opener.error();
    }
    auto url = command.ledger.empty() ? shared_ledger(frame) : url_of(command.ledger);
    if (!url.ok()) {
        return url.error();
    }
    std::unique_ptr<notify::FleetLock> fleet;
    notify::SenderOptions options;
    options.ca_file = command.ca_file;
    if (*url) {
        fleet = std::make_unique<notify::FleetLock>(**std::move(url));
        options.may_send = [&fleet] { return fleet->is_held(); };
    }
    notify::Sender sender(**opened, *key, std::move(opener).value(), std::move(options));
    notify_service("READY=1");
    Status ended = sender.run(stop);
    notify_service("STOPPING=1");
    return ended;
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
