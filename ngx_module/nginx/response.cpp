#include "ngx_module/nginx/response.hpp"

#include <charconv>

namespace sluice::ngx {

bool add_header(ngx_http_request_t* r, std::string_view name, std::string_view value) noexcept {
    auto* header = static_cast<ngx_table_elt_t*>(ngx_list_push(&r->headers_out.headers));
    if (header == nullptr) {
        return false;
    }
    header->hash = 1;
    header->key = to_ngx(name);
    header->value = to_ngx(value);
    header->lowcase_key = nullptr;
#if (nginx_version >= 1023000)
    header->next = nullptr;
#endif
    return true;
}

bool add_header(ngx_http_request_t* r, std::string_view name, std::int64_t number) noexcept {
    constexpr std::size_t kNumberBytes = 20;
    auto* text = static_cast<char*>(ngx_pnalloc(r->pool, kNumberBytes));
    if (text == nullptr) {
        return false;
    }
    const auto end = std::to_chars(text, text + kNumberBytes, number).ptr;
    return add_header(r, name, std::string_view(text, static_cast<std::size_t>(end - text)));
}

ngx_chain_t* text_chain(ngx_http_request_t* r, std::string_view text) noexcept {
    auto* buffer = static_cast<ngx_buf_t*>(ngx_calloc_buf(r->pool));
    ngx_chain_t* chain = ngx_alloc_chain_link(r->pool);
    if (buffer == nullptr || chain == nullptr) {
        return nullptr;
    }
    buffer->pos = to_bytes(text);
    buffer->last = buffer->pos + text.size();
    buffer->memory = 1;
    buffer->last_buf = 1;
    buffer->last_in_chain = 1;
    *chain = {buffer, nullptr};
    return chain;
}

ngx_int_t send_text(ngx_http_request_t* r, ngx_uint_t status, std::string_view type,
                    std::string_view text) noexcept {
    r->headers_out.status = status;
    r->headers_out.content_length_n = static_cast<off_t>(text.size());
    if (text.empty()) {
        r->header_only = 1;
    } else {
        r->headers_out.content_type = to_ngx(type);
        r->headers_out.content_type_len = type.size();
    }
    const ngx_int_t rc = ngx_http_send_header(r);
    if (rc == NGX_ERROR || rc > NGX_OK || r->header_only) {
        return rc;
    }
    ngx_chain_t* body = text_chain(r, text);
    return body != nullptr ? ngx_http_output_filter(r, body) : NGX_ERROR;
}

}  // namespace sluice::ngx
