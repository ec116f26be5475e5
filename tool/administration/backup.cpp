// sluice backup, sluice restore
#include "lmdb_store/backup/backup.hpp"

#include <unistd.h>

#include <cstdio>
#include <filesystem>

#include "lmdb_store/archive/archive.hpp"
#include "lmdb_store/archive/order.hpp"
#include "lmdb_store/ledger/ledger.hpp"
#include "lmdb_store/registry/registry.hpp"
#include "lmdb_store/store/master_key.hpp"
#include "os/files/file_io.hpp"
#include "program/commands.hpp"
#include "program/system/identity.hpp"
#include "worker/access/ledger_access.hpp"
#include "worker/drain/target_ledger.hpp"

namespace sluice::cli {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kFaultsMax = 10;

struct RestoreCommand {
    std::string folder;
    std::string group;
};

/// Checks that queue, ledger and registry of a copy fit together. Faults that the store itself had
/// are collected, because a copy of them is still a copy.
class CopyChecker {
public:
    Status operator()(const store::StorePaths& copy, const store::Backup& backup) {
        const auto queue = store::check_queue_copy(copy, backup.applied);
        if (!queue.ok()) {
            return queue.error();
        }
        Status checked = backup.has_ledger ? check_ledger(copy, backup, *queue) : Status::success();
        checked = checked.ok() ? check_key(copy) : checked;
        if (checked.ok()) {
            read_archive(copy);
        }
        if (!backup.archive_fault.empty()) {
            archive_faults_.push_back(backup.archive_fault);
        }
        return checked;
    }

    /// Reports the faults that a copy has in common with its source, and where remedies are.
    [[nodiscard]] Status report(const std::string& what) const {
        for (const auto* faults : {&faults_, &archive_faults_}) {
            for (const std::string& fault : *faults) {
                std::fprintf(stderr, "%s\n", fault.c_str());
            }
        }
        if (faults_.empty() && archive_faults_.empty()) {
            return Status::success();
        }
        std::string text = what + ", with the faults of the store that it copies";
        text += faults_.empty() ? "" : "; `sluice doctor` names remedies";
        text += archive_faults_.empty()
                    ? ""
                    : "; docs/operations.md, A damaged archive, has what to do about the archive";
        return Error{ErrorCode::kCorrupt, text};
    }

private:
    Status check_ledger(const store::StorePaths& copy, const store::Backup& backup,
                        const store::QueueFill& queue) {
        using store::EmbeddedLedger;
        auto ledger = EmbeddedLedger::open(copy.ledger, EmbeddedLedger::Mode::kReadOnly);
        auto registry = ledger.ok() ? store::Registry::open(copy, store::Registry::Mode::kReadOnly)
                                    : ledger.error();
        if (!registry.ok()) {
            return registry.error();
        }
        try {
            const auto snapshot = ledger.value()->snapshot(backup.queue_uuid);
            Status fits = worker::check_position(queue, snapshot->head().applied_seq);
            fits = fits.ok() ? worker::check_shops(*registry.value(), *snapshot) : fits;
            if (fits.ok()) {
                faults_ = ledger.value()->verify(backup.queue_uuid, kFaultsMax);
            }
            return fits;
        } catch (const LedgerFailure& failure) {
            return failure.error();
        }
    }

    /// Without its key, a registry's tokens sign nothing.
    Status check_key(const store::StorePaths& copy) {
        if (::access(copy.master_key.c_str(), F_OK) != 0) {
            return Status::success();  // run_backup() says that the key is missing
        }
        auto registry = store::Registry::open(copy, store::Registry::Mode::kReadOnly);
        if (!registry.ok()) {
            return registry.error();
        }
        const auto key = store::MasterKey::load(copy.master_key);
        if (Status fits = key.ok() ? registry.value()->check_key(*key) : key.error(); !fits.ok()) {
            faults_.push_back(fits.error().message);
        }
        return Status::success();
    }

