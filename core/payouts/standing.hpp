// Standing: payouts take items from positions and credits, and let them go (books P2, P4).
#pragma once

#include <vector>

#include "core/ledger/ledger.hpp"
#include "core/orders/change.hpp"

namespace sluice {

/// The items of a payout that is made are taken. `items` are by key.
void stand(const Payout& payout, const std::vector<PayoutItem>& items, const Source& source,
           ProgramCache& programs, LedgerTxn& txn);
/// The payout has moved: if it stands no more, what its items took is open again; the orders are
/// judged (H2).
void follow_move(const Payout& payout, const Source& source, ProgramCache& programs,
                 LedgerTxn& txn);

}  // namespace sluice
