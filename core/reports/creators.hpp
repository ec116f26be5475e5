// Rows of creators: members of programs, and one creator with names, programs, codes and holds.
#pragma once

#include <optional>
#include <vector>

#include "core/ledger/ledger.hpp"
#include "core/reports/row_output.hpp"
#include "core/values/result.hpp"

namespace sluice::reports {

[[nodiscard]] std::vector<Column> creator_columns();
/// Lists the members of a program, or of all, by program and creator.
/// @param account  Empty means every account.
void write_creators(LedgerReader& ledger, const std::optional<AccountNumber>& account,
                    const std::optional<ProgramId>& program, RowOutput& out);

/// Returns one creator, or kNotFound.
/// @param creator  Any of the creator's ids.
[[nodiscard]] Result<Json> creator_object(LedgerReader& ledger, AccountNumber account,
                                          const AccountId& account_id, const CreatorId& creator);

}  // namespace sluice::reports