    void read_archive(const store::StorePaths& copy) {
        read_segments(copy);
        const auto orders = store::order_faults(copy.archive);
        if (!orders.ok()) {
            archive_faults_.push_back(orders.error().message);
            return;
        }
        archive_faults_.insert(archive_faults_.end(), orders->begin(), orders->end());
    }

    void read_segments(const store::StorePaths& copy) {
        auto reader = store::ArchiveReader::open(copy.archive);
        while (reader.ok()) {
            const auto input = reader.value()->next();
            if (!input.ok()) {
                archive_faults_.push_back(input.error().message);
                return;
            }
            if (!input.value()) {
                return;
            }
        }
        archive_faults_.push_back(reader.error().message);
    }

    std::vector<std::string> faults_;
    std::vector<std::string> archive_faults_;
};

void print_backup(const store::Backup& backup, const std::string& folder, const char* done) {
    std::printf("%s %s: %zu files, %llu bytes, inputs up to %llu, %llu of them in the queue\n",
                done, folder.c_str(), backup.files.size(),
                static_cast<unsigned long long>(backup.bytes()),
                static_cast<unsigned long long>(backup.last.value),
                static_cast<unsigned long long>(backup.waiting));
}

bool has_key(const std::string& folder) {
    return ::access(store::StorePaths(folder).master_key.c_str(), F_OK) == 0;
}

Status run_backup(const Frame& frame, const std::string& folder) {
    const store::StorePaths paths = frame.paths();
    const auto own = has_own_ledger(frame);
    auto queue = own.ok() ? store::Queue::open(paths, queue_options()) : own.error();
    if (!queue.ok()) {
        return queue.error();
    }
    const auto applied = [&frame] { return applied_seq(frame, {}); };
    CopyChecker checker;
    const auto backup =
        store::write_backup({paths, *queue.value(), *own, applied}, folder, std::ref(checker));
    if (!backup.ok()) {
        return backup.error();
    }
    print_backup(*backup, folder, "backed up to");
    if (!backup->has_ledger) {
        std::printf(
            "the ledger is in PostgreSQL: a pg_dump made before this command fits this backup\n");
    }
    if (!has_key(folder)) {
        std::printf("master.key is not in it, because this user may not read it\n");
    }
    return checker.report("the backup is complete");
}

Status run_restore(const Frame& frame, const RestoreCommand& command) {
    const auto backup = store::read_backup(command.folder);
    if (!backup.ok()) {
        return backup.error();
    }
    const std::optional<std::string> group = store::group_for(*backup, command.group);
    if (Status became = become_new_owner(frame.paths().root, group); !became.ok()) {
        return became;
    }
    CopyChecker checker;
    if (Status restored =
            store::restore_backup(command.folder, *backup, frame.paths(), group, std::ref(checker));
        !restored.ok()) {
        return restored;
    }
    print_backup(*backup, frame.store, "restored");
    if (!backup->has_ledger) {
        std::printf(
            "the ledger is in PostgreSQL: restore the database, then run `sluice ledger rebuild "
            "--from %s --ledger URL`\n",
            frame.paths().archive.c_str());
    }
    if (!has_key(frame.store)) {
        std::printf("put master.key into it before nginx starts: the backup has none\n");
    }
    return checker.report("the store is restored");
}

}  // namespace

void declare_backup(Subcommand app) {
    auto [backup, made] =
        add_command(app, "backup", "Copy the store to a new folder while it is in use", run_backup);
    add_file(backup, "DIR", "", made, FileUse::kNewFolder, "New folder, or an empty one")
        .required();

    auto [restore, target] = add_command(
        app, "restore", "Make the store of a backup; never over another store", run_restore);
    add_text(restore, "DIR", "", target.folder, "Folder that `sluice backup` wrote").required();
    restore.keeps_user();  // it gives the new store its owner
    add_text(restore, "--group", "GROUP", target.group,
             "Group of the nginx workers (default: as in the backed-up store)");
}

}  // namespace sluice::cli
