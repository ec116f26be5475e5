// Validity of stored values: bytes from a disk or a database may be anything.
#pragma once

#include "core/ledger/account_rows.hpp"
#include "core/ledger/head.hpp"
#include "core/ledger/link_rows.hpp"
#include "core/ledger/overview_rows.hpp"
#include "core/ledger/rows.hpp"

namespace sluice {

[[nodiscard]] constexpr bool is_valid(Topic topic) noexcept {
    return is_of_order(topic) || topic == Topic::kPrivacyRequest || is_catalog(topic) ||
           is_clicks(topic) || (is_command(topic) && topic <= Topic::kLinkSet);
}
[[nodiscard]] constexpr bool is_valid(EventSource source) noexcept {
    return source <= EventSource::kImport;
}
[[nodiscard]] constexpr bool is_valid(AnomalyKind kind) noexcept {
    return kind >= AnomalyKind::kVersionInFuture && kind <= AnomalyKind::kQuantityRounded;
}
[[nodiscard]] constexpr bool is_valid(AttentionKind kind) noexcept {
    return static_cast<std::size_t>(kind) < kAnomalyKinds;
}
[[nodiscard]] constexpr bool is_valid(ClickSource source) noexcept {
    return source >= ClickSource::kLink && source <= ClickSource::kImport;
}
[[nodiscard]] constexpr bool is_valid(LinkState state) noexcept {
    return state >= LinkState::kActive && state <= LinkState::kRemoved;
}
[[nodiscard]] constexpr bool is_valid(WaitKind kind) noexcept {
    return kind == WaitKind::kAnon || kind == WaitKind::kCode;
}
[[nodiscard]] constexpr bool is_valid(JournalReason reason) noexcept {
    return (reason >= JournalReason::kAccrual && reason <= JournalReason::kTier) ||
           (reason >= JournalReason::kMemoAttributed && reason <= JournalReason::kMemoDiscarded);
}
[[nodiscard]] constexpr bool is_valid(EventDecision decision) noexcept {
    return decision == EventDecision::kApplied || decision == EventDecision::kStale;
}
[[nodiscard]] constexpr bool is_valid(CandidateVerdict verdict) noexcept {
    return verdict >= CandidateVerdict::kWon && verdict <= CandidateVerdict::kHigherProgramId;
}
[[nodiscard]] constexpr bool is_valid(AttributionType type) noexcept {
    return type == AttributionType::kAffiliateCode || type == AttributionType::kLanded ||
           type == AttributionType::kManual;
}
[[nodiscard]] constexpr bool is_valid(BaseKind base) noexcept {
    return base == BaseKind::kNet || base == BaseKind::kGross;
}
[[nodiscard]] constexpr bool is_valid(RateKind kind) noexcept {
    return kind <= RateKind::kPerOrder;
}
[[nodiscard]] constexpr bool is_valid(RuleMatch match) noexcept {
    return match >= RuleMatch::kVariantSku && match <= RuleMatch::kSkuPattern;
}
[[nodiscard]] constexpr bool is_valid(CustomerKind kind) noexcept {
    return kind <= CustomerKind::kReturning;
}
[[nodiscard]] constexpr bool is_valid(PayoutState state) noexcept {
    return state >= PayoutState::kClosed && state <= PayoutState::kReturned;
}
[[nodiscard]] constexpr bool is_valid(LimitKind kind) noexcept {
    return kind >= LimitKind::kPayout && kind <= LimitKind::kAttribution;
}
[[nodiscard]] constexpr bool is_valid(ItemKind kind) noexcept {
    return kind >= ItemKind::kAdjustment && kind <= ItemKind::kManual;
}
[[nodiscard]] constexpr bool is_valid(SkipReason why) noexcept {
    return why >= SkipReason::kNotPositive && why <= SkipReason::kPayeeChanged;
}
[[nodiscard]] constexpr bool is_valid(CommandOutcome outcome) noexcept {
    return outcome >= CommandOutcome::kDone && outcome <= CommandOutcome::kPending;
}
[[nodiscard]] constexpr bool is_valid(ApprovalState state) noexcept {
    return state >= ApprovalState::kPending && state <= ApprovalState::kWithdrawn;
}
[[nodiscard]] constexpr bool is_valid(WorkKind kind) noexcept {
    return kind >= WorkKind::kTryKey && kind <= WorkKind::kTiers;
}
/// Returns true in the years 0000 to 9999, the range of RFC 3339, and for a day more on either
/// side, which an offset can produce.
[[nodiscard]] constexpr bool is_valid(const Timestamp& at) noexcept {
    return at.seconds >= kFirstInstant.seconds - kSecondsPerDay &&
           at.seconds < kEndOfTime.seconds + kSecondsPerDay && at.nanos < 1'000'000'000;
}
/// Returns true below 10^25, which exceeds every amount and sum of amounts that inputs can state
/// (the largest quantity at the highest fixed rate earns 10^24). Two such values can be added and
/// compared at any scale within 128 bits.
[[nodiscard]] constexpr bool is_valid(const Decimal& value) noexcept {
    if (value.scale() > Decimal::kScaleMax) {
        return false;
    }
    Int128 bound = Int128{10'000'000'000'000} * 1'000'000'000'000;
    for (std::uint8_t i = 0; i < value.scale(); ++i) {
        bound *= 10;
    }
    return -bound < value.unscaled() && value.unscaled() < bound;
}

/// Returns whether a program file can state the rate: not negative, at most 15 digits before the
/// point and 6 after it.
[[nodiscard]] inline bool is_valid(const Rate& rate) noexcept {
    return is_valid(rate.kind) && !rate.value.is_negative() &&
           rate.value.scale() <= Decimal::kFractionDigitsMax && rate.value < kAmountEnd;
}

}  // namespace sluice
