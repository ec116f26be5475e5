// Retry work: what an import, a program file or a `detach --cause` left to be done to many orders,
// in slices (books A2, A3).
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "core/ledger/ledger.hpp"
#include "core/orders/context.hpp"
#include "core/orders/order.hpp"

namespace sluice {

/// Does about `steps_max` orders of it. @return true if some is left.
bool do_work(OrderApplier& orders, LedgerTxn& txn, std::size_t steps_max);

}  // namespace sluice
