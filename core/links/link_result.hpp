// Link result: the outcome of a request for a link: $sluice_link, and a label of the metrics.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace sluice {

/// Values are indexes of counters.
enum class LinkResult : std::uint8_t {
    kClick,        ///< It counts.
    kHead,         ///< HEAD.
    kStopped,      ///< `sluice link stop`.
    kEmbedded,     ///< Part of a page: an image, a frame.
    kSkipped,      ///< sluice_link_skip.
    kDropped,      ///< It would count, and there was no room for it.
    kSpeculative,  ///< A browser that only guesses.
    kUnknown,      ///< No such link here.
    kMethod,       ///< Neither GET nor HEAD.
    kUnavailable,  ///< No links were read yet.
};
inline constexpr std::size_t kLinkResults = 10;

[[nodiscard]] constexpr std::string_view to_string(LinkResult result) noexcept {
    switch (result) {
        case LinkResult::kClick:
            return "click";
        case LinkResult::kHead:
            return "head";
        case LinkResult::kStopped:
            return "stopped";
        case LinkResult::kEmbedded:
            return "embedded";
        case LinkResult::kSkipped:
            return "skipped";
        case LinkResult::kDropped:
            return "dropped";
        case LinkResult::kSpeculative:
            return "speculative";
        case LinkResult::kUnknown:
            return "unknown";
        case LinkResult::kMethod:
            return "method";
        case LinkResult::kUnavailable:
            break;
    }
    return "unavailable";
}

}  // namespace sluice
