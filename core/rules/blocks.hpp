// Blocks: what keeps an order out of a payout: holds of people, and anomalies (books H1, H2).
#pragma once

#include <string>
#include <vector>

#include "core/ledger/ledger.hpp"

namespace sluice {

/// A hold on the creator, in the program or in all.
[[nodiscard]] bool is_held(LedgerReader& ledger, AccountNumber account, const CreatorId& creator,
                           const ProgramId& program);
/// HOLD, CREATOR_HOLD and the kinds of anomalies that block the order now.
[[nodiscard]] std::vector<std::string> blocked_by(const OrderState& order, LedgerReader& ledger);

}  // namespace sluice
