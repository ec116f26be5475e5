// The content handler of `sluice_status`.
#pragma once

#include "ngx_module/links/link_table.hpp"
#include "ngx_module/nginx/ngx_api.hpp"
#include "ngx_module/status/sampler.hpp"
#include "ngx_module/store/store_link.hpp"

namespace sluice::ngx {

/// The sources of the status of a worker process. MainConf points to it in a process that serves
/// requests.
struct StatusSources {
    StoreLink& store;
    const StatusSampler& sampler;
    const LinkTable& links;
};

}  // namespace sluice::ngx

extern "C" {
ngx_int_t ngx_http_sluice_status_handler(ngx_http_request_t* r) noexcept;
}
