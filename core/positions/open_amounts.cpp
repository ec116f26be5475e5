#include "core/positions/open_amounts.hpp"

#include <algorithm>

#include "core/commands/ids.hpp"
#include "core/journal/journal.hpp"
#include "core/ledger/failure.hpp"
#include "core/ledger/table.hpp"
#include "core/values/hour_sums.hpp"
#include "core/values/money.hpp"

namespace sluice {
namespace {

Decimal sum_in(const Position& position, Currency currency, Decimal LineAccrual::*amount) {
    Decimal sum = zero_amount(currency);
    for (const LineAccrual& accrual : position.accruals) {
        sum = accrual.currency == currency ? sum + accrual.*amount : sum;
    }
    return sum;
}

/// Returns the value of OpenAmount::blocks: kBlockedByHold, unacknowledged anomalies.
std::uint32_t blocks_of(const OrderState& state) noexcept {
    return (state.anomalies_showing & ~state.anomalies_acknowledged) |
           (state.has(kOrderHeld) ? kBlockedByHold : 0);
}

}  // namespace

Decimal accrued_in(const Position& position, Currency currency) {
    return sum_in(position, currency, &LineAccrual::accrued);
}

Decimal allocated_in(const Position& position, Currency currency) {
    return sum_in(position, currency, &LineAccrual::allocated);
}

std::vector<Currency> currencies_of(const Position& position) {
    std::vector<Currency> currencies;
    for (const LineAccrual& accrual : position.accruals) {
        if (std::ranges::find(currencies, accrual.currency) == currencies.end()) {
            currencies.push_back(accrual.currency);
        }
    }
    std::ranges::sort(currencies);
    return currencies;
}

bool has_active_payout(const Position& position) noexcept {
    return std::ranges::any_of(position.payouts,
                               [](const PositionPayout& payout) { return payout.active; });
}

bool is_in_another_run(const Position& position, std::string_view run) noexcept {
    return std::ranges::any_of(position.payouts, [run](const PositionPayout& payout) {
        return payout.active && payout.has_commission && !is_of_payout_run(payout.payout_id, run);
    });
}

bool is_open_above_zero(const Position& position, Currency currency) {
    return accrued_in(position, currency) > allocated_in(position, currency);
}

std::optional<Money> open_after_deduction(const OrderState& state) {
    for (const Position& position : state.positions) {
        for (const Currency currency : currencies_of(position)) {
            const bool deducts =
                std::ranges::any_of(position.payouts, [currency](const PositionPayout& payout) {
                    return is_deduction(payout) && payout.currency == currency;
                });
            if (deducts && is_open_above_zero(position, currency)) {
                return Money{currency,
                             accrued_in(position, currency) - allocated_in(position, currency)};
            }
        }
    }
    return std::nullopt;
}

bool is_same_row(const OpenAmount& a, const OpenAmount& b) noexcept {
    return a.cleared == b.cleared && a.sold_at == b.sold_at && a.currency == b.currency &&
           a.program == b.program && a.creator == b.creator;
}

OpenAmount open_row(const OrderState& state, const Position& position, Currency currency,
                    const Decimal& amount) {
    return {state.key.account,
            position.attribution.program,
            has_active_payout(position),
            state.ordered_at,
            state.key.shop,
            state.key.order_id,
            position.attribution.creator,
            currency,
            amount,
            position.last_posted,
            blocks_of(state)};
}

OpenAmount open_row(const MoneyCommand& credit, const Decimal& amount) {
    return {credit.account,
            credit.program,
            credit.active_items != 0,
            credit.sale_at,
            ShopNumber{},
            OrderId(credit.command_id),
            credit.creator,
            credit.currency,
            amount,
            credit.last_posted,
            credit.topic == Topic::kWriteOff ? kOfWriteOff : 0};
}

OpenHours open_hours(const OpenAmount& row, int sign) {
    const Decimal amount = zero_amount(row.currency) + row.amount;
    if (amount.scale() != row.currency.minor_units()) {
        throw DamagedRow(row_name(row), "amount: it has more digits than its currency",
                         order_of(row));
    }
    const std::uint32_t cleared = row.cleared ? kOpenCleared : 0;
    OpenHours sum{.account = row.account,
                  .program = row.program,
                  .kind = cleared | (amount.is_negative() ? kOpenBelow : row.blocks),
                  .span = span_of(row.sold_at),
                  .creator = row.creator,
                  .currency = row.currency};
    append_hour(sum.hours, {hour_in_span(row.sold_at), sign, sign * amount.unscaled()});
    return sum;
}

std::vector<OpenAmount> open_amounts(const OrderState& state) {
    std::vector<OpenAmount> rows;
    for (const Position& position : state.positions) {
        for (const Currency currency : currencies_of(position)) {
            const Decimal open = accrued_in(position, currency) - allocated_in(position, currency);
            if (!open.is_zero()) {
                rows.push_back(open_row(state, position, currency, open));
            }
        }
    }
    return rows;
}

std::vector<OpenAmount> open_amounts(const MoneyCommand& credit) {
    const Decimal open = credit.accrued - credit.allocated;
    return open.is_zero() ? std::vector<OpenAmount>{}
                          : std::vector<OpenAmount>{open_row(credit, open)};
}

Money commission_amount(const OrderState& state) {
    const Position* position = state.position();
    if (position == nullptr) {
        return {state.currency, zero_amount(state.currency)};
    }
    std::optional<Currency> currency;
    for (const PositionPayout& payout : position->payouts) {
        if (payout.active && payout.has_commission &&
            (!currency || payout.currency == state.currency)) {
            currency = payout.currency;
        }
    }
    if (!currency) {
        return {state.currency, accrued_in(*position, state.currency)};
    }
    Decimal amount = zero_amount(*currency);
    for (const PositionPayout& payout : position->payouts) {
        if (payout.active && payout.currency == *currency) {
            amount += payout.commission;
        }
    }
    return {*currency, amount};
}

Decimal sum_of(const LineAmounts& amounts, Currency currency) {
    Decimal sum = zero_amount(currency);
    for (const auto& [line, amount] : amounts) {
        sum += amount;
    }
    return sum;
}

LineAmounts payable_by_line(const Position& position, Currency currency,
                            const LineAmounts* before) {
    LineAmounts now;
    for (const LineAccrual& accrual : position.accruals) {
        if (accrual.currency == currency) {
            now.emplace(accrual.line, accrual.accrued);
        }
    }
    const bool was_less = before != nullptr && sum_of(*before, currency) < sum_of(now, currency);
    LineAmounts found = was_less ? *before : now;
    for (const LineAccrual& accrual : position.accruals) {
        if (accrual.currency == currency) {
            add_to(found, accrual.line, {currency, -accrual.allocated});
        }
    }
    if (sum_of(found, currency).is_zero()) {
        return {};
    }
    std::erase_if(found, [](const auto& item) { return item.second.is_zero(); });
    return found;
}

LineAmounts accrued_as_of(const std::vector<JournalGroup>& journal, const Position& position,
                          Currency currency, Timestamp until) {
    LineAmounts accrued;
    for (const JournalGroup& group : journal) {
        if (group.accounting_date >= until || group.program != position.attribution.program ||
            group.creator != position.attribution.creator) {
            continue;
        }
        for (const JournalEntry& entry : group.entries) {
            if (!is_memo(entry.reason) && entry.currency == currency) {
                add_to(accrued, entry.line, {currency, change_in(entry, LedgerAccount::kOwed)});
            }
        }
    }
    return accrued;
}

}  // namespace sluice
