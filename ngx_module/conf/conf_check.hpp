// Checks that need the whole configuration. Every refusal names file and line of the directive, and
// what to do.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "lmdb_store/store/format.hpp"
#include "ngx_module/conf/conf.hpp"
#include "ngx_module/nginx/ngx_api.hpp"

namespace sluice::ngx {

/// Logs "<text> in <file>:<line>", as nginx does for a directive that it is reading.
void log_at(ngx_log_t* log, ngx_uint_t level, const ConfLine& line, std::string_view text) noexcept;

/// Checks the location of a sluice_ingest. Returns false if it is refused and logged.
[[nodiscard]] bool check_ingest(ngx_conf_t* cf, const MainConf& main, const LocConf& conf,
                                const ngx_http_core_loc_conf_t& core) noexcept;

/// Checks whether the worker processes can use the store. Called by the master and `nginx -t`.
/// Examines every directory down to the files that the workers open, with their user, group and
/// supplementary groups. Creates and opens nothing.
/// @return the problem and what to do, or nothing.
[[nodiscard]] std::optional<std::string> check_store_access(const store::StorePaths& paths,
                                                            const ngx_core_conf_t& core);

}  // namespace sluice::ngx

extern "C" {
/// Checks thread pools, store and zone once everything is read and `user` is known, also for
/// `nginx -t`. A failure refuses the configuration and leaves a running nginx as it was.
ngx_int_t ngx_http_sluice_init_zone(ngx_shm_zone_t* zone, void* old) noexcept;
}
