// Import: a program file or a CSV file as one command, all of its rows or none.
#pragma once

#include <optional>
#include <string>

#include "core/commands/commands.hpp"
#include "core/commands/imports.hpp"
#include "core/values/result.hpp"
#include "core/values/timestamp.hpp"
#include "program/cli/cli.hpp"
#include "program/cli/csv_reader.hpp"
#include "worker/access/submit.hpp"

namespace sluice::cli {

/// Reads a program file, looks up its accounts and shops in the registry, and checks its rates
/// against the account's `max_rate`, from the file's policy, else from the ledger's. Returns
/// kInvalid as `file:line: field: expectation`.
[[nodiscard]] Result<ProgramApply> read_program_apply(const Frame& frame, const std::string& file,
                                                      const std::string& ledger_url);

/// Adds `--effective-from T`.
void add_effective_from(Subcommand app, std::optional<Timestamp>& target);

struct ImportOptions {
    std::string file;
    std::optional<Timestamp> effective_from;
    SubmitOptions submit;
    DryRunOptions dry_run;
};
/// Adds FILE, `--effective-from`, `--dry-run`, `--no-wait` and the options of every command that
/// writes.
void add_import(Subcommand app, ImportOptions& target);

/// Submits the import, or performs its dry run. A refusal names the file and the line of the row.
[[nodiscard]] Status submit_import(const Frame& frame, const ImportOptions& options,
                                   const Command& command);

/// Replaces the `line N:` of a rule that refuses a row by `file:N:`.
[[nodiscard]] Status with_file(const std::string& file, Status done);

/// Parses the id of an account, program or creator.
template <class Id>
Status take_id(const std::string& column, const std::string& text, Id& id) {
    if (!is_admin_id(text)) {
        return invalid(column + ": expected " + std::string(kAdminIdForm));
    }
    id = Id(text);
    return Status::success();
}
/// Parse a field that may be empty.
[[nodiscard]] Status take_time(const std::string& column, const std::string& text,
                               std::optional<Timestamp>& at);
[[nodiscard]] Status take_text(const std::string& column, const std::string& text,
                               std::optional<std::string>& taken);

}  // namespace sluice::cli
