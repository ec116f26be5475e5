#include "core/rules/soundness.hpp"

#include <set>

#include "core/ledger/row_name.hpp"
#include "core/ledger/valid.hpp"
#include "core/rules/commission.hpp"

namespace sluice {
namespace {

/// What the wire can state: 15 digits before the point and 6 behind it.
bool is_stated(const Decimal& amount) noexcept {
    return !amount.is_negative() && amount.scale() <= Decimal::kFractionDigitsMax &&
           amount < Decimal(Int128{1'000'000'000'000'000}, 0);
}

/// An amount that is owed has exactly its currency's digits. 18 digits before the point are more
/// than any quantity of any line can earn.
bool is_owed(const Decimal& amount, Currency currency) noexcept {
    const Decimal most(Int128{1'000'000'000} * 1'000'000'000'000'000, 0);
    return amount.scale() == currency.minor_units() && amount < most && Decimal() - most < amount;
}

std::string of_line(const OrderLine& line, const char* what) {
    return "line " + line.id.str() + " " + what;
}

std::optional<std::string> damage_of_line(const OrderState& state, const OrderLine& line) {
    if (!is_stated(line.amount) || !is_stated(line.tax)) {
        return of_line(line, "has an amount or a tax that no payload can state");
    }
    if (!line.frozen) {
        return state.attribution && line.present
                   ? std::optional(of_line(line, "has no rate, though the order is attributed"))
                   : std::nullopt;
    }
    if (!state.attribution) {
        return of_line(line, "has a rate, though the order is not attributed");
    }
    if (line.frozen->rate.value.is_negative() || !is_stated(line.frozen->rate.value)) {
        return of_line(line, "has a rate that no program can state");
    }
    if (!is_owed(line.commission, state.currency)) {
        return of_line(line, "has a commission that is no amount of its currency");
    }
    return std::nullopt;
}

std::optional<std::string> damage_of_dues(const OrderState& state) {
    Decimal earned = zero_amount(state.currency);
    for (const OrderLine& line : state.lines) {
        earned = earned + line.commission;
    }
    std::set<Currency> seen;
    for (const OrderDue& due : state.dues) {
        const std::string code(due.currency.code());
        if (!seen.insert(due.currency).second) {
            return "it owes twice in " + code;
        }
        if (!is_owed(due.due, due.currency) || !is_owed(due.manual, due.currency) ||
            !is_owed(due.settled, due.currency)) {
            return "what it owes is no amount of " + code;
        }
        const Decimal lines = due.currency == state.currency ? earned : zero_amount(due.currency);
        if (due.due != due.manual + lines) {
            return "it owes " + due.due.to_string() + " " + code +
                   ", its lines and manual entries say " + (due.manual + lines).to_string();
        }
    }
    if (!earned.is_zero() && seen.count(state.currency) == 0) {
        return "its lines earn " + earned.to_string() + ", but it owes nothing in " +
               std::string(state.currency.code());
    }
    return std::nullopt;
}

std::optional<std::string> damage_of_refunds(const OrderState& state) {
    for (const RefundRow& refund : state.refunds) {
        if (!is_stated(refund.amount) || !is_stated(refund.tax)) {
            return "refund " + refund.id.str() + " has an amount that no payload can state";
        }
    }
    return std::nullopt;
}

std::optional<std::string> damage_of_times(const OrderState& state) {
    bool valid = is_valid(state.version) && is_valid(state.ordered_at) &&
                 (!state.cancelled_at || is_valid(*state.cancelled_at)) &&
                 (!state.attribution || is_valid(state.attribution->at));
    for (const RefundRow& refund : state.refunds) {
        valid = valid && is_valid(refund.version) && is_valid(refund.refunded_at);
    }
    for (const EventTrace& event : state.events) {
        valid = valid && is_valid(event.version) && is_valid(event.received_at);
    }
    return valid ? std::nullopt : std::optional<std::string>("one of its times is out of range");
}

std::optional<std::string> damage_of_history(const OrderState& state) {
    if (state.events.size() > kEventsInlineMax || state.events_count < state.events.size()) {
        return "it counts " + std::to_string(state.events_count) + " events and holds " +
               std::to_string(state.events.size());
    }
    const bool owes = !state.dues.empty() || state.paid;
    return owes && !state.attribution
               ? std::optional<std::string>("it owes something, though it is not attributed")
               : std::nullopt;
}

}  // namespace

std::optional<std::string> damage_of(const OrderState& state) {
    if (!Currency::parse(state.currency.code())) {
        return "it has no currency";
    }
    for (const OrderLine& line : state.lines) {
        if (auto damage = damage_of_line(state, line)) {
            return damage;
        }
    }
    for (const auto& check :
         {damage_of_times, damage_of_refunds, damage_of_history, damage_of_dues}) {
        if (auto damage = check(state)) {
            return damage;
        }
    }
    return std::nullopt;
}

bool load_sound_order(LedgerReader& ledger, const OrderKey& key, OrderState& state) {
    if (!ledger.load_order(key, state)) {
        return false;
    }
    if (const std::optional<std::string> damage = damage_of(state)) {
        throw DamagedRow(row_name("orders", key), *damage, key);
    }
    return true;
}

}  // namespace sluice
