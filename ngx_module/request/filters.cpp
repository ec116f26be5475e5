// Filters that make an answer the module's own, whatever else is configured, and the counter of
// requests that never reach the module.
//
// Late errors: while nginx reads a body for the module, it may find the body too long or fail to
// spool it. It would send its own page, but the endpoints' 413 and 500 look different. What nginx
// refuses before it calls any module stays nginx's.
// Guard: a sender recognizes success by the exact body. Modules that add to bodies or rewrite them
// (sub_filter, add_after_body, a script) must not change it. A module that replaces the whole
// answer with another status, such as a firewall, may.
#include <string_view>

#include "core/status/metrics.hpp"
#include "ngx_module/conf/conf.hpp"
#include "ngx_module/nginx/ngx_api.hpp"
#include "ngx_module/nginx/response.hpp"
#include "ngx_module/request/handler.hpp"
#include "ngx_module/request/stages.hpp"

namespace sluice::ngx {
namespace {

ngx_http_output_header_filter_pt after_late_error = nullptr;
ngx_http_output_header_filter_pt next_header_filter = nullptr;
ngx_http_output_body_filter_pt next_body_filter = nullptr;

/// Settles a request that nginx has refused. Returns false if nginx's own page stays.
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

/// Marks the buffers as sent, for the filters above.
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

/// Restores the head that filters above changed together with the body.
void restore_head(ngx_http_request_t* r, const Answer& answer) noexcept {
    drop_header(r->headers_out.content_length);
    drop_header(r->headers_out.content_encoding);
    r->headers_out.content_length_n = static_cast<off_t>(answer.text().size());
}

extern "C" {
static ngx_int_t filter_late_error(ngx_http_request_t* r) noexcept {
    IngestRequest* request = r == r->main ? request_of(r) : nullptr;
    if (request != nullptr) {
        request->deadline.stop();  // the rest of the body is read and discarded
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
        return NGX_OK;  // other modules' additions
    }
    request->body_sent = true;
    ngx_chain_t* own = text_chain(r, request->answer->text());
    return own != nullptr ? next_body_filter(r, own) : NGX_ERROR;
}

/// Counts what nginx or another module refuses at an ingest location, so that the status page shows
/// a sender that gets 503 from limit_req.
static ngx_int_t count_refused_before(ngx_http_request_t* r) noexcept {
    const LocConf* conf = loc_conf(r);
    const ngx_uint_t status = r->err_status != 0 ? r->err_status : r->headers_out.status;
    const MainConf* main = main_conf(r);
    const bool refused = status >= NGX_HTTP_BAD_REQUEST && request_of(r) == nullptr;
    if (r == r->main && conf->ingest != kIngestNone && refused &&
        main->zone_view.header != nullptr) {
        const Endpoint endpoint =
            conf->ingest == kIngestEvents ? Endpoint::kEvents : Endpoint::kCatalog;
        main->zone_view.block_of(ngx_worker).count_refused_before(endpoint, status);
    }
    return NGX_OK;
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

bool install_refusal_counter(ngx_conf_t* cf) noexcept {
    auto* core = static_cast<ngx_http_core_main_conf_t*>(
        ngx_http_conf_get_module_main_conf(cf, ngx_http_core_module));
    auto* handler = static_cast<ngx_http_handler_pt*>(
        ngx_array_push(&core->phases[NGX_HTTP_LOG_PHASE].handlers));
    if (handler == nullptr) {
        return false;
    }
    *handler = count_refused_before;
    return true;
}

}  // namespace sluice::ngx
