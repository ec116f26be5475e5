// Doctor: checks a store, its worker and the nginx in front of it, and names remedies.
//
// A check never changes anything; only mend() does. Files that its user may not read become
// findings.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "core/values/name_table.hpp"
#include "core/values/result.hpp"
#include "core/values/timestamp.hpp"
#include "lmdb_store/store/format.hpp"
#include "program/cli/cli.hpp"

namespace sluice::cli {

enum class Health : std::uint8_t { kOk, kNote, kProblem };
inline constexpr NameTable<Health, 3> kHealthNames{
    {{Health::kOk, "ok"}, {Health::kNote, "note"}, {Health::kProblem, "problem"}}};
[[nodiscard]] inline std::string_view to_string(Health health) noexcept {
    return name_in(kHealthNames, health, "problem");
}

struct Finding {
    std::string check;  ///< Name of the check: `permissions`, `worker`, ...
    Health health = Health::kOk;
    std::string text;         ///< The finding.
    std::string remedy = {};  ///< The remedy; empty for kOk.
};

using Findings = std::vector<Finding>;

/// The remedy for a file that is lost or damaged.
inline constexpr const char* kRestore =
    "stop nginx and the worker, move the store away and keep it, and make it again with `sluice "
    "restore` of its newest backup: docs/operations.md, Backup and restore";

/// Adds a finding about a part of the store that cannot be opened.
void add_damage(const store::StorePaths& paths, const char* check, const Error& error,
                Findings& findings);
// tool/doctor/apart.cpp
/// Calls `checks` in a process of its own, because a damaged file can end it: a file that was cut
/// off while it is mapped raises SIGBUS.
/// @param remedy  What helps if that process is ended.
void check_apart(const char* what, const std::string& remedy, Findings& findings,
                 const std::function<void(Findings&)>& checks);
// tool/doctor/permissions.cpp
[[nodiscard]] std::string user_name(uid_t user);  ///< Or its number.
void check_permissions(const store::StorePaths& paths, Findings& findings);
/// Returns true if this user owns the store. Root has become its owner before the checks.
[[nodiscard]] bool is_own_store(const store::StorePaths& paths);
/// Returns the remedy for a file that this user may not read.
[[nodiscard]] std::string access_remedy(const store::StorePaths& paths);
/// Returns a command of sluice for this store, for a shell.
[[nodiscard]] std::string sluice_command(const store::StorePaths& paths, const std::string& words);
/// Returns the command that mends a file or folder, for a shell.
[[nodiscard]] std::string mend_command(const store::StorePaths& paths,
                                       const std::filesystem::path& path);
// tool/doctor/mend.cpp
/// Gives a file or folder of the store its owner, group and mode, moves away what is of another
/// kind, and makes again what holds only hints. Works on descriptors, follows no link below the
/// store's folder, and prints what it did. Needs root's rights for the owner of a file.
[[nodiscard]] Status mend(const store::StorePaths& paths, const std::filesystem::path& path);
/// Lets the members of a group append to the queue and read the registry, as `init --group` does.
[[nodiscard]] Status give_group(const store::StorePaths& paths, const std::string& name);
// tool/doctor/store.cpp
[[nodiscard]] Finding check_format(const store::StorePaths& paths);
/// Returns the command that takes a key from a backup, for a shell; BACKUP stands for its folder.
[[nodiscard]] std::string copy_key(const store::StorePaths& paths,
                                   const std::filesystem::path& key);
[[nodiscard]] Finding check_key(const store::StorePaths& paths);
[[nodiscard]] Finding check_command_key(const store::StorePaths& paths);
void check_disk(const store::StorePaths& paths, Findings& findings);
/// Reads the heads of the archive's segments; what a missing or closed folder means, permissions
/// say.
void check_archive(const store::StorePaths& paths, Findings& findings);
[[nodiscard]] Finding check_clock(const store::StorePaths& paths, Timestamp now);
/// Returns false if LMDB or a data file is of a version that sluice does not know. Then no
/// environment may be opened.
[[nodiscard]] bool check_lmdb(const store::StorePaths& paths, Findings& findings);
// tool/doctor/rows.cpp
/// Call before the other checks, because they open the environments.
void check_readers(const store::StorePaths& paths, Findings& findings);
void check_registry(const store::StorePaths& paths, Findings& findings);
void check_queue(const Frame& frame, Timestamp now, Findings& findings);
// tool/doctor/units.cpp
/// Reports every installed unit of this store: whether it runs, and the present program.
void check_units(const store::StorePaths& paths, Findings& findings);
/// Returns the command that starts the worker of this store, for a shell.
[[nodiscard]] std::string start_worker_command(const store::StorePaths& paths);
// tool/doctor/ledger.cpp
void check_ledger(const Frame& frame, Findings& findings);
/// Returns how the archive gives a store its ledger again, for a shell.
[[nodiscard]] std::string rebuild_remedy(const store::StorePaths& paths);
// tool/doctor/nginx_text.cpp
struct NginxDirective {
    std::string name;
    std::vector<std::string> arguments;
    std::vector<NginxDirective> block;  ///< Empty for a simple directive.

    /// Returns the first argument, or an empty text.
    [[nodiscard]] std::string argument() const {
        return arguments.empty() ? std::string() : arguments.front();
    }
};
/// Parses the files that `nginx -T` prints, and puts included files where they are included. Stops
/// without an error at text that it cannot read, such as a block of another language.
[[nodiscard]] std::vector<NginxDirective> parse_nginx(std::string_view printed);
/// Returns the remedy for a complaint of nginx that it cannot load a module.
/// @param program    nginx.
/// @param complaint  `... module "FILE" is not binary compatible ...`, or
/// `... module "FILE" version 1028000 instead of 1022001 ...`.
[[nodiscard]] std::string module_remedy(const std::string& program, std::string_view complaint);
// tool/doctor/nginx.cpp
/// The configuration to judge, as `nginx -T` printed it.
struct NginxDump {
    bool installed = false;
    bool by_root = false;
    std::string program;  ///< nginx, as it was called.
    int status = 0;       ///< As ChildOutput::status.
    std::string output;
    std::vector<NginxDirective> configuration;
    std::string store;  ///< The first argument of `sluice_store`; empty without one.
};
/// Runs `nginx -T`. Call it before become_store_owner(), because nginx reads files of root.
/// @param program        nginx; empty means the installed one, or a running one that has the store.
/// @param configuration  nginx.conf; empty means the one that nginx was built to read, or the one
///                       of a running nginx, whichever names this store.
[[nodiscard]] NginxDump dump_nginx(const store::StorePaths& paths, const std::string& program,
                                   const std::string& configuration);
void check_nginx(const store::StorePaths& paths, const NginxDump& dump, Findings& findings);
// tool/doctor/links.cpp
/// Reports links that need a person, and a file for nginx that is not the ledger's.
void check_links(const Frame& frame, const std::vector<NginxDirective>& configuration,
                 Findings& findings);
// tool/doctor/status_access.cpp
/// Reports status pages that clients of a proxy may read.
void check_status_access(const std::vector<NginxDirective>& configuration, Findings& findings);

}  // namespace sluice::cli
