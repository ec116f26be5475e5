// The directives of the module, and how nginx creates, completes and merges their values.
#pragma once

#include <optional>
#include <string>

#include "lmdb_store/store/format.hpp"
#include "ngx_module/conf/conf.hpp"
#include "ngx_module/conf/conf_log.hpp"
#include "ngx_module/nginx/ngx_api.hpp"

namespace sluice::ngx {

/// Returns nullptr without memory.
[[nodiscard]] MainConf* create_main_conf(ngx_conf_t* cf, const Handlers& handlers) noexcept;

/// Completes the values that depend on the whole configuration.
void finish_configuration(ngx_conf_t* cf) noexcept;

/// Checks the location of a sluice_ingest. Returns false if it is refused and logged.
[[nodiscard]] bool check_ingest(ngx_conf_t* cf, const MainConf& main, const LocConf& conf,
                                const ngx_http_core_loc_conf_t& core) noexcept;

/// Checks whether the worker processes can use the store. Called by the master and `nginx -t`.
/// Examines every directory down to the files that the workers open, with their user, group and
/// supplementary groups, and the version of LMDB and of the queue's file. Creates nothing, and
/// opens that file only to read its head.
/// @return the problem and what to do, or nothing.
[[nodiscard]] std::optional<std::string> check_store_access(const store::StorePaths& paths,
                                                            const ngx_core_conf_t& core);

/// Returns what to say of an error of the store's format. If there is no store, that is how to make
/// one that the workers can open.
[[nodiscard]] std::string format_problem(const Error& error, const store::StorePaths& paths,
                                         const ngx_core_conf_t& core);

}  // namespace sluice::ngx

extern "C" {
/// Each setter checks its arguments; a wrong one fails `nginx -t` with file, line and what to
/// write.
extern ngx_command_t ngx_http_sluice_commands[];

char* ngx_http_sluice_init_main_conf(ngx_conf_t* cf, void* conf) noexcept;
void* ngx_http_sluice_create_loc_conf(ngx_conf_t* cf) noexcept;
char* ngx_http_sluice_merge_loc_conf(ngx_conf_t* cf, void* parent, void* child) noexcept;
}

extern "C" {
/// Checks thread pools, store and zone once everything is read and `user` is known, also for
/// `nginx -t`. A failure refuses the configuration and leaves a running nginx as it was.
ngx_int_t ngx_http_sluice_init_zone(ngx_shm_zone_t* zone, void* old) noexcept;
}
