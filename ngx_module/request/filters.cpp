// Filters that make an answer the module's own, whatever else is configured.
//
// Refusals: nginx and other modules refuse requests at an ingest location before the handler runs
// (limit_req, deny, client_max_body_size), or while the body arrives (too long, malformed). A
// sender gets the body and the headers that the protocol promises for that status, and log and
// metrics show the request. What nginx refuses before it knows the location stays nginx's. Guard: a
// sender recognizes success by the exact body. Modules that add to bodies or rewrite them
// (sub_filter, add_after_body, a script) must not change it. A module that replaces the whole
// answer with another status, such as a firewall, may.
#include <string_view>

#include "ngx_module/conf/conf.hpp"
#include "ngx_module/nginx/ngx_api.hpp"
#include "ngx_module/nginx/response.hpp"
#include "ngx_module/request/handler.hpp"
#include "ngx_module/request/stages.hpp"

namespace sluice::ngx {
namespace {

ngx_http_output_header_filter_pt after_refusal = nullptr;
ngx_http_output_header_filter_pt next_header_filter = nullptr;
ngx_http_output_body_filter_pt next_body_filter = nullptr;

bool is_refusal(const ngx_http_request_t* r) noexcept {
    return r->headers_out.status >= NGX_HTTP_BAD_REQUEST;
}

/// Returns the request of `r` if it needs an answer: one that is refused while its body arrives, or
/// a new one if the handler did not run. Returns nullptr if nothing is to be done.
IngestRequest* unanswered(ngx_http_request_t* r) {
    if (r != r->main || !is_refusal(r)) {
        return nullptr;
    }
    if (IngestRequest* request = request_of(r)) {
        return request->answer ? nullptr : request;
    }
    RequestPool* pool = main_conf(r)->requests;
    if (loc_conf(r)->ingest == kIngestNone || pool == nullptr || RequestPool::find(r) != nullptr) {
        return nullptr;
    }
    IngestRequest& request = pool->acquire(r);
    request.refused_before = true;
    return &request;
}

Reason reason_of_refusal(const IngestRequest& request, ngx_uint_t status) noexcept {
    constexpr ngx_uint_t kTooManyRequests = 429;
    if (!request.refused_before) {
        return status < NGX_HTTP_INTERNAL_SERVER_ERROR ? Reason::kBodyRefused : Reason::kNone;
    }
    return status == kTooManyRequests || status == NGX_HTTP_SERVICE_UNAVAILABLE
               ? Reason::kLimitedBefore
               : Reason::kRefusedBefore;
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

/// Marks the buffers as sent, for the filters above.
void consume(ngx_chain_t* chain) noexcept {
    for (ngx_chain_t* link = chain; link != nullptr; link = link->next) {
        link->buf->pos = link->buf->last;
        link->buf->file_pos = link->buf->file_last;
    }
}

/// Gives a request that nginx or another module refused the endpoint's answer for that status.
/// Returns false without memory.
bool answer_refusal(ngx_http_request_t* r) {
    IngestRequest* request = unanswered(r);
    if (request == nullptr) {
        return true;
    }
    const ngx_uint_t status = r->headers_out.status;
    settle_refused(*request, status, reason_of_refusal(*request, status));
    if (request->answer->nginx_page) {
        return true;
    }
    request->guarded = true;
    describe_body(r, *request->answer);
    return add_answer_headers(*request);
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

/// Restores the head that filters above changed together with the body.
void restore_head(ngx_http_request_t* r, const Answer& answer) noexcept {
    drop_header(r->headers_out.content_length);
    drop_header(r->headers_out.content_encoding);
    r->headers_out.content_length_n = static_cast<off_t>(answer.text().size());
}

extern "C" {
static ngx_int_t filter_refusal(ngx_http_request_t* r) noexcept {
    if (IngestRequest* request = r == r->main ? request_of(r) : nullptr) {
        request->deadline.stop();  // the rest of the body is read and discarded
    }
    const bool done = guarded(r->connection->log, false, [&] { return answer_refusal(r); });
    return done ? after_refusal(r) : NGX_ERROR;
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
        return NGX_OK;  // other modules' additions
    }
    request->body_sent = true;
    ngx_chain_t* own = text_chain(r, request->answer->text());
    return own != nullptr ? next_body_filter(r, own) : NGX_ERROR;
}
}

}  // namespace

void install_refusal_filter() noexcept {
    after_refusal = ngx_http_top_header_filter;
    ngx_http_top_header_filter = filter_refusal;
}

void install_guard_filters() noexcept {
    next_header_filter = ngx_http_top_header_filter;
    ngx_http_top_header_filter = guard_header;
    next_body_filter = ngx_http_top_body_filter;
    ngx_http_top_body_filter = guard_body;
}

}  // namespace sluice::ngx
