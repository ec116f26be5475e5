// Work: what an import, a program file, a `detach --cause`, a FORGET or a volume that reaches a
// tier leaves to be done to many orders, in slices (rules A2, A3, F2, M4).
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "core/ledger/ledger.hpp"
#include "core/orders/context.hpp"
#include "core/orders/order.hpp"

namespace sluice {

/// Queues work for each key that orders wait for, in this order; a repeated key once.
void leave_work(const std::vector<WaitKey>& keys, const CommandContext& context, LedgerTxn& txn);
/// Queues work for every key of the account that has a click or a code. Its orders are tried by
/// (platform_ordered_at, shop, order id).
void leave_account_work(AccountNumber account, const CommandContext& context, LedgerTxn& txn);
void leave_detach_work(const std::string& cause, bool retry, const CommandContext& context,
                       LedgerTxn& txn);
/// Queues the work of a FORGET; the caller puts the orders. Returns the number of the work.
std::uint64_t leave_forget_work(const CommandContext& context, LedgerTxn& txn);

/// Does about `steps_max` orders of the queued work. Returns true if some is left.
bool do_work(OrderApplier& orders, LedgerTxn& txn, std::size_t steps_max);

/// The queued work of this node.
struct WorkLeft {
    std::uint64_t pieces = 0;  ///< Codes, devices, whole programs, months of a creator.
    SequenceNumber cause;      ///< The input that left the first of them.
};
[[nodiscard]] WorkLeft work_left(LedgerReader& ledger);
/// Returns `orders of 3 codes, devices, programs or months are still to be tried or rated again`
[[nodiscard]] std::string work_text(std::uint64_t pieces);

}  // namespace sluice
