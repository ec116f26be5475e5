// Cause found: one cause with its values. See cause.hpp.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "core/values/money.hpp"
#include "core/values/timestamp.hpp"

namespace sluice {

/// The first one that holds is the cause.
enum class Cause : std::uint8_t {
    // No order answers.
    kBehind,      ///< Inputs wait, so it may have arrived.
    kShopSilent,  ///< Its shop sends nothing for longer than usual.
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

struct CauseFound {
    Cause cause = Cause::kNotArrived;
    std::optional<Timestamp> at{};         ///< When what the cause names happened, or happens.
    std::optional<std::string> code{};     ///< Hers.
    std::optional<std::string> program{};  ///< The program of her code or click.
    std::optional<std::int64_t> days{};    ///< Her click was this many days before the order.
    std::optional<std::int64_t> window{};  ///< Days in which a click counts.
    std::optional<Money> commission{};     ///< Hers.
};

}  // namespace sluice
