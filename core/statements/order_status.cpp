#include <optional>

#include "core/positions/open_amounts.hpp"
#include "core/rules/account.hpp"
#include "core/statements/statements.hpp"

namespace sluice {
namespace {

PayoutState state_of(const std::string& payout_id, LedgerReader& ledger) {
    Payout payout;
    payout.payout_id = payout_id;
    if (!ledger.load(payout)) {
        throw LedgerFailure({ErrorCode::kCorrupt,
                             "ledger: there is no payout " + payout_id + ", which an order names"});
    }
    return payout.state;
}

/// Returns paid or in_payout, or nullopt if no active payout has a COMMISSION item.
std::optional<std::string_view> commission_state(const Position& position, LedgerReader& ledger) {
    bool found = false;
    for (const PositionPayout& payout : position.payouts) {
        if (payout.active && payout.has_commission) {
            found = true;
            if (state_of(payout.payout_id, ledger) != PayoutState::kPaid) {
                return "in_payout";
            }
        }
    }
    return found ? std::optional<std::string_view>("paid") : std::nullopt;
}

bool is_cleared(const OrderState& order, const Position& position, Timestamp now,
                LedgerReader& ledger) {
    const std::optional<ProgramRow> row = ledger.program(position.attribution.program);
    return has_active_payout(position) || (row && row->program.clears_at(order.ordered_at) <= now);
}

}  // namespace

std::string_view order_status(const OrderState& order, Timestamp now, LedgerReader& ledger) {
    const Position* position = order.position();
    if (position == nullptr) {
        return order.has(kOrderBarred) ? "detached" : "waiting";
    }
    if (order.has(kOrderRejected)) {
        return "rejected";
    }
    if (order.cancelled_at) {
        return "cancelled";
    }
    if (const auto state = commission_state(*position, ledger)) {
        return *state;
    }
    if (!blocked_by(order, ledger).empty()) {
        return "blocked";
    }
    return is_cleared(order, *position, now, ledger) ? "payable" : "pending";
}

AllocatedOfOrder allocated_of_order(const OrderState& order, LedgerReader& ledger) {
    AllocatedOfOrder allocated;
    for (const Position& position : order.positions) {
        for (const PositionPayout& payout : position.payouts) {
            if (!payout.active) {
                continue;
            }
            auto& sums = state_of(payout.payout_id, ledger) == PayoutState::kPaid
                             ? allocated.paid
                             : allocated.in_payout;
            sums.try_emplace(payout.currency, zero_amount(payout.currency)).first->second +=
                payout.amount;
        }
    }
    return allocated;
}

}  // namespace sluice
