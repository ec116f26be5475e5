// What can be judged only when all of the configuration is read. Every refusal names file and line
// of the directive, and what to do.
#pragma once

#include <string_view>

#include "ngx_module/conf/conf.hpp"
#include "ngx_module/nginx/ngx_api.hpp"

namespace sluice::ngx {

/// Logs "<text> in <file>:<line>", as nginx does for a directive that it is reading.
void log_at(ngx_log_t* log, ngx_uint_t level, const ConfLine& line, std::string_view text) noexcept;

/// The location of a sluice_ingest. False: refused and logged.
[[nodiscard]] bool check_ingest(ngx_conf_t* cf, const MainConf& main, const LocConf& conf,
                                const ngx_http_core_loc_conf_t& core) noexcept;

}  // namespace sluice::ngx

extern "C" {
/// Called when everything is read and `user` is known, also by `nginx -t`: checks thread pools,
/// store and zone. A failure refuses the configuration and leaves a running nginx as it was.
ngx_int_t ngx_http_sluice_init_zone(ngx_shm_zone_t* zone, void* old) noexcept;
}
