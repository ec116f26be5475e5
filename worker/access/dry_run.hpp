// Dry run: prints what a command would change (books A4). No input, no lock.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/apply/dry_run.hpp"
#include "worker/access/submit.hpp"
#include "worker/cli/output.hpp"

namespace sluice::cli {

struct DryRunOptions {
    bool wanted = false;  ///< --dry-run
    Format format = Format::kTable;
};
/// Adds `--dry-run`, and `--format` for what it prints.
void add_dry_run(Subcommand app, DryRunOptions& target);

/// Per program, creator and currency: orders, commission before, after, difference. A refusal is
/// an Error with the words of the rule.
[[nodiscard]] Status print_dry_run(const Frame& frame, const Command& command,
                                   const SubmitOptions& options, Format format);

/// submit(), or print_dry_run() if it was asked for.
[[nodiscard]] Status submit_or_try(const Frame& frame, const Command& command,
                                   const SubmitOptions& options, const DryRunOptions& dry_run);

/// The listing of a dry run or a program preview.
[[nodiscard]] std::vector<Column> difference_columns();
[[nodiscard]] Json difference_row(const DryRunRow& row);

}  // namespace sluice::cli
