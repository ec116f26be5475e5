// Lists of accounting periods, and of the sums of a closed one.
#pragma once

#include "core/ledger/account_rows.hpp"
#include "core/ledger/ledger.hpp"
#include "core/lists/list.hpp"
#include "core/lists/plain_list.hpp"
#include "core/lists/row_output.hpp"

namespace sluice::lists {

struct PeriodOf {
    const AccountId& account_id;
    const Period* period;  ///< Null is the open one.
};
[[nodiscard]] const List<PeriodOf>& period_list();
/// Lists the closed periods of an account, the oldest first.
void write_periods(LedgerReader& ledger, AccountNumber account, const AccountId& account_id,
                   RowOutput& out);

/// The sums of a closed period, each of a creator, program and currency.
[[nodiscard]] const PlainList& period_sum_list();

}  // namespace sluice::lists
