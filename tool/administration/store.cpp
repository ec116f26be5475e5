// sluice init, store set, key rotate
#include <sys/stat.h>

#include <cerrno>
#include <chrono>
#include <cstdio>
#include <thread>

#include "lmdb_store/queue/queue.hpp"
#include "lmdb_store/registry/registry.hpp"
#include "lmdb_store/store/command_key.hpp"
#include "lmdb_store/store/format.hpp"
#include "lmdb_store/store/leftovers.hpp"
#include "lmdb_store/store/master_key.hpp"
#include "os/clock/clock.hpp"
#include "os/files/file_io.hpp"
#include "program/cli/cli_values.hpp"
#include "program/commands.hpp"
#include "program/system/identity.hpp"
#include "program/system/named_file.hpp"
#include "tool/doctor/doctor.hpp"
#include "worker/access/ledger_access.hpp"
#include "worker/drain/worker_lock.hpp"

namespace sluice::cli {
namespace {

Status run_init(const Frame& frame, const store::InitOptions& options) {
    Status made = become_new_owner(frame.paths().root, options.group);
    made = made.ok() ? store::init_store(frame.paths(), options) : made;
    if (made.ok()) {
        std::printf("created the store %s\n", frame.store.c_str());
    }
    return made;
}

struct SetCommand {
    std::uint32_t max_accounts = 0;  ///< 0 changes nothing.
    std::string group;               ///< Empty changes nothing.
};

Status run_set(const Frame& frame, const SetCommand& command) {
    if (!command.group.empty()) {
        if (Status given = give_group(frame.paths(), command.group); !given.ok()) {
            return given;
        }
        std::printf("the group of the store is %s; restart nginx and the worker\n",
                    command.group.c_str());
    }
    if (command.max_accounts == 0) {
        return Status::success();
    }
    if (Status became = become_store_owner(frame); !became.ok()) {
        return became;
    }
    const auto held = store::hold_temporary_files(frame.paths());
    if (Status set =
            held.ok() ? store::set_max_accounts(frame.paths(), command.max_accounts) : held.error();
        !set.ok()) {
        return set;
    }
    std::printf("max accounts is %u; restart nginx (a reload keeps its zone)\n",
                command.max_accounts);
    return Status::success();
}

constexpr std::chrono::seconds kPatience{10};
constexpr std::chrono::milliseconds kPoll{50};

struct RotateCommand {
    std::string key_file, ledger_url;
};

/// Waits some seconds for a worker that runs to apply what is in the queue now. Returns the queue's
/// last number.
Result<SequenceNumber> wait_for_queue(const Frame& frame, const std::string& ledger_url) {
    const auto queue = store::Queue::open(frame.paths(), queue_options());
    const auto last = queue.ok() ? (*queue)->last_seq() : Result<SequenceNumber>(queue.error());
    for (const auto end = steady_now() + kPatience; last.ok() && steady_now() < end;) {
        const auto applied = applied_seq(frame, ledger_url);
        const auto worker = worker::WorkerLock::holder(frame.paths());
        if (!applied.ok() || *applied >= *last || !worker.ok() || !*worker) {
            return applied.ok() ? last : applied.error();
        }
        std::this_thread::sleep_for(kPoll);
    }
    return last;
}

/// The old key seals nothing after the ledger's checkpoint: nginx can set the queue's numbers
/// ahead. So commands that the worker has not applied by then become dead letters.
Status rotate_command_key(const Frame& frame, const std::string& ledger_url) {
    const store::StorePaths paths = frame.paths();
    struct stat ledger {};
    if (::stat(paths.ledger.c_str(), &ledger) != 0) {
        return system_error(errno, "look at", paths.ledger);
    }
    const auto waiting = wait_for_queue(frame, ledger_url);
    if (!waiting.ok()) {
        return waiting.error();
    }
    SequenceNumber last;
    Status rotated = store::rotate_command_key(
        paths.command_key, {ledger.st_uid, ledger.st_gid, 0400}, [&]() -> Result<SequenceNumber> {
            auto applied = applied_seq(frame, ledger_url);
            last = applied.ok() ? *applied : last;
            return applied;
        });
    if (rotated.ok() && *waiting > last) {
        std::fprintf(stderr,
                     "sluice: inputs %llu to %llu are not applied yet: commands among them become "
                     "dead letters, and have to be repeated\n",
                     static_cast<unsigned long long>(last.value + 1),
                     static_cast<unsigned long long>(waiting->value));
    }
    return rotated;
}

Status run_rotate(const Frame& frame, const RotateCommand& command) {
    const std::string& key_file = command.key_file;
    const auto paths = frame.paths();
    std::optional<store::MasterKey> to;
    if (!key_file.empty()) {
        const auto file = open_input(key_file);
        auto given = file.ok() ? store::MasterKey::load(file->get(), key_file) : file.error();
        if (!given.ok()) {
            return given.error();
        }
        to = given.value();
    }
    // Before anything is changed: the command key needs the ledger's checkpoint.
    if (const auto applied = applied_seq(frame, command.ledger_url); !applied.ok()) {
        return applied.error();
    }
    auto registry = store::Registry::open(paths, store::Registry::Mode::kReadWrite);
    if (!registry.ok()) {
        return registry.error();
    }
    registry.value()->set_author({current_user(), frame.reason});
    Status done = store::rotate_master_key(paths.master_key, *registry.value(), to);
    done = done.ok() ? rotate_command_key(frame, command.ledger_url) : done;
    if (done.ok()) {
        std::printf(
            "the master key and the command key are new ones; running nginx workers and the "
            "worker read them by themselves\n");
    }
    return done;
}

}  // namespace

void declare_store(Subcommand app) {
    auto [init, created] = add_command(app, "init", "Create the store", run_init);
    init.keeps_user();
    add_text(init, "--group", "GROUP", created.group,
             "Group of the nginx workers, which may append and read the registry");
    add_count(init, "--max-accounts", "N", created.max_accounts, 1, store::kAccountsMaxLimit,
              "Maximum number of accounts, which sizes nginx's shared memory (default: 65536)");

    const Subcommand group = app.add_group("store", "Change settings of the store");
    auto [set, changed] = add_command(group, "set", "Change a setting of the store", run_set);
    set.keeps_user();  // root alone gives files to a group
    add_count(
        set, "--max-accounts", "N", changed.max_accounts, 1, store::kAccountsMaxLimit,
        "Maximum number of accounts, which sizes nginx's shared memory; restart nginx afterwards");
    add_text(set, "--group", "GROUP", changed.group,
             "Group of the nginx workers, as with init; restart nginx and the worker afterwards");
    set.require([&changed = changed] {
        return changed.max_accounts != 0 || !changed.group.empty() ? ""
                                                                   : "--max-accounts or --group";
    });

    const Subcommand key = app.add_group("key", "Manage the keys of tokens and commands");
    auto [rotate, rotated] = add_command(
        key, "rotate", "Encrypt every secret with a new key, and seal commands with a new key",
        run_rotate);
    add_file(rotate, "--to", "KEYFILE", rotated.key_file, FileUse::kInput,
             "New key, copied from another node of the fleet (default: a random key)");
    add_ledger(rotate, rotated.ledger_url);
    rotate.takes_reason();
}

}  // namespace sluice::cli
