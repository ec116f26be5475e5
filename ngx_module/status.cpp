#include "ngx_module/status.hpp"

#include <optional>
#include <string_view>

#include "ngx_module/convert.hpp"
#include "ngx_module/edge.hpp"
#include "ngx_module/guard.hpp"

namespace sluice::ngx {
namespace {

/// What the URI names below the location; empty: the page itself.
std::string_view resource_of(const ngx_http_request_t* r) noexcept {
    const auto* core = static_cast<const ngx_http_core_loc_conf_t*>(
        ngx_http_get_module_loc_conf(r, ngx_http_core_module));
    std::string_view uri = to_view(r->uri);
    const std::string_view location = to_view(core->name);
    if (uri.substr(0, location.size()) == location) {
        uri.remove_prefix(location.size());
        return !uri.empty() && uri.front() == '/' ? uri.substr(1) : uri;
    }
    return uri.substr(uri.rfind('/') + 1);  // a location by regular expression
}

ngx_int_t send_text(ngx_http_request_t* r, ngx_uint_t status, std::string_view text) noexcept {
    ngx_str_t type = to_ngx("text/plain");
    ngx_http_complex_value_t body{};
    body.value = to_ngx(text);
    return ngx_http_send_response(r, status, &type, &body);
}

ngx_int_t serve(ngx_http_request_t* r) {
    const std::string_view resource = resource_of(r);
    if (resource == "health") {
        return send_text(r, NGX_HTTP_OK, "ok\n");
    }
    if (resource == "ready") {
        Edge* edge = Edge::current();
        const std::optional<Reason> closed =
            edge != nullptr ? edge->store().closed_reason() : Reason::kStoreUnavailable;
        return closed ? send_text(r, NGX_HTTP_SERVICE_UNAVAILABLE, to_string(*closed))
                      : send_text(r, NGX_HTTP_OK, "ready\n");
    }
    return NGX_HTTP_NOT_FOUND;
}

}  // namespace
}  // namespace sluice::ngx

using namespace sluice::ngx;

ngx_int_t ngx_http_sluice_status_handler(ngx_http_request_t* r) noexcept {
    if (!(r->method & (NGX_HTTP_GET | NGX_HTTP_HEAD))) {
        return NGX_HTTP_NOT_ALLOWED;
    }
    const ngx_int_t failed = NGX_HTTP_INTERNAL_SERVER_ERROR;
    return guarded(r->connection->log, failed, [&] { return serve(r); });
}
