// Rows for the tests of the embedded ledger: made from a seed, so that a failure can be repeated.
#pragma once

#include <random>
#include <string>

#include "core/ledger/ledger.hpp"

namespace sluice::store {

inline Currency currency_of(const char* code) {
    return *Currency::parse(code);
}

/// An order with something in every field that can hold something.
class OrderSamples {
public:
    explicit OrderSamples(std::uint64_t seed) : random_(seed) {}

    std::uint64_t number(std::uint64_t below) { return random_() % below; }
    bool chance() { return number(2) == 0; }

    std::string text(std::size_t bytes_max) {
        std::string made(1 + number(bytes_max), 'a');
        for (char& byte : made) {
            byte = static_cast<char>(1 + number(255));
        }
        return made;
    }
    Decimal decimal() {
        Int128 value = static_cast<Int128>(random_());
        if (number(4) == 0) {
            value *= static_cast<Int128>(random_() % 100'000);  // beyond 64 bits
        }
        return {chance() ? value : -value, static_cast<std::uint8_t>(number(7))};
    }
    /// What a program file can state.
    Decimal rate() {
        return {static_cast<Int128>(number(1'000'000'000'000)),
                static_cast<std::uint8_t>(number(7))};
    }
    Timestamp instant() {
        return {static_cast<std::int64_t>(number(4'000'000'000)) - 2'000'000'000,
                static_cast<std::uint32_t>(number(1'000'000'000))};
    }
    Digest256 digest() {
        Digest256 made;
        for (auto& byte : made) {
            byte = static_cast<std::uint8_t>(number(256));
        }
        return made;
    }
    Currency currency() { return currency_of(chance() ? "USD" : "KWD"); }

    OrderLine line() {
        OrderLine made;
        made.id = LineItemId(text(chance() ? 12 : 1024));
        made.sku = Sku(text(30));
        if (chance()) {
            made.variant_sku = VariantSku(text(30));
        }
        made.amount = decimal();
        made.tax = decimal();
        made.commission = decimal();
        made.quantity = static_cast<std::uint32_t>(number(1'000'000'000));
        made.present = chance();
        if (chance()) {
            FrozenRate& rate = made.frozen.emplace();
            rate.rate = {RateKind::kFixed, this->rate(), currency()};
            rate.base = BaseKind::kGross;
            rate.match = static_cast<RuleMatch>(1 + number(7));
            rate.program_version = static_cast<std::uint32_t>(number(100));
            rate.rule = static_cast<std::uint32_t>(number(100));
        }
        return made;
    }
    RefundRow refund() {
        return {RefundLineItemId(text(40)),
                LineItemId(text(40)),
                instant(),
                number(1000),
                instant(),
                decimal(),
                decimal(),
                7};
    }
    EventTrace event() {
        EventTrace made;
        made.seq = {random_()};
        made.topic = Topic::kOrderCancel;
        made.decision = EventDecision::kStale;
        made.digest.fill(static_cast<std::uint8_t>(number(256)));
        made.version = instant();
        made.received_at = instant();
        made.cancelled = chance();
        made.anomalies = static_cast<std::uint16_t>(number(65'536));
        made.first_entry = random_();
        return made;
    }
    Attribution attribution() {
        Attribution made;
        made.program = ProgramId(text(128));
        made.creator = CreatorId(text(128));
        made.types = 3;
        made.cause = {random_()};
        made.cause_topic = Topic::kTouchImport;
        made.at = instant();
        for (std::uint64_t i = number(kCandidatesMax); i > 0; --i) {
            made.candidates.push_back({AttributionType::kLanded, ProgramId(text(128)),
                                       CreatorId(text(128)), 3, instant(),
                                       CandidateVerdict::kOlderTouch});
        }
        return made;
    }

    OrderState order(const OrderKey& key) {
        OrderState made;
        made.key = key;
        made.version = instant();
        made.ordered_at = instant();
        if (chance()) {
            made.cancelled_at = instant();
        }
        made.currency = currency();
        made.amount = "100000000000000.000001";
        made.tax = "0";
        made.shipping = "1.50";
        for (std::uint64_t i = number(4); i > 0; --i) {
            made.codes.push_back(text(20));
        }
        if (chance()) {
            made.anon = digest();
        }
        for (std::uint64_t i = 1 + number(20); i > 0; --i) {
            made.lines.push_back(line());
        }
        for (std::uint64_t i = number(5); i > 0; --i) {
            made.refunds.push_back(refund());
        }
        made.statements_count = random_();
        if (chance()) {
            made.attribution = attribution();
        }
        for (std::uint64_t i = number(3); i > 0; --i) {
            made.dues.push_back({currency(), decimal(), decimal(), decimal()});
        }
        if (chance()) {
            made.paid = OrderPaid{currency(), decimal(), "17-2"};
        }
        made.last_applied = {random_()};
        for (std::uint64_t i = number(5); i > 0; --i) {
            made.events.push_back(event());
        }
        made.events_count = random_();
        made.duplicates_count = random_();
        for (std::uint64_t i = number(3); i > 0; --i) {
            made.other_groups.push_back(random_());
        }
        return made;
    }

private:
    std::mt19937_64 random_;
};

}  // namespace sluice::store
