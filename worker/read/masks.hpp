// Masks: what a caller must not see (LG6, Q9).
#pragma once

#include <string>
#include <string_view>

#include "core/reports/json.hpp"

namespace sluice::serve {

/// Returns four dots and the last 4 characters of a payee, or the dots alone if it has under 8.
[[nodiscard]] std::string masked_payee(std::string_view payee);

/// Masks the members of an object, and those below them.
/// @param sees_ledger  Whether the caller has read_ledger. Without it, payees, actors, notes and
/// reasons are null.
void mask_members(reports::Json& object, bool sees_ledger);
/// Masks the payees in what an approver is shown: in the settings that would change, and in the
/// rows of an import.
void mask_approval(reports::Json& approval);
/// Masks the value of a column, and the members below it.
void mask_cell(std::string_view column, reports::Json& value, bool sees_ledger);

}  // namespace sluice::serve
