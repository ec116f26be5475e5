// Retry work: what an import, a program file or a `detach --cause` left to be done to many orders,
// in slices (books A2, A3).
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "core/apply/context.hpp"
#include "core/apply/order.hpp"
#include "core/ledger/ledger.hpp"

namespace sluice {

/// Leaves work for each key that orders wait for, in this order; a repeated key is done once.
void leave_work(const std::vector<WaitKey>& keys, const CommandContext& context, LedgerTxn& txn);
/// Leaves work for every key of the account that has a touch or a code; its orders are tried by
/// (platform_ordered_at, shop, order id).
void leave_account_work(AccountNumber account, const CommandContext& context, LedgerTxn& txn);
void leave_detach_work(const std::string& cause, bool retry, const CommandContext& context,
                       LedgerTxn& txn);

/// Does about `steps_max` orders of it. @return true if some is left.
bool do_work(OrderApplier& orders, LedgerTxn& txn, std::size_t steps_max);

}  // namespace sluice
