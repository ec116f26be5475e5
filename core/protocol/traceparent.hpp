// Trace context of a request: the header traceparent of W3C Trace Context. It is kept with the
// input, so that a support person finds the trace of an order. Pure and thread-safe.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include "core/values/parsed.hpp"

namespace sluice {

/// Trace id (16 bytes), parent id (8 bytes) and flags.
using TraceParent = std::array<std::uint8_t, 25>;

/// Returns nothing for a value that the recommendation calls invalid. Of a later version than 00
/// it reads what version 00 has. Allocates nothing.
[[nodiscard]] Parsed<TraceParent> parse_traceparent(std::string_view value) noexcept;
/// Returns the header's value in version 00: `00-<32 hex>-<16 hex>-<2 hex>`.
[[nodiscard]] std::string to_traceparent(const TraceParent& parent);

}  // namespace sluice
