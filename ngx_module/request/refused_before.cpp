#include "ngx_module/request/refused_before.hpp"

#include "core/status/metrics.hpp"
#include "ngx_module/conf/conf.hpp"
#include "ngx_module/request/request.hpp"

namespace sluice::ngx {
namespace {

extern "C" {
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
