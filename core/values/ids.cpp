#include "core/values/ids.hpp"

#include <algorithm>

namespace sluice {
namespace {

bool is_admin_id_byte(char c) noexcept {
    return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') ||
           std::string_view("._-:@+/=").find(c) != std::string_view::npos;
}

}  // namespace

bool is_admin_id(std::string_view text) noexcept {
    return !text.empty() && text.size() <= kAdminIdBytesMax &&
           std::all_of(text.begin(), text.end(), is_admin_id_byte);
}

}  // namespace sluice
