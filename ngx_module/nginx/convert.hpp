// ngx_str_t <-> std::string_view. The only place for such conversions.
#pragma once

#include <string>
#include <string_view>

#include "ngx_module/nginx/ngx_api.hpp"

namespace sluice::ngx {

[[nodiscard]] inline std::string_view to_view(const ngx_str_t& text) noexcept {
    return {reinterpret_cast<const char*>(text.data), text.len};
}
[[nodiscard]] inline std::string_view to_view(const u_char* first, const u_char* last) noexcept {
    return {reinterpret_cast<const char*>(first), static_cast<std::size_t>(last - first)};
}
std::string_view to_view(const char*) = delete;

/// nginx's structures have no const; it does not write through this.
[[nodiscard]] inline u_char* to_bytes(std::string_view text) noexcept {
    return const_cast<u_char*>(reinterpret_cast<const u_char*>(text.data()));
}
[[nodiscard]] inline ngx_str_t to_ngx(std::string_view text) noexcept {
    return {text.size(), to_bytes(text)};
}

}  // namespace sluice::ngx
