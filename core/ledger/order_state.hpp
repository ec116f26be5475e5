// Order state: everything the ledger knows of one order, in one value.
//
// Plain values without behaviour; they own their bytes. Money that was sent is a Decimal with the
// scale that was sent; money that is owed is a Decimal with exactly the currency's minor digits.
#pragma once

#include <array>
#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/commands/program.hpp"
#include "core/protocol/signature.hpp"
#include "core/protocol/topic.hpp"
#include "core/values/currency.hpp"
#include "core/values/decimal.hpp"
#include "core/values/ids.hpp"
#include "core/values/timestamp.hpp"

namespace sluice {

struct OrderKey {
    AccountNumber account;
    ShopNumber shop;
    OrderId order_id;
    friend std::strong_ordering operator<=>(const OrderKey&, const OrderKey&) = default;
    friend bool operator==(const OrderKey&, const OrderKey&) = default;
};

/// What a rate was found by when it was frozen. `rule` is the index in that version's rules.
struct FrozenRate {
    Rate rate;
    BaseKind base = BaseKind::kNet;
    RuleMatch match = RuleMatch::kDefault;
    std::uint32_t program_version = 0;
    std::uint32_t rule = 0;  ///< Meaningless for kDefault and when rate.kind is kNone.
    friend bool operator==(const FrozenRate&, const FrozenRate&) = default;
};

/// A line of the newest payload, or (present = false) one that was attributed and is gone.
struct OrderLine {
    LineItemId id;
    Sku sku;
    std::optional<VariantSku> variant_sku;
    Decimal amount;
    Decimal tax;
    std::uint32_t quantity = 1;
    bool present = true;
    std::optional<FrozenRate> frozen;  ///< Set once the order is attributed.
    Decimal commission;                ///< As posted, in the order's currency.
};

/// The last statement made under one refund id. One row per id, for ever.
struct RefundRow {
    RefundLineItemId id;
    LineItemId line;
    Timestamp version;         ///< Of the event that stated it.
    std::uint64_t stated = 0;  ///< Order of arrival among the order's statements; breaks ties.
    Timestamp refunded_at;
    Decimal amount;
    Decimal tax;
    std::uint32_t quantity = 0;
};

enum class EventDecision : std::uint8_t { kApplied = 1, kStale = 2 };

/// First half of the SHA-256 of a raw body. With the topic it recognises a duplicate.
using EventDigest = std::array<std::uint8_t, 16>;

/// An event of an order that was not a duplicate, as `sluice explain` shows it.
struct EventTrace {
    SequenceNumber seq;
    Topic topic = Topic::kOrderCreate;
    EventDecision decision = EventDecision::kApplied;
    EventDigest digest{};
    Timestamp version;
    Timestamp received_at;
    bool cancelled = false;         ///< The payload had platform_cancelled_at.
    std::uint16_t anomalies = 0;    ///< Bits 1 << AnomalyKind that it showed.
    std::uint64_t first_entry = 0;  ///< Its journal group; 0: it changed no commission.
};

enum class CandidateVerdict : std::uint8_t {
    kWon = 1,
    kSameCreator = 2,      ///< Points to the winner too.
    kLaterCode = 3,        ///< An earlier code of the order won.
    kLowerPrecedence = 4,  ///< The program's precedence puts the other type first.
    kTouchBelowCode = 5,   ///< Between programs a code beats a touch.
    kOlderTouch = 6,       ///< Another program's touch is later.
    kHigherProgramId = 7,  ///< A tie: the lower program id won.
};

/// A candidate for an order at the moment it was attributed.
struct Candidate {
    AttributionType type = AttributionType::kAffiliateCode;
    ProgramId program;
    CreatorId creator;
    std::uint32_t code = 0;  ///< kAffiliateCode: index in the order's codes.
    Timestamp touched_at;    ///< kLanded.
    CandidateVerdict verdict = CandidateVerdict::kWon;
};

struct Attribution {
    ProgramId program;
    CreatorId creator;
    std::uint8_t types = 0;  ///< Bits of AttributionType that pointed to the creator.
    SequenceNumber cause;    ///< The input that attributed: an event, or an import.
    Topic cause_topic = Topic::kOrderCreate;
    Timestamp at;                       ///< Time of receipt of that input.
    std::vector<Candidate> candidates;  ///< At most kCandidatesMax are kept, the winner first.
};
inline constexpr std::size_t kCandidatesMax = 16;

/// What an order owes in one currency. Open = due - settled.
struct OrderDue {
    Currency currency;
    Decimal due;      ///< Sum of the order's journal.
    Decimal manual;   ///< Part of it that was entered by hand.
    Decimal settled;  ///< Paid out so far, later adjustments included.
};

/// The value at which an order's commission was first paid; it never changes afterwards.
struct OrderPaid {
    Currency currency;
    Decimal amount;
    std::string payout_id;
};

/// One value per order.
struct OrderState {
    OrderKey key;
    Timestamp version;
    Timestamp ordered_at;
    std::optional<Timestamp> cancelled_at;
    Currency currency;
    std::string amount, tax, shipping;  ///< As sent.
    std::vector<std::string> codes;     ///< Discount codes as sent, in their order.
    std::optional<Digest256> anon;      ///< SHA-256 of the anonymous id.
    std::vector<OrderLine> lines;       ///< The payload's order; lines that are gone follow.
    std::vector<RefundRow> refunds;
    std::uint64_t statements_count = 0;  ///< Refund statements so far.
    std::optional<Attribution> attribution;
    std::vector<OrderDue> dues;
    std::optional<OrderPaid> paid;
    SequenceNumber last_applied;     ///< The newest event that was neither stale nor duplicate.
    std::vector<EventTrace> events;  ///< The first kEventsInlineMax; later ones are rows.
    std::uint64_t events_count = 0;  ///< All that were not duplicates.
    std::uint64_t duplicates_count = 0;
    /// Journal groups of imports and people (events have theirs in EventTrace), by first entry.
    std::vector<std::uint64_t> other_groups;
};
/// Bounds the order's value: a hot order's later events are rows of their own.
inline constexpr std::size_t kEventsInlineMax = 64;

}  // namespace sluice
