// Configuration as nginx keeps it: one MainConf for the http block, one LocConf per location.
//
// nginx copies and zeroes these by offset, so they are plain structs; C++ objects hang off pools
// (pool_object.hpp). All are written while the configuration is read, and only read afterwards;
// but for what a process sets for itself after fork.
#pragma once

#include <optional>
#include <string>
#include <type_traits>

#include "core/intake/intake.hpp"
#include "core/intake/rate_window.hpp"
#include "lmdb_store/store/format.hpp"
#include "ngx_module/nginx/ngx_api.hpp"
#include "ngx_module/shared/zone.hpp"

namespace sluice::ngx {

/// Where a directive was written: for errors that show only when all of the configuration is read.
struct ConfLine {
    u_char* file;
    ngx_uint_t line;
};

/// The content handlers that a location's directive puts in. The module's table hands them in, so
/// that the configuration need not know what serves a request.
struct Handlers {
    ngx_http_handler_pt ingest;
    ngx_http_handler_pt status;
};

class RequestPool;     // request/request_pool.hpp
struct StatusSources;  // status/gather.hpp

struct MainConf {
    ngx_cycle_t* cycle;
    Handlers handlers;

    // What this process serves requests with; set after fork. nullptr: it does not serve any.
    RequestPool* requests;
    const StatusSources* status_sources;

    ngx_str_t store_path;  ///< Empty: there is no sluice_store.
    ConfLine store_line;
    off_t map_bytes;
    ngx_flag_t sync;
    ngx_str_t commit_pool_name;
    ngx_str_t offload_pool_name;
    ngx_thread_pool_t* commit_pool;
    ngx_thread_pool_t* offload_pool;

    ngx_str_t key_path;
    ConfLine key_line;
    int key_fd;  ///< Open for reading, so that workers, who may not open it, see a rotation.

    off_t zone_bytes;
    ConfLine zone_line;
    ngx_shm_zone_t* zone;
    ZoneView zone_view;

    ngx_flag_t limit_given;
    ngx_uint_t limit_requests;  ///< 0: accounts without a limit of their own are unlimited.
    ngx_uint_t limit_window_seconds;
    ngx_uint_t share_nodes;  ///< Nodes that share each limit; 0: none do.
    ngx_uint_t share_index;  ///< This node's number among them, from 1; 0: not given.

    time_t idempotency_ttl;
    off_t large_memory;
    ngx_int_t request_id_index;  ///< $request_id, or NGX_ERROR where nothing else uses it.
    ngx_uint_t ingest_locations;
    ngx_uint_t status_locations;  ///< None: nothing is sampled.
};

enum Ingest : ngx_uint_t { kIngestNone, kIngestEvents, kIngestCatalog };

/// Header names of one prefix, as the request scan compares them.
struct ScanNames {
    explicit ScanNames(std::string_view prefix);
    HeaderNames names;
    std::string shop_lower;
    std::string topic_lower;
};

struct LocConf {
    ngx_str_t header_prefix;
    const ScanNames* scan;
    ngx_uint_t ingest;
    ConfLine ingest_line;
    size_t offload_threshold;
    time_t retry_after;
    ngx_flag_t dry_run;
    ngx_flag_t status;
};

static_assert(std::is_standard_layout_v<MainConf> && std::is_trivially_destructible_v<MainConf>);
static_assert(std::is_standard_layout_v<LocConf> && std::is_trivially_destructible_v<LocConf>);

[[nodiscard]] MainConf* main_conf(const ngx_http_request_t* r) noexcept;
[[nodiscard]] LocConf* loc_conf(const ngx_http_request_t* r) noexcept;
/// nullptr: the cycle has no http block.
[[nodiscard]] MainConf* main_conf(ngx_cycle_t* cycle) noexcept;
[[nodiscard]] MainConf& main_conf(ngx_conf_t* cf) noexcept;

/// What this node admits of an account in a window: its part of the account's own limit, or else of
/// the configured one. 0 requests: no limit.
[[nodiscard]] RateLimit limit_here(const MainConf& conf, std::optional<RateLimit> own) noexcept;

}  // namespace sluice::ngx
