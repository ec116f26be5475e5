// Sending a short response from memory.
#pragma once

#include <cstdint>
#include <string_view>

#include "ngx_module/nginx/ngx_api.hpp"

namespace sluice::ngx {

/// Adds a header. `name` and `value` live as long as the request. Returns false without memory.
[[nodiscard]] bool add_header(ngx_http_request_t* r, std::string_view name,
                              std::string_view value) noexcept;

/// Adds a header with a number, which is copied. Returns false without memory.
[[nodiscard]] bool add_header(ngx_http_request_t* r, std::string_view name,
                              std::int64_t number) noexcept;

/// Returns a buffer that ends the response, or nullptr. `text` lives as long as the request.
[[nodiscard]] ngx_chain_t* text_chain(ngx_http_request_t* r, std::string_view text) noexcept;

/// Sends status, Content-Type, Content-Length and the body, or only the head for HEAD. `text` lives
/// as long as the request. Returns the result for ngx_http_finalize_request().
[[nodiscard]] ngx_int_t send_text(ngx_http_request_t* r, ngx_uint_t status, std::string_view type,
                                  std::string_view text) noexcept;

}  // namespace sluice::ngx
