#include "core/values/ids.hpp"

#include <algorithm>
#include <array>

namespace sluice {
namespace {

constexpr auto bytes_of(std::string_view text) {
    std::array<bool, 256> allowed{};
    for (const char c : text) {
        allowed[static_cast<unsigned char>(c)] = true;
    }
    return allowed;
}

constexpr auto kAdminIdBytes =
    bytes_of("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._-:@+/=");
constexpr auto kLinkIdBytes =
    bytes_of("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._~-");

bool has_only(std::string_view text, const std::array<bool, 256>& allowed) noexcept {
    return std::ranges::all_of(text,
                               [&](char c) { return allowed[static_cast<unsigned char>(c)]; });
}

}  // namespace

bool is_admin_id(std::string_view text) noexcept {
    return !text.empty() && text.size() <= kAdminIdBytesMax && has_only(text, kAdminIdBytes);
}

bool is_link_id(std::string_view text) noexcept {
    return !text.empty() && text.size() <= kLinkIdBytesMax && has_only(text, kLinkIdBytes) &&
           text != "." && text != "..";
}

}  // namespace sluice
