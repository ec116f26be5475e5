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

/// Returns the value of a lower-case digit, or -1. The recommendation allows no upper case.
int digit_of(char c) noexcept {
    if (c >= '0' && c <= '9') {
        return c - '0';
    }
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/// Reads two digits for each byte of `to`. Returns false for another character.
bool read_hex(std::string_view digits, std::span<std::uint8_t> to) noexcept {
    for (std::size_t i = 0; i < to.size(); ++i) {
        const int high = digit_of(digits[2 * i]);
        const int low = digit_of(digits[2 * i + 1]);
        if (high < 0 || low < 0) {
            return false;
        }
        to[i] = static_cast<std::uint8_t>(high * 16 + low);
    }
    return true;
}

bool is_zero(std::span<const std::uint8_t> bytes) noexcept {
    return std::all_of(bytes.begin(), bytes.end(), [](std::uint8_t byte) { return byte == 0; });
}

}  // namespace

std::optional<TraceParent> parse_traceparent(std::string_view value) noexcept {
    std::array<std::uint8_t, 1> version{};
    if (value.size() < kLength || !read_hex(value, version) || version[0] == 0xff ||
        value[2] != '-' || value[kParentIdAt - 1] != '-' || value[kFlagsAt - 1] != '-') {
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
    if (!read_hex(value.substr(kTraceIdAt), trace_id) ||
        !read_hex(value.substr(kParentIdAt), parent_id) ||
        !read_hex(value.substr(kFlagsAt), bytes.last(1)) || is_zero(trace_id) ||
        is_zero(parent_id)) {
        return std::nullopt;
    }
    return parent;
}

std::string to_traceparent(const TraceParent& parent) {
    const std::span<const std::uint8_t> bytes(parent);
    return "00-" + to_hex(bytes.first(kTraceIdBytes)) + "-" +
           to_hex(bytes.subspan(kTraceIdBytes, kParentIdBytes)) + "-" + to_hex(bytes.last(1));
}

}  // namespace sluice
