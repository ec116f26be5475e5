// Link result: the outcome of a request for a link: $sluice_link, and a label of the metrics.
#pragma once

#include <cstddef>
#include <cstdint>

#include "core/values/name_table.hpp"

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

template <>
inline constexpr NameTable<LinkResult, kLinkResults> kNamesOf<LinkResult>{{
    {LinkResult::kClick, "click"},
    {LinkResult::kHead, "head"},
    {LinkResult::kStopped, "stopped"},
    {LinkResult::kEmbedded, "embedded"},
    {LinkResult::kSkipped, "skipped"},
    {LinkResult::kDropped, "dropped"},
    {LinkResult::kSpeculative, "speculative"},
    {LinkResult::kUnknown, "unknown"},
    {LinkResult::kMethod, "method"},
    {LinkResult::kUnavailable, "unavailable"},
}};

}  // namespace sluice
