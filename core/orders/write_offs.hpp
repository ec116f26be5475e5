// Write-offs that a payout has used up: an amount below 0 was deducted together with a write-off
// that made up for it. If the debt goes away later, the write-off has paid for nothing.
#pragma once

#include <optional>
#include <string>

#include "core/ledger/ledger.hpp"
#include "core/ledger/order_state.hpp"

namespace sluice {

/// Returns the command id of a write-off that the payout contains in this program and that was not
/// reversed, or nullopt.
[[nodiscard]] std::optional<std::string> write_off_in(LedgerReader& ledger,
                                                      const std::string& payout_id,
                                                      const ProgramId& program);

/// Returns whether an amount is open above 0 of a position of which a payout deducted an amount
/// together with a write-off.
[[nodiscard]] bool restores_written_off(LedgerReader& ledger, const OrderState& state);

}  // namespace sluice
