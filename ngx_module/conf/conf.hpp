// Configuration as nginx keeps it: one MainConf for the http block, one LocConf per location.
//
// nginx copies and zeroes these by offset, so they are plain structs, and C++ objects live in pools
// (make_in_pool). They are written while the configuration is read and only read afterwards, except
// for what a process sets for itself after fork.
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

/// The place of a directive, for errors that are found only in the whole configuration.
struct ConfLine {
    u_char* file;
    ngx_uint_t line;
};

/// The content handlers that directives set for a location. The module's table provides them, so
/// that this folder does not depend on what serves a request.
struct Handlers {
    ngx_http_handler_pt ingest;
    ngx_http_handler_pt status;
    ngx_http_handler_pt link;
    ngx_http_handler_pt device_id;
};

class RequestPool;     // request/handler.hpp
class LinkService;     // links/link_service.hpp
struct StatusSources;  // status/status.hpp

struct MainConf {
    ngx_cycle_t* cycle;
    Handlers handlers;

    // Set after fork in a process that serves requests, otherwise nullptr.
    RequestPool* requests;
    const StatusSources* status_sources;
    LinkService* links;

    ngx_str_t store_path;  ///< Empty without sluice_store.
    ConfLine store_line;
    off_t map_bytes;
    ngx_flag_t sync;
    ngx_str_t commit_pool_name;
    ngx_str_t offload_pool_name;
    ngx_thread_pool_t* commit_pool;
    ngx_thread_pool_t* offload_pool;

    ngx_str_t key_path;
    ConfLine key_line;
    int key_fd;  ///< Open for reading, because workers may not open the file after a rotation.

    off_t zone_bytes;
    ConfLine zone_line;
    ngx_shm_zone_t* zone;
    ZoneView zone_view;

    ngx_flag_t limit_given;
    ngx_uint_t limit_requests;  ///< 0 leaves accounts without their own limit unlimited.
    ngx_uint_t limit_window_seconds;
    ngx_uint_t share_nodes;  ///< Nodes that share each limit; 0 without sharing.
    ngx_uint_t share_index;  ///< This node's number among them, from 1; 0 if not given.

    ngx_flag_t failure_limit_given;
    ngx_uint_t failure_requests;  ///< 0 does not limit failures.
    ngx_uint_t failure_window_seconds;
    ngx_http_complex_value_t* failure_key;  ///< nullptr means the client's address.

    time_t idempotency_ttl;
    off_t large_memory;
    ngx_int_t request_id_index;  ///< $request_id, or NGX_ERROR where nothing else uses it.
    ngx_uint_t ingest_locations;
    ngx_uint_t status_locations;  ///< Without one, nothing is sampled.
    ngx_uint_t link_locations;    ///< Without one, no links are read.
    ngx_uint_t click_buffer;      ///< Clicks that a process keeps.
    ngx_msec_t click_flush_ms;
};

enum Ingest : ngx_uint_t {
    kIngestNone,
    kIngestEvents,
    kIngestCatalog,
    kIngestShopify,
    kIngestWooCommerce,
    kIngestClicks,
};

/// Returns the platform whose webhooks a location takes, or kNone.
[[nodiscard]] constexpr Platform platform_of(ngx_uint_t ingest) noexcept {
    return ingest == kIngestShopify       ? Platform::kShopify
           : ingest == kIngestWooCommerce ? Platform::kWooCommerce
                                          : Platform::kNone;
}

/// Header names of one prefix or platform, as scan_headers() compares them.
struct ScanNames {
    explicit ScanNames(std::string_view prefix, Platform of = Platform::kNone)
        : names(prefix),
          platform(of),
          shop_lower(lower(names.shop)),
          topic_lower(lower(names.topic)) {}

    HeaderNames names;
    Platform platform;  ///< If it is not kNone, the names of its headers apply.
    std::string shop_lower;
    std::string topic_lower;

private:
    static std::string lower(std::string text) {
        ngx_strlow(to_bytes(text), to_bytes(text), text.size());
        return text;
    }
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

    ngx_flag_t link;  ///< The location serves links.
    ConfLine link_line;
    ngx_str_t link_account;   ///< Or empty.
    ngx_str_t link_fallback;  ///< Or empty.
    time_t link_cookie_seconds;
    ngx_str_t link_cookie_rest;  ///< `; Max-Age=...`, as it follows the device id.
    ngx_flag_t link_parameter;
    ngx_array_t* link_skip;          ///< Values that keep a request from counting.
    ngx_flag_t device_id;            ///< The location answers with the visitor's device id.
    ngx_array_t* device_id_origins;  ///< ngx_str_t: whose pages may read it. May be nullptr.
};

static_assert(std::is_standard_layout_v<MainConf> && std::is_trivially_destructible_v<MainConf>);
static_assert(std::is_standard_layout_v<LocConf> && std::is_trivially_destructible_v<LocConf>);

[[nodiscard]] inline MainConf* main_conf(const ngx_http_request_t* r) noexcept {
    return static_cast<MainConf*>(ngx_http_get_module_main_conf(r, ngx_http_sluice_module));
}
[[nodiscard]] inline LocConf* loc_conf(const ngx_http_request_t* r) noexcept {
    return static_cast<LocConf*>(ngx_http_get_module_loc_conf(r, ngx_http_sluice_module));
}
/// Returns nullptr if the cycle has no http block.
[[nodiscard]] inline MainConf* main_conf(ngx_cycle_t* cycle) noexcept {
    return static_cast<MainConf*>(
        ngx_http_cycle_get_module_main_conf(cycle, ngx_http_sluice_module));
}
[[nodiscard]] inline MainConf& main_conf(ngx_conf_t* cf) noexcept {
    return *static_cast<MainConf*>(ngx_http_conf_get_module_main_conf(cf, ngx_http_sluice_module));
}

/// Returns how many requests of an account this node admits in a window: its part of the account's
/// own limit or else of the configured one. 0 requests mean no limit.
[[nodiscard]] inline RateLimit limit_here(const MainConf& conf,
                                          std::optional<RateLimit> own) noexcept {
    const RateLimit configured{static_cast<std::uint32_t>(conf.limit_requests),
                               static_cast<std::uint32_t>(conf.limit_window_seconds)};
    // A node without a number takes the part of the last one, which is the smallest.
    const ngx_uint_t index = conf.share_index == 0 ? conf.share_nodes : conf.share_index;
    return node_part(own.value_or(configured), {static_cast<std::uint32_t>(index),
                                                static_cast<std::uint32_t>(conf.share_nodes)});
}

}  // namespace sluice::ngx
