#include "ngx_module/request/late_error.hpp"

#include <string_view>

#include "ngx_module/nginx/convert.hpp"
#include "ngx_module/nginx/guard.hpp"
#include "ngx_module/nginx/response.hpp"
#include "ngx_module/request/answer.hpp"
#include "ngx_module/request/request.hpp"

namespace sluice::ngx {
namespace {

ngx_http_output_header_filter_pt next_header_filter = nullptr;
ngx_http_output_body_filter_pt next_body_filter = nullptr;

/// Settles what nginx has decided. False: its own page stays.
bool settle_late(IngestRequest& request, ngx_uint_t status) {
    if (status == NGX_HTTP_REQUEST_ENTITY_TOO_LARGE && !request.is_events()) {
        settle_too_large(request);
        return true;
    }
    if (status == NGX_HTTP_INTERNAL_SERVER_ERROR) {
        settle_internal_error(request);
        return true;
    }
    return false;
}

void describe_body(ngx_http_request_t* r, const Answer& answer) noexcept {
    const std::string_view text = answer.text();
    r->headers_out.content_length_n = static_cast<off_t>(text.size());
    r->headers_out.content_type = to_ngx(answer.content_type);
    r->headers_out.content_type_len = answer.content_type.size();
    r->headers_out.charset.len = 0;
    if (text.empty()) {
        r->header_only = 1;
    }
}

extern "C" {
static ngx_int_t filter_header(ngx_http_request_t* r) noexcept {
    IngestRequest* request = r == r->main ? request_of(r) : nullptr;
    if (request != nullptr && !request->answer) {
        const bool settled = guarded(r->connection->log, false,
                                     [&] { return settle_late(*request, r->headers_out.status); });
        if (settled) {
            request->replaces_page = true;
            describe_body(r, *request->answer);
        }
    }
    return next_header_filter(r);
}

static ngx_int_t filter_body(ngx_http_request_t* r, ngx_chain_t* in) noexcept {
    IngestRequest* request = r == r->main ? request_of(r) : nullptr;
    if (request == nullptr || !request->replaces_page || in == nullptr) {
        return next_body_filter(r, in);
    }
    request->replaces_page = false;
    ngx_chain_t* own = text_chain(r, request->answer->text());
    return own != nullptr ? next_body_filter(r, own) : NGX_ERROR;
}
}

}  // namespace

void install_late_error_filters() noexcept {
    next_header_filter = ngx_http_top_header_filter;
    ngx_http_top_header_filter = filter_header;
    next_body_filter = ngx_http_top_body_filter;
    ngx_http_top_body_filter = filter_body;
}

}  // namespace sluice::ngx
