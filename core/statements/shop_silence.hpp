// Shop silence: whether a shop sends nothing for longer than it usually does at this time of day.
// No clock: the limit depends on the shop's events alone.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "core/values/ids.hpp"
#include "core/values/timestamp.hpp"

namespace sluice {

enum class ShopSilence : std::uint8_t {
    kLearning,  ///< Too few events to say what is usual.
    kHeard,     ///< No longer without an event than the limit.
    kSilent,
};

[[nodiscard]] std::string_view to_string(ShopSilence verdict) noexcept;  // learning, heard, silent

/// Returns how long the shop usually is without an event after a time of day such as the last
/// event's, or nullopt while that is not known: the events have fewer than 50 minutes, 14 days, or
/// two weeks with a gap.
///
/// The longest gap that began in the last event's UTC hour or a neighbour of it is taken from each
/// of the four weeks before the last event. The second largest of them is usual, so that one outage
/// does not hide the next. A week without a gap at these hours counts with its longest of all.
///
/// @param minutes  Minutes since 1970 in which an event came, duplicates included: ascending, each
///                 once. The last one is the last event's.
[[nodiscard]] std::optional<std::chrono::minutes> usual_gap(std::span<const std::int64_t> minutes);

/// Returns twice the usual gap, and at least 15 minutes.
[[nodiscard]] std::chrono::minutes silence_limit(std::chrono::minutes usual) noexcept;

/// @param usual  As usual_gap() returns it.
[[nodiscard]] ShopSilence shop_silence(Timestamp last_event,
                                       std::optional<std::chrono::minutes> usual, Timestamp now);

/// Returns a sentence like "shop-1: nothing for 3 h 10 min; at this time 1 h is usual." for a
/// silent shop, or "shop-1: heard 20 min ago; at this time 1 h is usual."
[[nodiscard]] std::string silence_sentence(const ShopId& shop, Timestamp last_event,
                                           std::optional<std::chrono::minutes> usual,
                                           Timestamp now);

}  // namespace sluice
