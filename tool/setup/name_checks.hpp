// Name checks: names that people type and that match nothing, or nearly what is stored. They are
// warnings, because the name may be right, or what it names may come later.
#pragma once

#include <string>
#include <vector>

#include "core/commands/imports.hpp"
#include "core/ledger/ledger.hpp"

namespace sluice::cli {

using Warnings = std::vector<std::string>;

/// Prints each as a line on stderr.
void print_warnings(const Warnings& warnings);

/// Finds creators and codes that differ from others, of the ledger or of the file, by case only,
/// and groups that no rule names.
/// @param file  Its name, for messages.
[[nodiscard]] Warnings check_names(LedgerReader& ledger, const std::string& file,
                                   const CreatorImport& import);
/// Finds a group that no rule of the program names.
[[nodiscard]] Warnings check_group(LedgerReader& ledger, const ProgramId& program,
                                   const std::string& group);
/// Finds rules that match nothing: no product that is known, no creator, no member of the group.
[[nodiscard]] Warnings check_rules(LedgerReader& ledger, const ProgramApply& apply);

}  // namespace sluice::cli
