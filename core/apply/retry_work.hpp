// Retry work: trying waiting orders again after an import or a program file (rule A2), in slices.
#pragma once

#include <cstddef>
#include <set>

#include "core/apply/context.hpp"
#include "core/apply/order.hpp"
#include "core/ledger/ledger.hpp"

namespace sluice {

/// Leaves work for each key that orders wait for. In the keys' order.
void leave_work(const std::set<WaitKey>& keys, const CommandContext& context, LedgerTxn& txn);
/// Leaves work for every key of the account that has a touch or a code.
void leave_account_work(AccountNumber account, const CommandContext& context, LedgerTxn& txn);

/// Does about `steps_max` orders of it. @return true if some is left.
bool do_work(OrderApplier& orders, LedgerTxn& txn, std::size_t steps_max);

}  // namespace sluice
