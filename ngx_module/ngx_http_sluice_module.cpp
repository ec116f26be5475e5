// The module's tables: directives, callbacks, the module itself. Here the folders meet: the
// configuration gets the handlers that it puts into locations.

#include "ngx_module/conf/conf.hpp"
#include "ngx_module/conf/directives.hpp"
#include "ngx_module/conf/setup.hpp"
#include "ngx_module/nginx/ngx_api.hpp"
#include "ngx_module/process/process.hpp"
#include "ngx_module/request/answer_filter.hpp"
#include "ngx_module/request/handler.hpp"
#include "ngx_module/request/refused_before.hpp"
#include "ngx_module/request/variables.hpp"
#include "ngx_module/status/status.hpp"

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wold-style-cast"  // the ngx_string() macro
#pragma GCC diagnostic ignored "-Wcast-qual"

namespace {

using sluice::ngx::LocConf;

extern "C" {
static void* create_main_conf(ngx_conf_t* cf) noexcept {
    return sluice::ngx::create_main_conf(cf,
                                         {ngx_http_sluice_handler, ngx_http_sluice_status_handler});
}

static ngx_int_t preconfiguration(ngx_conf_t* cf) noexcept {
    return sluice::ngx::add_variables(cf);
}

static ngx_int_t postconfiguration(ngx_conf_t* cf) noexcept {
    sluice::ngx::finish_configuration(cf);
    if (sluice::ngx::main_conf(cf).ingest_locations > 0) {
        sluice::ngx::install_late_error_filter();
        return sluice::ngx::install_refusal_counter(cf) ? NGX_OK : NGX_ERROR;
    }
    return NGX_OK;
}

static ngx_int_t guard_postconfiguration(ngx_conf_t* cf) noexcept {
    if (sluice::ngx::main_conf(cf).ingest_locations > 0) {
        sluice::ngx::install_guard_filters();
    }
    return NGX_OK;
}
}

constexpr ngx_uint_t kEverywhere = NGX_HTTP_MAIN_CONF | NGX_HTTP_SRV_CONF | NGX_HTTP_LOC_CONF;

ngx_command_t commands[] = {
    {ngx_string("sluice_store"), NGX_HTTP_MAIN_CONF | NGX_CONF_1MORE, ngx_http_sluice_store,
     NGX_HTTP_MAIN_CONF_OFFSET, 0, nullptr},
    {ngx_string("sluice_key_file"), NGX_HTTP_MAIN_CONF | NGX_CONF_TAKE1, ngx_http_sluice_key_file,
     NGX_HTTP_MAIN_CONF_OFFSET, 0, nullptr},
    {ngx_string("sluice_zone"), NGX_HTTP_MAIN_CONF | NGX_CONF_TAKE1, ngx_http_sluice_zone,
     NGX_HTTP_MAIN_CONF_OFFSET, 0, nullptr},
    {ngx_string("sluice_rate_limit"), NGX_HTTP_MAIN_CONF | NGX_CONF_1MORE,
     ngx_http_sluice_rate_limit, NGX_HTTP_MAIN_CONF_OFFSET, 0, nullptr},
    {ngx_string("sluice_idempotency_ttl"), NGX_HTTP_MAIN_CONF | NGX_CONF_TAKE1,
     ngx_http_sluice_idempotency_ttl, NGX_HTTP_MAIN_CONF_OFFSET, 0, nullptr},
    {ngx_string("sluice_large_memory"), NGX_HTTP_MAIN_CONF | NGX_CONF_TAKE1,
     ngx_http_sluice_large_memory, NGX_HTTP_MAIN_CONF_OFFSET, 0, nullptr},
    {ngx_string("sluice_header_prefix"), kEverywhere | NGX_CONF_TAKE1,
     ngx_http_sluice_header_prefix, NGX_HTTP_LOC_CONF_OFFSET, 0, nullptr},
    {ngx_string("sluice_ingest"), NGX_HTTP_LOC_CONF | NGX_CONF_TAKE1, ngx_http_sluice_ingest,
     NGX_HTTP_LOC_CONF_OFFSET, 0, nullptr},
    {ngx_string("sluice_offload_threshold"), kEverywhere | NGX_CONF_TAKE1,
     ngx_http_sluice_offload_threshold, NGX_HTTP_LOC_CONF_OFFSET, 0, nullptr},
    {ngx_string("sluice_retry_after"), kEverywhere | NGX_CONF_TAKE1, ngx_http_sluice_retry_after,
     NGX_HTTP_LOC_CONF_OFFSET, 0, nullptr},
    {ngx_string("sluice_dry_run"), kEverywhere | NGX_CONF_FLAG, ngx_conf_set_flag_slot,
     NGX_HTTP_LOC_CONF_OFFSET, offsetof(LocConf, dry_run), nullptr},
    {ngx_string("sluice_status"), NGX_HTTP_LOC_CONF | NGX_CONF_NOARGS, ngx_http_sluice_status,
     NGX_HTTP_LOC_CONF_OFFSET, 0, nullptr},
    ngx_null_command};

ngx_http_module_t context = {
    preconfiguration,
    postconfiguration,
    create_main_conf,
    ngx_http_sluice_init_main_conf,
    nullptr,
    nullptr,
    ngx_http_sluice_create_loc_conf,
    ngx_http_sluice_merge_loc_conf,
};

ngx_http_module_t guard_context = {
    nullptr, guard_postconfiguration, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr};

}  // namespace

#pragma GCC diagnostic pop

extern "C" {
ngx_module_t ngx_http_sluice_module = {
    NGX_MODULE_V1,
    &context,
    commands,
    NGX_HTTP_MODULE,
    nullptr,
    nullptr,
    ngx_http_sluice_init_process,
    nullptr,
    nullptr,
    nullptr,
    nullptr,
    NGX_MODULE_V1_PADDING,
};

/// Stands among nginx's own filters (ngx_modules.c says where); see request/answer_filter.hpp.
ngx_module_t ngx_http_sluice_guard_module = {
    NGX_MODULE_V1, &guard_context, nullptr, NGX_HTTP_MODULE, nullptr, nullptr,
    nullptr,       nullptr,        nullptr, nullptr,         nullptr, NGX_MODULE_V1_PADDING,
};
}
