#include "core/protocol/traceparent.hpp"

#include <algorithm>
#include <span>

#include "core/protocol/signature.hpp"

namespace sluice {
namespace {

constexpr std::size_t kTraceIdBytes = 16;
constexpr std::size_t kParentIdBytes = 8;
constexpr std::size_t kLength = 55;  // 00-<32>-<16>-<2>
constexpr std::size_t kTraceIdAt = 3, kParentIdAt = 36, kFlagsAt = 53;

bool is_zero(std::span<const std::uint8_t> bytes) noexcept {
    return std::ranges::all_of(bytes, [](std::uint8_t byte) { return byte == 0; });
}

}  // namespace

Parsed<TraceParent> parse_traceparent(std::string_view value) noexcept {
    if (value.size() < kLength || value[kTraceIdAt - 1] != '-' || value[kParentIdAt - 1] != '-' ||
        value[kFlagsAt - 1] != '-') {
        return std::nullopt;
    }
    const auto read = [&](std::size_t at, std::span<std::uint8_t> to) {
        return read_hex(value.substr(at, 2 * to.size()), to, HexCase::kLowerOnly);
    };
    std::array<std::uint8_t, 1> version{};
    if (!read(0, version) || version[0] == 0xff) {
        return std::nullopt;
    }
    const bool has_more = value.size() > kLength;
    if (has_more && (version[0] == 0 || value[kLength] != '-')) {
        return std::nullopt;
    }
    TraceParent parent{};
    const std::span<std::uint8_t> bytes(parent);
    const auto trace_id = bytes.first(kTraceIdBytes);
    const auto parent_id = bytes.subspan(kTraceIdBytes, kParentIdBytes);
    const bool is_read =
        read(kTraceIdAt, trace_id) && read(kParentIdAt, parent_id) && read(kFlagsAt, bytes.last(1));
    return is_read && !is_zero(trace_id) && !is_zero(parent_id) ? std::optional(parent)
                                                                : std::nullopt;
}

std::string to_traceparent(const TraceParent& parent) {
    const std::span<const std::uint8_t> bytes(parent);
    return "00-" + to_hex(bytes.first(kTraceIdBytes)) + "-" +
           to_hex(bytes.subspan(kTraceIdBytes, kParentIdBytes)) + "-" + to_hex(bytes.last(1));
}

}  // namespace sluice
