#include "ngx_module/status/status.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "core/status/report.hpp"
#include "ngx_module/nginx/convert.hpp"
#include "ngx_module/nginx/guard.hpp"
#include "ngx_module/nginx/pool_object.hpp"
#include "ngx_module/nginx/response.hpp"
#include "ngx_module/status/gather.hpp"
#include "ngx_module/status/status_page.hpp"

namespace sluice::ngx {
namespace {

constexpr std::string_view kNothing = "/";  ///< Names no document.

/// What the URI names: "" for the page itself. Below a prefix location it is what follows; an exact
/// or regular expression's location may name one of them (`location = /metrics`).
std::string_view resource_of(const ngx_http_request_t* r) noexcept {
    const auto* core = static_cast<const ngx_http_core_loc_conf_t*>(
        ngx_http_get_module_loc_conf(r, ngx_http_core_module));
    std::string_view uri = to_view(r->uri);
    const std::string_view location = to_view(core->name);
    if (!core->exact_match && uri.substr(0, location.size()) == location) {
        uri.remove_prefix(location.size());
        const bool whole_segment = uri.empty() || location.back() == '/';
        return whole_segment ? uri : uri.front() == '/' ? uri.substr(1) : kNothing;
    }
    return uri.substr(uri.rfind('/') + 1);
}

struct Document {
    std::string_view type;
    std::string_view text;  ///< Static, or in `made`.
    std::string made;
    ngx_uint_t status = NGX_HTTP_OK;
};

Document ready(const MainConf& conf) {
    const std::optional<Reason> closed = conf.status_sources != nullptr
                                             ? conf.status_sources->store.closed_reason()
                                             : Reason::kStoreUnavailable;
    Document document{"text/plain; charset=utf-8", "ready\n", {}, NGX_HTTP_OK};
    if (closed) {
        document.made = std::string(to_string(*closed)) + '\n';
        document.status = NGX_HTTP_SERVICE_UNAVAILABLE;
    }
    return document;
}

std::optional<Document> document_of(std::string_view resource, const MainConf& conf) {
    if (resource == "status.json") {
        return Document{"application/json", {}, render_status_json(gather_status(conf)), 200};
    }
    if (resource == "metrics") {
        return Document{"text/plain; version=0.0.4; charset=utf-8",
                        {},
                        render_prometheus(gather_status(conf)),
                        200};
    }
    if (resource == "health") {
        return Document{"text/plain; charset=utf-8", "ok\n", {}, 200};
    }
    if (resource == "ready") {
        return ready(conf);
    }
    return std::nullopt;
}

std::optional<Document> document_of(const ngx_http_request_t* r, const MainConf& conf) {
    const std::string_view resource = resource_of(r);
    const auto* core = static_cast<const ngx_http_core_loc_conf_t*>(
        ngx_http_get_module_loc_conf(r, ngx_http_core_module));
    std::optional<Document> found = document_of(resource, conf);
    if (!found && (resource.empty() || core->exact_match)) {
        found = Document{"text/html; charset=utf-8", kStatusPage, {}, 200};
    }
    return found;
}

ngx_int_t serve(ngx_http_request_t* r) {
    std::optional<Document> document = document_of(r, *main_conf(r));
    if (!document) {
        return NGX_HTTP_NOT_FOUND;
    }
    std::string_view text = document->text;
    if (!document->made.empty()) {
        text = *make_in_pool<std::string>(r->pool, std::move(document->made));
    }
    const bool added = add_header(r, "Cache-Control", "no-store") &&
                       add_header(r, "X-Content-Type-Options", "nosniff") &&
                       add_header(r, "Referrer-Policy", "no-referrer") &&
                       add_header(r, "Content-Security-Policy", kStatusPolicy);
    return added ? send_text(r, document->status, document->type, text) : NGX_ERROR;
}

}  // namespace
}  // namespace sluice::ngx

using namespace sluice::ngx;

ngx_int_t ngx_http_sluice_status_handler(ngx_http_request_t* r) noexcept {
    r->disable_not_modified = 1;  // figures of now: no condition of the client is about them
    if (!(r->method & (NGX_HTTP_GET | NGX_HTTP_HEAD))) {
        static_cast<void>(add_header(r, "Allow", "GET, HEAD"));
        return NGX_HTTP_NOT_ALLOWED;
    }
    const ngx_int_t rc = ngx_http_discard_request_body(r);
    if (rc != NGX_OK) {
        return rc;
    }
    const ngx_int_t failed = NGX_HTTP_INTERNAL_SERVER_ERROR;
    return guarded(r->connection->log, failed, [&] { return serve(r); });
}
