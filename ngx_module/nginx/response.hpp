// Sending a short response from memory.
#pragma once

#include <cstdint>
#include <string_view>

#include "ngx_module/nginx/ngx_api.hpp"

namespace sluice::ngx {

/// `name` and `value` must live as long as the request. False: no memory.
[[nodiscard]] bool add_header(ngx_http_request_t* r, std::string_view name,
                              std::string_view value) noexcept;

/// As above, with a number, which is copied.
[[nodiscard]] bool add_header(ngx_http_request_t* r, std::string_view name,
                              std::int64_t number) noexcept;

/// One buffer that ends the response. nullptr: no memory. `text` must live as long as the request.
[[nodiscard]] ngx_chain_t* text_chain(ngx_http_request_t* r, std::string_view text) noexcept;

/// Status, Content-Type, Content-Length and the body; only the head for HEAD. `text` must live as
/// long as the request. What it returns is for ngx_http_finalize_request().
[[nodiscard]] ngx_int_t send_text(ngx_http_request_t* r, ngx_uint_t status, std::string_view type,
                                  std::string_view text) noexcept;

}  // namespace sluice::ngx
