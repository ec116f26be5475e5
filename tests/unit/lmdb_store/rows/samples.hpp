// Rows for the tests of the embedded ledger: made from a seed, so that a failure can be repeated.
#pragma once

#include <random>
#include <string>

#include "core/ledger/ledger.hpp"

namespace sluice::store {

inline Currency currency_of(const char* code) {
    return *Currency::parse(code);
}

/// Orders with something in every field that can hold something, and the fields of other rows.
class OrderSamples {
public:
    explicit OrderSamples(std::uint64_t seed) : random_(seed) {}

    std::uint64_t number(std::uint64_t below) { return random_() % below; }
    bool chance() { return number(2) == 0; }
    /// As many bytes as chance wants: most numbers of a uniform choice have all of them.
    std::uint64_t any_number() { return random_() >> number(64); }

    std::string text(std::size_t bytes_max) {
        std::string made(1 + number(bytes_max), 'a');
        for (char& byte : made) {
            byte = static_cast<char>(1 + number(255));
        }
        return made;
    }
    /// Sometimes beyond 64 bits; every digit that a valid amount may have.
    Decimal decimal() {
        Int128 value = static_cast<Int128>(any_number());
        if (number(4) == 0) {
            value *= static_cast<Int128>(random_() % 100'000);
        }
        return {chance() ? value : -value, static_cast<std::uint8_t>(number(13))};
    }
    /// Returns a rate as a program file can state it.
    Decimal rate() {
        return {static_cast<Int128>(number(1'000'000'000'000)),
                static_cast<std::uint8_t>(number(7))};
    }
    Timestamp instant() {
        return {static_cast<std::int64_t>(number(4'000'000'000)) - 2'000'000'000,
                chance() ? static_cast<std::uint32_t>(number(1'000'000'000)) : 0U};
    }
    Digest256 digest() {
        Digest256 made;
        for (auto& byte : made) {
            byte = static_cast<std::uint8_t>(number(256));
        }
        return made;
    }
    Currency currency() { return currency_of(chance() ? "USD" : "KWD"); }
    Money money() { return {currency(), decimal()}; }

    OrderLine line() {
        OrderLine made;
        made.id = LineItemId(text(chance() ? 12 : 1024));
        made.sku = Sku(text(30));
        if (chance()) {
            made.variant_sku = VariantSku(text(30));
        }
        made.amount = decimal();
        made.tax = decimal();
        made.quantity = static_cast<std::uint32_t>(number(1'000'000'000));
        made.present = chance();
        return made;
    }
    RefundRow refund() {
        return {RefundLineItemId(text(40)),
                LineItemId(text(40)),
                instant(),
                any_number(),
                instant(),
                decimal(),
                decimal(),
                7};
    }
    EventTrace event() {
        EventTrace made;
        made.seq = {any_number()};
        made.topic = Topic::kOrderCancel;
        made.decision = EventDecision::kStale;
        made.digest.fill(static_cast<std::uint8_t>(1 + number(255)));
        made.version = instant();
        made.received_at = instant();
        made.cancelled = chance();
        made.anomalies = static_cast<std::uint32_t>(any_number());
        made.first_entry = any_number();
        made.node = static_cast<std::uint32_t>(any_number());
        made.source = static_cast<EventSource>(number(4));
        return made;
    }
    Attribution attribution() {
        Attribution made;
        made.program = ProgramId(text(128));
        made.creator = CreatorId(text(128));
        made.types = 3;
        made.cause = {any_number()};
        made.command_id = chance() ? "" : text(20);
        made.cause_topic = Topic::kClickImport;
        made.at = instant();
        for (std::uint64_t i = number(kCandidatesMax); i > 0; --i) {
            const bool own = chance();
            made.candidates.push_back({AttributionType::kLanded,
                                       own ? made.program : ProgramId(text(128)),
                                       own ? made.creator : CreatorId(text(128)), text(20),
                                       instant(), CandidateVerdict::kOlderClick});
        }
        return made;
    }
    FrozenRate frozen_rate(std::uint64_t lines) {
        FrozenRate rate;
        rate.rate = {RateKind::kFixed, this->rate(), currency()};
        rate.base = BaseKind::kGross;
        rate.match = static_cast<RuleMatch>(1 + number(8));
        rate.program_version = static_cast<std::uint32_t>(number(100));
        rate.rule = static_cast<std::uint32_t>(number(100));
        if (chance()) {
            rate.tier = static_cast<std::uint8_t>(number(256));
        }
        rate.shared_with = static_cast<std::uint32_t>(number(lines));
        return rate;
    }
    /// Returns a position with lines of the order and of others.
    Position position(const OrderState& order) {
        Position made;
        made.attribution = attribution();
        if (chance()) {
            made.facts.volume = money();
        }
        made.facts.customer = static_cast<CustomerKind>(number(3));
        made.facts.group = chance() ? "" : text(20);
        for (std::uint64_t i = number(3); i > 0; --i) {
            made.facts.caps.push_back(money());
        }
        const auto id = [&](std::size_t at) {
            return at < order.lines.size() ? order.lines[at].id : LineItemId(text(30));
        };
        const std::size_t lines = order.lines.size() + number(3);
        for (std::size_t i = 0; i < lines; ++i) {
            const bool again = i > 0 && chance();
            made.frozen.push_back({id(chance() ? i : number(lines)),
                                   again ? made.frozen[number(i)].rate : frozen_rate(lines)});
            made.accruals.push_back({id(i), currency(), decimal(), decimal(), any_number()});
        }
        made.accruals.push_back({LineItemId(), currency(), decimal(), decimal(), any_number()});
        for (std::uint64_t i = number(3); i > 0; --i) {
            made.payouts.push_back(
                {text(30), currency(), decimal(), decimal(), chance(), chance()});
        }
        made.last_posted = instant();
        return made;
    }

    OrderState order(const OrderKey& key) {
        OrderState made;
        made.key = key;
        made.version = instant();
        made.ordered_at = instant();
        made.currency = currency();
        made.amount = "100000000000000.000001";
        made.tax = "0";
        made.shipping = "1.50";
        for (std::uint64_t i = number(4); i > 0; --i) {
            made.codes.push_back(text(20));
            made.numbers.push_back(text(20));
        }
        if (chance()) {
            made.cancelled_at = instant();
            made.device = digest();
            made.device_version = instant();
        }
        if (chance()) {
            made.customer = digest();
            made.plausible_version = instant();
        }
        for (std::uint64_t i = 1 + number(30); i > 0; --i) {
            made.lines.push_back(line());
        }
        for (std::uint64_t i = number(5); i > 0; --i) {
            made.refunds.push_back(refund());
            made.refunds.back().line = made.lines[number(made.lines.size())].id;
        }
        made.statements_count = any_number();
        made.flags = static_cast<std::uint8_t>(number(8));
        made.anomalies_showing = static_cast<std::uint32_t>(any_number());
        made.anomalies_acknowledged = static_cast<std::uint32_t>(any_number());
        for (std::uint64_t i = number(3); i > 0; --i) {
            made.positions.push_back(position(made));
        }
        if (!made.positions.empty()) {
            made.live = static_cast<std::uint32_t>(number(made.positions.size()));
        }
        made.last_applied = {any_number()};
        made.last_node = static_cast<std::uint32_t>(any_number());
        for (std::uint64_t i = number(5); i > 0; --i) {
            made.events.push_back(event());
        }
        made.events_count = any_number();
        made.duplicates_count = any_number();
        for (std::uint64_t i = number(3); i > 0; --i) {
            made.other_groups.push_back(any_number());
        }
        made.changes_count = any_number();
        return made;
    }

private:
    std::mt19937_64 random_;
};

}  // namespace sluice::store
