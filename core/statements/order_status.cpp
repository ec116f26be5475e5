#include <algorithm>
#include <optional>

#include "core/positions/open_amounts.hpp"
#include "core/rules/account.hpp"
#include "core/statements/statements.hpp"

namespace sluice {
namespace {

PayoutState state_of(const std::string& payout_id, LedgerReader& ledger) {
    Payout payout{.payout_id = payout_id};
    if (!ledger.load(payout)) {
        throw LedgerFailure(
            corrupt("ledger: there is no payout " + payout_id + ", which an order names"));
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

}  // namespace

bool OrderJudge::is_creator_held(const OrderState& order) {
    constexpr std::size_t kHoldsMax = 4096;  // an export of every order meets every creator
    const Position* position = order.position();
    if (position == nullptr) {
        return false;
    }
    if (holds_.size() >= kHoldsMax) {
        holds_.clear();
    }
    const Attribution& given = position->attribution;
    const auto [found, added] =
        holds_.try_emplace({order.key.account, given.creator, given.program});
    if (added) {
        found->second = is_held(ledger_, order.key.account, given.creator, given.program);
    }
    return found->second;
}

std::uint32_t OrderJudge::open_anomalies(const OrderState& order) {
    const std::uint32_t open = order.anomalies_showing & ~order.anomalies_acknowledged;
    if (open == 0) {
        return 0;
    }
    const auto [found, added] = blocking_.try_emplace(order.key.account);
    if (added) {
        found->second = account_settings(ledger_, order.key.account).blocking;
    }
    return open & found->second;
}

std::vector<std::string> OrderJudge::blocked_by(const OrderState& order) {
    std::vector<std::string> blocks;
    if (order.has(kOrderHeld)) {
        blocks.emplace_back("HOLD");
    }
    if (is_creator_held(order)) {
        blocks.emplace_back("CREATOR_HOLD");
    }
    each_kind(open_anomalies(order),
              [&blocks](AnomalyKind kind) { blocks.emplace_back(to_string(kind)); });
    return blocks;
}

std::optional<Timestamp> OrderJudge::blocked_since(const OrderState& order) {
    std::optional<Timestamp> since;
    const auto note = [&since](Timestamp at) { since = since ? std::min(*since, at) : at; };
    if (order.has(kOrderHeld)) {
        std::optional<Timestamp> held;  // the hold that holds was received last
        for (const JournalGroup& group : ledger_.order_journal(order)) {
            const bool is_hold = std::ranges::any_of(group.entries, [](const JournalEntry& entry) {
                return entry.reason == JournalReason::kMemoHeld;
            });
            if (is_hold) {
                held = held ? std::max(*held, group.recorded_at) : group.recorded_at;
            }
        }
        if (held) {
            note(*held);
        }
    }
    if (is_creator_held(order)) {
        const Attribution& given = order.position()->attribution;
        CreatorHold hold{.account = order.key.account, .creator = given.creator};
        ledger_.scan(hold, {2, 2}, [&](const CreatorHold& row) {
            if (row.program.empty() || row.program == given.program) {
                note(row.held_at);
            }
        });
    }
    each_kind(open_anomalies(order), [&](AnomalyKind kind) {
        if (const auto row = ledger_.anomaly(order.key, kind)) {
            note(row->recorded_at);
        }
    });
    return since;
}

bool OrderJudge::is_cleared(const OrderState& order, Timestamp now) {
    const Position& position = *order.position();
    if (has_active_payout(position)) {
        return true;
    }
    const ProgramRow* program = programs_.find(position.attribution.program);
    return program != nullptr && program->program.clears_at(order.ordered_at) <= now;
}

std::string_view OrderJudge::status(const OrderState& order, Timestamp now) {
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
    if (const auto state = commission_state(*position, ledger_)) {
        return *state;
    }
    if (order.has(kOrderHeld) || is_creator_held(order) || open_anomalies(order) != 0) {
        return "blocked";
    }
    return is_cleared(order, now) ? "payable" : "pending";
}

}  // namespace sluice
