// Import file: rows of a CSV file as one command, all of them or none.
#pragma once

#include <optional>
#include <string>

#include "core/commands/commands.hpp"
#include "worker/access/dry_run.hpp"
#include "worker/cli/csv_reader.hpp"

namespace sluice::cli {

struct ImportOptions {
    std::string file;
    std::optional<Timestamp> reach;
    SubmitOptions submit;
    DryRunOptions dry_run;
};
/// Adds FILE, `--reach`, `--dry-run`, `--no-wait` and what every command that writes takes.
void add_import(Subcommand app, ImportOptions& target);

/// Submits or tries it. A rule that refuses a row names the file and the line.
[[nodiscard]] Status submit_import(const Frame& frame, const ImportOptions& options,
                                   const Command& command);

/// A field that holds an account's, program's or creator's id.
template <class Id>
Status take_id(const std::string& column, const std::string& text, Id& id) {
    if (!is_admin_id(text)) {
        return Error{ErrorCode::kInvalid,
                     column + ": expected 1 to 128 of A-Z a-z 0-9 . _ - : @ + / ="};
    }
    id = Id(text);
    return Status::success();
}
/// A field that may be empty: nothing then.
[[nodiscard]] Status take_time(const std::string& column, const std::string& text,
                               std::optional<Timestamp>& at);
[[nodiscard]] Status take_text(const std::string& column, const std::string& text,
                               std::optional<std::string>& taken);

}  // namespace sluice::cli
