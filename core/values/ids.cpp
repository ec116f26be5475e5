#include "core/values/ids.hpp"

#include <algorithm>
#include <array>

namespace sluice {
namespace {

constexpr auto kAdminIdBytes = [] {
    std::array<bool, 256> allowed{};
    for (const char c : std::string_view("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
                                         "0123456789._-:@+/=")) {
        allowed[static_cast<unsigned char>(c)] = true;
    }
    return allowed;
}();

}  // namespace

bool is_admin_id(std::string_view text) noexcept {
    return !text.empty() && text.size() <= kAdminIdBytesMax &&
           std::all_of(text.begin(), text.end(),
                       [](char c) { return kAdminIdBytes[static_cast<unsigned char>(c)]; });
}

}  // namespace sluice
