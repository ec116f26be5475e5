// sluice init, store set, key rotate
#include <sys/stat.h>

#include <cerrno>

#include "lmdb_store/queue/queue.hpp"
#include "lmdb_store/registry/registry.hpp"
#include "lmdb_store/store/command_key.hpp"
#include "lmdb_store/store/format.hpp"
#include "lmdb_store/store/master_key.hpp"
#include "os/files/file_io.hpp"
#include "worker/access/ledger_access.hpp"
#include "worker/cli/cli_values.hpp"
#include "worker/commands.hpp"
#include "worker/system/identity.hpp"
#include "worker/system/named_file.hpp"

namespace sluice::cli {
namespace {

Status run_init(const Frame& frame, const store::InitOptions& options) {
    if (Status became = become_new_owner(frame.paths().root, options.group); !became.ok()) {
        return became;
    }
    if (Status made = store::init_store(frame.paths(), options); !made.ok()) {
        return made;
    }
    std::printf("created the store %s\n", frame.store.c_str());
    return Status::success();
}

Status run_set(const Frame& frame, const std::uint32_t& max_accounts) {
    if (Status set = store::set_max_accounts(frame.paths(), max_accounts); !set.ok()) {
        return set;
    }
    std::printf("max accounts is %u; restart nginx (a reload keeps its zone)\n", max_accounts);
    return Status::success();
}

/// Commands that are in the queue by now keep the seal of the old key.
Status rotate_command_key(const store::StorePaths& paths) {
    struct stat ledger {};
    if (::stat(paths.ledger.c_str(), &ledger) != 0) {
        return system_error(errno, "look at", paths.ledger);
    }
    return store::rotate_command_key(paths.command_key, {ledger.st_uid, ledger.st_gid, 0400},
                                     [&paths]() -> Result<SequenceNumber> {
                                         const auto queue =
                                             store::Queue::open(paths, queue_options());
                                         if (!queue.ok()) {
                                             return queue.error();
                                         }
                                         const auto fill = (*queue)->fill();
                                         return fill.ok() ? Result<SequenceNumber>(fill->last_seq)
                                                          : Result<SequenceNumber>(fill.error());
                                     });
}

Status run_rotate(const Frame& frame, const std::string& key_file) {
    const auto paths = frame.paths();
    std::optional<store::MasterKey> to;
    if (!key_file.empty()) {
        const auto file = open_input(key_file);
        if (!file.ok()) {
            return file.error();
        }
        auto given = store::MasterKey::load(file->get(), key_file);
        if (!given.ok()) {
            return given.error();
        }
        to = given.value();
    }
    auto registry = store::Registry::open(paths, store::Registry::Mode::kReadWrite);
    if (!registry.ok()) {
        return registry.error();
    }
    if (Status done = store::rotate_master_key(paths.master_key, *registry.value(), to);
        !done.ok()) {
        return done;
    }
    if (Status done = rotate_command_key(paths); !done.ok()) {
        return done;
    }
    std::printf(
        "the master key and the command key are new ones; running nginx workers and the worker "
        "read them by themselves\n");
    return Status::success();
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
    auto [set, max_accounts] = add_command(group, "set", "Change a setting of the store", run_set);
    add_count(
        set, "--max-accounts", "N", max_accounts, 1, store::kAccountsMaxLimit,
        "Maximum number of accounts, which sizes nginx's shared memory; restart nginx afterwards")
        .required();

    const Subcommand key = app.add_group("key", "Manage the keys of tokens and commands");
    auto [rotate, key_file] = add_command(
        key, "rotate", "Encrypt every secret with a new key, and seal commands with a new key",
        run_rotate);
    add_file(rotate, "--to", "KEYFILE", key_file, FileUse::kInput,
             "New key, copied from another node of the fleet (default: a random key)");
}

}  // namespace sluice::cli
