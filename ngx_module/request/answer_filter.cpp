#include "ngx_module/request/answer_filter.hpp"

#include <string_view>

#include "ngx_module/nginx/convert.hpp"
#include "ngx_module/nginx/guard.hpp"
#include "ngx_module/nginx/response.hpp"
#include "ngx_module/request/body_deadline.hpp"
#include "ngx_module/request/request.hpp"
#include "ngx_module/request/settle.hpp"

namespace sluice::ngx {
namespace {

ngx_http_output_header_filter_pt after_late_error = nullptr;
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

/// The filters before see their buffers as sent.
void consume(ngx_chain_t* chain) noexcept {
    for (ngx_chain_t* link = chain; link != nullptr; link = link->next) {
        link->buf->pos = link->buf->last;
        link->buf->file_pos = link->buf->file_last;
    }
}

bool is_own(const ngx_http_request_t* r, const IngestRequest* request) noexcept {
    return request != nullptr && request->guarded && request->answer &&
           r->headers_out.status == request->answer->status;
}

void drop_header(ngx_table_elt_t*& header) noexcept {
    if (header != nullptr) {
        header->hash = 0;  // nginx does not send it
        header = nullptr;
    }
}

/// As before the filters that meant to change the body.
void restore_head(ngx_http_request_t* r, const Answer& answer) noexcept {
    drop_header(r->headers_out.content_length);
    drop_header(r->headers_out.content_encoding);
    r->headers_out.content_length_n = static_cast<off_t>(answer.text().size());
}

extern "C" {
static ngx_int_t filter_late_error(ngx_http_request_t* r) noexcept {
    IngestRequest* request = r == r->main ? request_of(r) : nullptr;
    if (request != nullptr) {
        stop_body_deadline(*request);  // what still comes of the body is read and thrown away
    }
    if (request != nullptr && !request->answer) {
        const bool settled = guarded(r->connection->log, false,
                                     [&] { return settle_late(*request, r->headers_out.status); });
        if (settled) {
            request->guarded = true;
            describe_body(r, *request->answer);
        }
    }
    return after_late_error(r);
}

static ngx_int_t guard_header(ngx_http_request_t* r) noexcept {
    IngestRequest* request = r == r->main ? request_of(r) : nullptr;
    if (is_own(r, request)) {
        restore_head(r, *request->answer);
    } else if (request != nullptr) {
        request->guarded = false;
    }
    return next_header_filter(r);
}

static ngx_int_t guard_body(ngx_http_request_t* r, ngx_chain_t* in) noexcept {
    IngestRequest* request = request_of(r->main);
    if (request == nullptr || !request->guarded || in == nullptr) {
        return next_body_filter(r, in);
    }
    consume(in);
    if (r != r->main || request->body_sent) {
        return NGX_OK;  // what others add to it
    }
    request->body_sent = true;
    ngx_chain_t* own = text_chain(r, request->answer->text());
    return own != nullptr ? next_body_filter(r, own) : NGX_ERROR;
}
}

}  // namespace

void install_late_error_filter() noexcept {
    after_late_error = ngx_http_top_header_filter;
    ngx_http_top_header_filter = filter_late_error;
}

void install_guard_filters() noexcept {
    next_header_filter = ngx_http_top_header_filter;
    ngx_http_top_header_filter = guard_header;
    next_body_filter = ngx_http_top_body_filter;
    ngx_http_top_body_filter = guard_body;
}

}  // namespace sluice::ngx
