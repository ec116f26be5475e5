// Leave work: what an import, a program file or a `detach --cause` leaves to be done to many orders
// (books A2, A3). retry_work.hpp does it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/ledger/ledger.hpp"
#include "core/orders/context.hpp"

namespace sluice {

/// Leaves work for each key that orders wait for, in this order; a repeated key is done once.
void leave_work(const std::vector<WaitKey>& keys, const CommandContext& context, LedgerTxn& txn);
/// Leaves work for every key of the account that has a touch or a code; its orders are tried by
/// (platform_ordered_at, shop, order id).
void leave_account_work(AccountNumber account, const CommandContext& context, LedgerTxn& txn);
void leave_detach_work(const std::string& cause, bool retry, const CommandContext& context,
                       LedgerTxn& txn);
/// Work of a FORGET; the caller puts its orders beside it. @return its number.
std::uint64_t leave_forget_work(const CommandContext& context, LedgerTxn& txn);

}  // namespace sluice
