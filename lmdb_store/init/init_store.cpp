// `sluice init`: creates a store. docs/operations.md lists owners and modes.
#include <fcntl.h>
#include <grp.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>
#include <vector>

#include "core/values/shell_word.hpp"
#include "lmdb_store/environment/environment.hpp"
#include "lmdb_store/environment/folder_check.hpp"
#include "lmdb_store/environment/store_failure.hpp"
#include "lmdb_store/lanes/lane_set.hpp"
#include "lmdb_store/ledger/tables.hpp"
#include "lmdb_store/links/published_file.hpp"
#include "lmdb_store/queue/tables.hpp"
#include "lmdb_store/registry/publish.hpp"
#include "lmdb_store/registry/tables.hpp"
#include "lmdb_store/store/command_key.hpp"
#include "lmdb_store/store/control_page.hpp"
#include "lmdb_store/store/format.hpp"
#include "lmdb_store/store/master_key.hpp"
#include "os/files/file_io.hpp"
#include "os/random/random_bytes.hpp"

namespace sluice::store {
namespace {

namespace fs = std::filesystem;

/// Modes of folders and files. Without a group, only the owner has access.
struct Modes {
    mode_t folder;         ///< The group may enter and list it.
    mode_t shared_folder;  ///< The group creates files, and no member removes another's.
    mode_t queue_file, read_file;
};
constexpr Modes kWithGroup{0750, 03770, 0660, 0640};
constexpr Modes kAlone{0700, 0700, 0600, 0600};
constexpr mode_t kPrivateFolder = 0700;
constexpr mode_t kPrivateFile = 0600;
constexpr mode_t kPrivateKey = 0400;

struct Owners {
    uid_t user;
    gid_t group;
    Modes modes;

    [[nodiscard]] FileOwner with(mode_t mode) const { return {user, group, mode}; }
};

Owners choose_owners(const InitOptions& options) {
    Owners owners{::geteuid(), ::getegid(), options.group ? kWithGroup : kAlone};
    if (options.group) {
        const group* found = ::getgrnam(options.group->c_str());
        if (found == nullptr) {
            throw StoreFailure(not_found("there is no group \"" + *options.group + "\""));
        }
        owners.group = found->gr_gid;
    }
    return owners;
}

/// Creates the files of a store. Removes them when destroyed, unless run() succeeded.
class Builder {
public:
    Builder(const StorePaths& paths, const Owners& owners) : paths_(paths), owners_(owners) {}
    Builder(const Builder&) = delete;
    Builder& operator=(const Builder&) = delete;
    ~Builder() {
        for (auto path = made_.rbegin(); path != made_.rend(); ++path) {
            std::error_code ignored;
            fs::remove_all(*path, ignored);
        }
    }

    void run(const InitOptions& options) {
        const Modes& modes = owners_.modes;
        root_folder();
        folder(paths_.registry, modes.folder);
        folder(paths_.queue, modes.folder);
        folder(paths_.bulk, modes.shared_folder);
        folder(paths_.ledger, kPrivateFolder);
        folder(paths_.archive, kPrivateFolder);
        environments();
        files();
        // Now that no member of the group meets a folder or file that is not complete, and before
        // the format file, which makes it a store.
        check(set_owner(paths_.root, owners_.with(modes.folder)));
        if (options.is_complete) {
            format_file(options.max_accounts);
        }
        check(sync_folder(fs::absolute(paths_.root).parent_path()));
        made_.clear();
    }

private:
    void root_folder() {
        std::error_code error;
        fs::create_directories(fs::absolute(paths_.root).parent_path(), error);
        if (error) {
            throw StoreFailure(system_error(error.value(), "create the folder above", paths_.root));
        }
        if (!fs::is_directory(paths_.root, error)) {
            return folder(paths_.root, kPrivateFolder);
        }
        const bool is_empty = fs::is_empty(paths_.root, error);
        if (error) {
            throw StoreFailure(system_error(error.value(), "read", paths_.root));
        }
        if (!is_empty) {
            throw StoreFailure(occupied());
        }
        check(set_owner(paths_.root, owners_.with(kPrivateFolder)));
    }

    [[nodiscard]] Error occupied() const {
        const bool is_store = ::access(paths_.format.c_str(), F_OK) == 0;
        return {ErrorCode::kConflict,
                is_store ? "\"" + paths_.root.string() + "\" already is a store"
                         : "\"" + paths_.root.string() +
                               "\" is neither empty nor a store, as after an interrupted \"sluice "
                               "init\" or \"sluice restore\", or when its file \"format\" is "
                               "lost: move it away first (mv -T " +
                               shell_word(paths_.root.native()) + " " +
                               shell_word(paths_.root.native() + ".old") + ")"};
    }

    void folder(const fs::path& path, mode_t mode) {
        if (::mkdir(path.c_str(), 0700) != 0) {
            throw StoreFailure(system_error(errno, "create", path));
        }
        made_.push_back(path);
        check(set_owner(path, owners_.with(mode)));
    }

    void environments() {
        check(check_file_system(paths_.root));
        const FileOwner owner = owners_.with(kPrivateFile);
        const FileOwner shared = owners_.with(owners_.modes.queue_file);
        check(Environment::create(paths_.registry, owner, owner, [this](MDB_txn* txn) {
            return create_registry_tables(txn, key_);
        }));
        check(Environment::create(paths_.queue, shared, shared, [this](MDB_txn* txn) {
            return create_queue_tables(txn, uuid_);
        }));
        check(Environment::create(paths_.ledger, owner, owner, create_ledger_tables));
    }

    void files() {
        const Modes& modes = owners_.modes;
        made_.push_back(paths_.master_key);
        made_.push_back(paths_.command_key);
        made_.push_back(paths_.worker_lock);
        made_.push_back(paths_.links);
        check(key_.save(paths_.master_key));
        check(create_command_key(paths_.command_key, owners_.with(kPrivateKey)));
        check(replace_file(paths_.worker_lock, "", owners_.with(kPrivateFile)));
        check(create_generation(paths_, owners_.with(modes.read_file)));
        check(publish_registry(paths_));
        check(
            create_links_folder(paths_, owners_.with(modes.folder), owners_.with(modes.read_file)));
        check(ControlFile::create(paths_, owners_.with(modes.queue_file)));
        check(LaneSet::create(paths_, owners_.with(modes.shared_folder),
                              owners_.with(modes.queue_file)));
    }

    void format_file(std::uint32_t max_accounts) {
        StoreFormat format{.uuid = uuid_, .max_accounts = max_accounts};
        made_.push_back(paths_.format);
        check(sync_folder(paths_.root));
        check(write_store_format(paths_, format, owners_.with(owners_.modes.read_file)));
    }

    const StorePaths& paths_;
    Owners owners_;
    MasterKey key_ = MasterKey::random();
    std::string uuid_ = make_uuid();
    std::vector<fs::path> made_;
};

}  // namespace

Status init_store(const StorePaths& paths, const InitOptions& options) {
    if (options.max_accounts == 0 || options.max_accounts > kAccountsMaxLimit) {
        return invalid("--max-accounts is a number from 1 to " + std::to_string(kAccountsMaxLimit));
    }
    return attempt([&] { Builder(paths, choose_owners(options)).run(options); });
}

}  // namespace sluice::store
