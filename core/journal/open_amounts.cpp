#include "core/journal/open_amounts.hpp"

#include <algorithm>
#include <set>

#include "core/journal/journal.hpp"
#include "core/values/money.hpp"

namespace sluice {
namespace {

constexpr std::uint32_t kNanosPerSecond = 1'000'000'000;

/// The run's part of a payout id: what follows its `P`, and what follows the run's `C`, agree.
bool is_of_run(std::string_view payout, std::string_view run) noexcept {
    return !run.empty() && payout.size() > run.size() &&
           payout.substr(1, run.size() - 1) == run.substr(1) && payout[run.size()] == '-';
}

Decimal sum_of(const LineAmounts& amounts) {
    Decimal sum;
    for (const auto& [line, amount] : amounts) {
        sum = sum + amount;
    }
    return sum;
}

}  // namespace

Decimal due_in(const Position& position, Currency currency) {
    Decimal sum = zero_amount(currency);
    for (const LineDue& due : position.dues) {
        sum = due.currency == currency ? sum + due.due : sum;
    }
    return sum;
}

Decimal taken_in(const Position& position, Currency currency) {
    Decimal sum = zero_amount(currency);
    for (const LineDue& due : position.dues) {
        sum = due.currency == currency ? sum + due.taken : sum;
    }
    return sum;
}

std::uint32_t blocks_of(const OrderState& state) noexcept {
    return (state.anomalies_showing & ~state.anomalies_acknowledged) |
           (state.has(kOrderHeld) ? kBlockedByHold : 0);
}

std::vector<Currency> currencies_of(const Position& position) {
    std::vector<Currency> currencies;
    for (const LineDue& due : position.dues) {
        if (std::find(currencies.begin(), currencies.end(), due.currency) == currencies.end()) {
            currencies.push_back(due.currency);
        }
    }
    std::sort(currencies.begin(), currencies.end());
    return currencies;
}

bool has_standing(const Position& position) noexcept {
    return std::any_of(position.payouts.begin(), position.payouts.end(),
                       [](const PositionPayout& payout) { return payout.standing; });
}

bool has_commission(const Position& position, std::string_view run) noexcept {
    return std::any_of(
        position.payouts.begin(), position.payouts.end(), [run](const PositionPayout& payout) {
            return payout.standing && payout.has_commission && !is_of_run(payout.payout_id, run);
        });
}

std::vector<OpenAmount> open_amounts(const OrderState& state) {
    std::vector<OpenAmount> rows;
    const std::uint32_t blocks = blocks_of(state);
    for (const Position& position : state.positions) {
        for (const Currency currency : currencies_of(position)) {
            const Decimal open = due_in(position, currency) - taken_in(position, currency);
            if (!open.is_zero()) {
                rows.push_back({state.key.account, position.attribution.program,
                                has_standing(position), state.ordered_at, state.key.shop,
                                state.key.order_id, position.attribution.creator, currency, open,
                                position.last_booked, blocks});
            }
        }
    }
    return rows;
}

std::optional<OpenAmount> open_amount(const MoneyCommand& credit) {
    const Decimal open = credit.due - credit.taken;
    if (open.is_zero()) {
        return std::nullopt;
    }
    return OpenAmount{credit.account,
                      credit.program,
                      credit.standing_items != 0,
                      credit.sale_at,
                      ShopNumber{},
                      OrderId(credit.command_id),
                      credit.creator,
                      credit.currency,
                      open,
                      credit.last_booked,
                      0};
}

CommissionAmount commission_amount(const OrderState& state) {
    const Position* position = state.position();
    if (position == nullptr) {
        return {state.currency, zero_amount(state.currency)};
    }
    std::optional<Currency> currency;
    for (const PositionPayout& payout : position->payouts) {
        if (payout.standing && payout.has_commission &&
            (!currency || payout.currency == state.currency)) {
            currency = payout.currency;
        }
    }
    if (!currency) {
        return {state.currency, due_in(*position, state.currency)};
    }
    Decimal amount = zero_amount(*currency);
    for (const PositionPayout& payout : position->payouts) {
        if (payout.standing && payout.currency == *currency) {
            amount = amount + payout.commission;
        }
    }
    return {*currency, amount};
}

LineAmounts take_of(const Position& position, Currency currency, const LineAmounts* as_of) {
    LineAmounts now;
    for (const LineDue& due : position.dues) {
        if (due.currency == currency) {
            now.emplace(due.line, due.due);
        }
    }
    LineAmounts found = as_of != nullptr && sum_of(*as_of) < sum_of(now) ? *as_of : now;
    for (const LineDue& due : position.dues) {
        if (due.currency == currency) {
            Decimal& amount = found.try_emplace(due.line, zero_amount(currency)).first->second;
            amount = amount - due.taken;
        }
    }
    if (sum_of(found).is_zero()) {
        return {};
    }
    std::erase_if(found, [](const auto& item) { return item.second.is_zero(); });
    return found;
}

Timestamp next_instant(Timestamp at) noexcept {
    return at.nanos + 1 == kNanosPerSecond ? Timestamp{at.seconds + 1, 0}
                                           : Timestamp{at.seconds, at.nanos + 1};
}

LineAmounts due_as_of(const std::vector<JournalGroup>& journal, const Position& position,
                      Currency currency, Timestamp until) {
    LineAmounts due;
    for (const JournalGroup& group : journal) {
        if (group.accounting_date > until || group.program != position.attribution.program ||
            group.creator != position.attribution.creator) {
            continue;
        }
        for (const JournalEntry& entry : group.entries) {
            if (!is_mark(entry.reason) && entry.currency == currency) {
                Decimal& sum = due.try_emplace(entry.line, zero_amount(currency)).first->second;
                sum = sum + into(entry, Book::kOwed);
            }
        }
    }
    return due;
}

}  // namespace sluice
