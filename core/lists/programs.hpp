// Rows of programs, and the policy of an account.
#pragma once

#include "core/ledger/rows.hpp"
#include "core/lists/list.hpp"
#include "core/rules/account.hpp"

namespace sluice::lists {

[[nodiscard]] const List<ProgramRow>& program_list();
[[nodiscard]] const List<AccountSettings>& policy_list();
/// Returns the account's current policy.
[[nodiscard]] Json policy_object(const AccountSettings& settings);
/// Returns the settings of a program by name, without version and time.
[[nodiscard]] Json program_object(const Program& program);

}  // namespace sluice::lists
