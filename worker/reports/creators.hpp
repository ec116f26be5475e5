// Creators: listings of who is in which program, with which codes.
#pragma once

#include <optional>
#include <vector>

#include "core/ledger/ledger.hpp"
#include "core/values/result.hpp"
#include "worker/cli/output.hpp"

namespace sluice::cli {

[[nodiscard]] std::vector<Column> creator_list_columns();
/// By program and creator.
void write_creators(LedgerReader& ledger, const std::optional<ProgramId>& program, Listing& out);

/// All that the ledger knows of one creator by itself. kNotFound: the account has no such creator.
[[nodiscard]] Result<Json> creator_object(LedgerReader& ledger, AccountNumber account,
                                          const AccountId& account_id, const CreatorId& creator);

}  // namespace sluice::cli
