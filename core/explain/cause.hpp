// Causes: why an order is, or is not, a creator's. One enum, from which the creator's page has its
// sentences (docs/creators.md).
//
// A cause has no member for another creator's id, code or amount.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/ledger/ledger.hpp"
#include "core/ledger/order_state.hpp"
#include "core/values/money.hpp"

namespace sluice {

/// The first one that holds is the cause.
enum class Cause : std::uint8_t {
    kNotArrived,
    // The order is hers, or was.
    kTakenBack,
    kCancelled,
    kRefunded,
    kEarnsNothing,
    kChecked,
    kPending,
    kReady,
    kOnItsWay,
    kPaid,
    // Another creator has it, although one of her codes or clicks would have counted alone.
    kOtherCode,
    kOtherClick,
    kOtherType,
    kOtherProgram,
    kOtherEarlier,
    // No creator has it.
    kNotCounted,
    kCancelledBefore,
    kWaiting,
    // Her codes and clicks do not count.
    kCodeNotYet,
    kCodeEnded,
    kClickAfter,
    kClickOld,
    kClickUntimely,
    kNotMember,
    kMemberLater,
    kProgramLater,
    kProgramEnded,
    kBeforeOpening,
    kNotCovered,
    kCodesOnly,
    kLinksOnly,
    kNoDevice,
    kNoTrace,
};
[[nodiscard]] std::string_view to_string(Cause cause) noexcept;  // NOT_ARRIVED, ...
/// Returns all of them, in the order above.
[[nodiscard]] const std::vector<Cause>& all_causes();

struct CauseFound {
    Cause cause = Cause::kNotArrived;
    std::optional<Timestamp> at;         ///< When what the cause names happened, or happens.
    std::optional<std::string> code;     ///< Hers.
    std::optional<std::string> program;  ///< The program of her code or click.
    std::optional<std::int64_t> days;    ///< Her click was this many days before the order.
    std::optional<std::int64_t> window;  ///< Days in which a click counts.
    std::optional<Money> commission;     ///< Hers.
};

/// Returns why an order is, or is not, the creator's.
[[nodiscard]] CauseFound find_cause(LedgerReader& ledger, const OrderState& order,
                                    const CreatorId& creator, Timestamp now);

/// Returns whether a position of the order is or was the creator's.
[[nodiscard]] bool was_of(const OrderState& order, const CreatorId& creator);
/// Returns whether the order has a code that was the creator's at the time of the order, or that
/// was no creator's then and the creator's before or after.
[[nodiscard]] bool has_code_of(LedgerReader& ledger, const OrderState& order,
                               const CreatorId& creator);

}  // namespace sluice
