#include "ngx_module/request/arrival.hpp"

#include "ngx_module/nginx/convert.hpp"

namespace sluice::ngx {
namespace {

/// A redirect to an address (not to a named location) turns a POST into a GET.
bool lost_method(const ngx_http_request_t* r) noexcept {
    return r->internal && r->method != NGX_HTTP_POST &&
           to_view(r->request_line).substr(0, 5) == "POST ";
}

/// nginx, or a module before this one, threw away all of the body, or what had come of it.
bool lost_body(const ngx_http_request_t* r) noexcept {
    if (r->discard_body) {
        return true;
    }
    if (r->request_body != nullptr) {
        return false;
    }
    // A body that came with the head and was discarded leaves no other trace than this.
    const ngx_http_headers_in_t& head = r->headers_in;
    if (head.chunked) {
        return head.content_length_n != -1;
    }
    return head.content_length != nullptr && head.content_length_n == 0 &&
           ngx_atoof(head.content_length->value.data, head.content_length->value.len) != 0;
}

bool is_file_gone(const ngx_buf_t* buffer) noexcept {
    return !ngx_buf_in_memory(buffer) && buffer->in_file &&
           (buffer->file == nullptr || buffer->file->fd == NGX_INVALID_FILE);
}

/// Another module began to read the body, and has not all of it, or not any more.
bool has_part_of_body(const ngx_http_request_t* r) noexcept {
    const ngx_http_request_body_t* body = r->request_body;
    if (body == nullptr) {
        return false;
    }
    // What was read without buffering was handed on as it came, as proxy_request_buffering off
    // does.
    if (body->rest != 0 || r->reading_body || r->request_body_no_buffering) {
        return true;
    }
    for (const ngx_chain_t* link = body->bufs; link != nullptr; link = link->next) {
        if (is_file_gone(link->buf)) {
            return true;
        }
    }
    return false;
}

/// nginx refused it as too long (413), and an error page leads here. It marks such requests before
/// it looks for the page; nothing else that an error page can follow does both. Once reading has
/// begun only a chunked body is found to be too long; what a proxy passed on as it came may have
/// failed for any reason.
bool is_refused_length(const ngx_http_request_t* r) noexcept {
    if (!r->error_page || r->request_body == nullptr) {
        return r->error_page && r->expect_tested;
    }
    return r->headers_in.chunked && r->lingering_close && !r->request_body_no_buffering;
}

bool is_over_limit(const ngx_http_request_t* r) noexcept {
    const auto* core = static_cast<const ngx_http_core_loc_conf_t*>(
        ngx_http_get_module_loc_conf(r, ngx_http_core_module));
    return core->client_max_body_size != 0 &&
           r->headers_in.content_length_n > core->client_max_body_size;
}

}  // namespace

Arrival arrival_of(const ngx_http_request_t* r) noexcept {
    if (lost_body(r) || has_part_of_body(r)) {
        return is_refused_length(r) ? Arrival::kTooLarge : Arrival::kIncomplete;
    }
    if (r->err_status != 0 || lost_method(r)) {
        return Arrival::kIncomplete;
    }
    return is_over_limit(r) ? Arrival::kTooLarge : Arrival::kWhole;
}

void mark_refused_length(ngx_http_request_t* r) noexcept {
    r->request_body_no_buffering = 0;
}

}  // namespace sluice::ngx
