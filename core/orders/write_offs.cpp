#include "core/orders/write_offs.hpp"

#include "core/ledger/command_rows.hpp"
#include "core/positions/open_amounts.hpp"

namespace sluice {

/// Reads the write-offs after the scan, because a scan allows no other read.
std::optional<std::string> write_off_in(LedgerReader& ledger, const std::string& payout_id,
                                        const ProgramId& program) {
    const PayoutItem first{.payout_id = payout_id, .program = program};
    for (const PayoutItem& item : ledger.rows(
             first, {4, 4}, [](const PayoutItem& one) { return one.kind == ItemKind::kCredit; })) {
        MoneyCommand credit{.command_id = item.line.str()};
        if (ledger.load(credit) && credit.topic == Topic::kWriteOff && credit.reversed_by.empty()) {
            return item.line.str();
        }
    }
    return std::nullopt;
}

bool restores_written_off(LedgerReader& ledger, const OrderState& state) {
    for (const Position& position : state.positions) {
        for (const PositionPayout& payout : position.payouts) {
            if (is_deduction(payout) && is_open_above_zero(position, payout.currency) &&
                write_off_in(ledger, payout.payout_id, position.attribution.program)) {
                return true;
            }
        }
    }
    return false;
}

}  // namespace sluice
