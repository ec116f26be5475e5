// Doctor: checks a store, its worker and the nginx in front of it, and names remedies.
//
// A check never changes anything; only mend() does. Files that its user may not read become
// findings.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "core/values/result.hpp"
#include "core/values/timestamp.hpp"
#include "lmdb_store/store/format.hpp"
#include "program/cli/cli.hpp"

namespace sluice::cli {

enum class Health : std::uint8_t { kOk, kNote, kProblem };
[[nodiscard]] std::string_view to_string(Health health) noexcept;  // ok, note, problem

struct Finding {
    std::string check;  ///< Name of the check: `permissions`, `worker`, ...
    Health health = Health::kOk;
    std::string text;         ///< The finding.
    std::string remedy = {};  ///< The remedy; empty for kOk.
};

using Findings = std::vector<Finding>;

/// Adds a finding about a part of the store that cannot be opened.
void add_damage(const char* check, const Error& error, Findings& findings);
// tool/doctor/permissions.cpp
[[nodiscard]] std::string user_name(uid_t user);  ///< Or its number.
void check_permissions(const store::StorePaths& paths, Findings& findings);
/// Gives a file or folder of the store its owner and mode, or moves away what is of another kind.
/// Works on descriptors, follows no link below the store's folder, and prints what it did. Needs
/// root's rights for the owner of a file.
[[nodiscard]] Status mend(const store::StorePaths& paths, const std::filesystem::path& path);
/// Returns the command that mends it, for a shell.
[[nodiscard]] std::string mend_command(const store::StorePaths& paths,
                                       const std::filesystem::path& path);
// tool/doctor/store.cpp
void check_format(const store::StorePaths& paths, Findings& findings);
void check_key(const store::StorePaths& paths, Findings& findings);
void check_command_key(const store::StorePaths& paths, Findings& findings);
void check_disk(const store::StorePaths& paths, Findings& findings);
void check_clock(const store::StorePaths& paths, Timestamp now, Findings& findings);
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
// tool/doctor/ledger.cpp
void check_ledger(const Frame& frame, Findings& findings);
// tool/doctor/nginx_text.cpp
struct NginxDirective {
    std::string name;
    std::vector<std::string> arguments;
    std::vector<NginxDirective> block;  ///< Empty for a simple directive.
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
// tool/doctor/status_access.cpp
/// Reports status pages that clients of a proxy may read.
void check_status_access(const std::vector<NginxDirective>& configuration, Findings& findings);

}  // namespace sluice::cli
