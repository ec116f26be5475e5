// Program apply: a program file as the command that takes it over.
#pragma once

#include <optional>
#include <string>

#include "core/commands/imports.hpp"
#include "core/values/result.hpp"
#include "core/values/timestamp.hpp"
#include "worker/cli/cli.hpp"

namespace sluice::cli {

/// Reads the file and looks accounts and shops up in the registry, rates at the accounts'
/// `max_rate`: of the file's policy, else of the ledger's. kInvalid: `file:line: field: expected`.
[[nodiscard]] Result<ProgramApply> read_program_apply(const Frame& frame, const std::string& file,
                                                      const std::string& ledger_url);

/// Adds `--reach T`.
void add_reach(Subcommand app, std::optional<Timestamp>& target);

}  // namespace sluice::cli
