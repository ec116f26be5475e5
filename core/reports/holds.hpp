// Rows of the holds on creators and orders.
#pragma once

#include <optional>
#include <vector>

#include "core/ledger/ledger.hpp"
#include "core/reports/row_output.hpp"

namespace sluice::reports {

[[nodiscard]] std::vector<Column> hold_columns();
/// Lists the holds on creators, then those on orders.
/// @param creator  First id of the only creator, or nothing.
void write_holds(LedgerReader& ledger, AccountNumber account, const AccountId& account_id,
                 const std::optional<CreatorId>& creator, RowOutput& out);

}  // namespace sluice::reports
