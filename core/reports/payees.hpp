// Rows of creators' payees and of their changes.
#pragma once

#include "core/ledger/account_rows.hpp"
#include "core/reports/names.hpp"
#include "core/reports/row_output.hpp"

namespace sluice::reports {

[[nodiscard]] Row payee_row(const CreatorNames& names, const AccountId& account_id,
                            const CreatorRow& row);
/// Reads who approved the change.
[[nodiscard]] Row payee_change_row(LedgerReader& ledger, const CreatorNames& names,
                                   const AccountId& account_id, const PayeeChange& change);

}  // namespace sluice::reports
