#include <optional>
#include <string>

#include "core/protocol/record_limits.hpp"
#include "ngx_module/conf/directives.hpp"
#include "ngx_module/nginx/ngx_api.hpp"
#include "ngx_module/shared/zone.hpp"

namespace sluice::ngx {
namespace {

std::string megabytes(std::size_t bytes) {
    return std::to_string(bytes >> 20) + "m";
}

bool find_pool(const MainConf& conf, ngx_str_t name, const char* parameter,
               ngx_thread_pool_t*& pool, ngx_log_t* log) {
    pool = ngx_thread_pool_get(conf.cycle, &name);
    if (pool == nullptr) {
        const std::string text(to_view(name));
        log_at(log, NGX_LOG_EMERG, conf.store_line,
               std::string("sluice_store ") + parameter + "=" + text +
                   ": there is no such thread pool; declare it outside of the http block, as in "
                   "\"thread_pool " +
                   text + " threads=1;\"");
    }
    return pool != nullptr;
}

/// Returns nothing if the store is refused, which is logged.
std::optional<store::StoreFormat> check_store(const MainConf& conf, ngx_log_t* log) {
    const store::StorePaths paths(to_view(conf.store_path));
    Result<store::StoreFormat> format = store::read_store_format(paths);
    if (!format) {
        log_at(log, NGX_LOG_EMERG, conf.store_line,
               "sluice_store: " + format_problem(format.error(), paths, core_conf(conf.cycle)));
        return std::nullopt;
    }
    if (const auto problem = check_store_access(paths, core_conf(conf.cycle))) {
        log_at(log, NGX_LOG_EMERG, conf.store_line, "sluice_store: " + *problem);
        return std::nullopt;
    }
    return *format;
}

bool check_zone(const MainConf& conf, const store::StoreFormat& format, ngx_log_t* log) {
    if (conf.zone_view.cells_count >= format.max_accounts) {
        return true;
    }
    const std::string size = megabytes(zone_bytes_for(format.max_accounts));
    return refuse_at(log, conf.zone_line,
                     "the shared zone has room for " + std::to_string(conf.zone_view.cells_count) +
                         " accounts, and the store may have " +
                         std::to_string(format.max_accounts) + ": set \"sluice_zone " + size +
                         ";\"");
}

ngx_int_t init_zone(ngx_shm_zone_t* zone, MainConf& conf) {
    ngx_log_t* log = zone->shm.log;
    if (!find_pool(conf, conf.commit_pool_name, "thread_pool", conf.commit_pool, log) ||
        !find_pool(conf, conf.offload_pool_name, "offload_pool", conf.offload_pool, log)) {
        return NGX_ERROR;
    }
    const std::optional<store::StoreFormat> format = check_store(conf, log);
    if (!format) {
        return NGX_ERROR;
    }
    if (!attach_zone(zone, conf.zone_view)) {
        log_at(log, NGX_LOG_EMERG, conf.zone_line,
               "the shared zone was laid out by another version of the module: restart nginx "
               "instead of reloading it");
        return NGX_ERROR;
    }
    return check_zone(conf, *format, log) ? NGX_OK : NGX_ERROR;
}

/// Returns true if a parameter of a directive that takes conditions can be true: nginx tests each
/// for "" and "0".
[[maybe_unused]] bool can_be_true(const ngx_array_t* conditions) noexcept {
    const auto* values = static_cast<const ngx_http_complex_value_t*>(
        conditions != nullptr ? conditions->elts : nullptr);
    for (ngx_uint_t i = 0; values != nullptr && i < conditions->nelts; ++i) {
        const std::string_view text = to_view(values[i].value);
        if (values[i].lengths != nullptr || (!text.empty() && text != "0")) {
            return true;
        }
    }
    return false;
}

/// Returns true if nginx may read the body of a request to the server before it selects a location:
/// client_body_early_read, of nginx 1.31.5 and newer. Asks the header whether this nginx has it,
/// because other servers that are built from nginx number their versions in their own way.
template <class Server>
bool reads_early(const Server& server) noexcept {
    if constexpr (requires { server.client_body_early_read; }) {
        return can_be_true(server.client_body_early_read);
    } else {
        return false;
    }
}

/// Warns of bodies that nginx reads by the limits of the server. Refuses those without a limit, and
/// webhooks.
bool check_early_read(ngx_conf_t* cf, const LocConf& conf) noexcept {
    const ngx_http_core_srv_conf_t& server = core_server_conf(cf);
    if (!reads_early(server)) {
        return true;
    }
    if (core_conf(server).client_max_body_size == 0) {
        return refuse_at(
            cf->log, conf.ingest_line,
            "sluice_ingest with client_body_early_read in a server with \"client_max_body_size "
            "0\": nginx would read a body of any length before it checks who sends it; add "
            "\"client_body_early_read 0;\" or a limit to the server block");
    }
    if (platform_of(conf.ingest) != Platform::kNone) {
        return refuse_at(cf->log, conf.ingest_line,
                         "sluice_ingest of webhooks with client_body_early_read: nginx would write "
                         "long bodies, which have names and addresses, to client_body_temp_path; "
                         "add \"client_body_early_read 0;\" to the server block");
    }
    log_at(cf->log, NGX_LOG_WARN, conf.ingest_line,
           "sluice_ingest with client_body_early_read: nginx reads each body before it knows the "
           "location and the sender, by the limits of the server block, and writes long ones to "
           "client_body_temp_path; add \"client_body_early_read 0;\" to the server block");
    return true;
}

/// Refuses a location of webhooks where nginx would write a body to a file: it names persons.
bool check_webhooks(ngx_conf_t* cf, const LocConf& conf,
                    const ngx_http_core_loc_conf_t& core) noexcept {
    if (platform_of(conf.ingest) == Platform::kNone) {
        return true;
    }
    const bool fits = static_cast<off_t>(core.client_body_buffer_size) >= core.client_max_body_size;
    if (!fits || core.client_body_in_file_only != 0) {
        return refuse_at(cf->log, conf.ingest_line,
                         "sluice_ingest of webhooks: the body must stay in memory, because it has "
                         "names and addresses; set client_body_buffer_size to client_max_body_size "
                         "(1m, for example) and leave client_body_in_file_only off");
    }
    return true;
}

/// Refuses a location of clicks where nginx would keep each body in a file: it has device ids.
bool check_clicks(ngx_conf_t* cf, const LocConf& conf,
                  const ngx_http_core_loc_conf_t& core) noexcept {
    if (conf.ingest == kIngestClicks && core.client_body_in_file_only != 0) {
        return refuse_at(cf->log, conf.ingest_line,
                         "sluice_ingest of clicks with client_body_in_file_only: nginx would write "
                         "the ids of devices to a file; leave it off");
    }
    return true;
}

}  // namespace

bool check_ingest(ngx_conf_t* cf, const MainConf& main, const LocConf& conf,
                  const ngx_http_core_loc_conf_t& core) noexcept {
    if (main.store_path.data == nullptr) {
        return refuse_at(
            cf->log, conf.ingest_line,
            "sluice_ingest needs a store: add \"sluice_store DIRECTORY;\" to the http block");
    }
    if (core.handler != main.handlers.ingest) {
        return refuse_at(cf->log, conf.ingest_line,
                         "sluice_ingest in a location that has another content handler: give it a "
                         "location of its own");
    }
    if (core.client_max_body_size == 0) {
        return refuse_at(cf->log, conf.ingest_line,
                         "sluice_ingest with \"client_max_body_size 0\": bodies must have a limit; "
                         "set 1m for events and clicks, 128m for the catalog");
    }
    if (core.client_max_body_size > static_cast<off_t>(kBulkBytesMax)) {
        return refuse_at(cf->log, conf.ingest_line,
                         "sluice_ingest with a client_max_body_size above 1g, the largest body "
                         "that a store keeps");
    }
    if (core.client_max_body_size > main.large_memory) {
        log_at(cf->log, NGX_LOG_WARN, conf.ingest_line,
               "client_max_body_size is above sluice_large_memory: bodies between the two are "
               "always answered with 503");
    }
    return check_webhooks(cf, conf, core) && check_clicks(cf, conf, core) &&
           check_early_read(cf, conf);
}

}  // namespace sluice::ngx

using namespace sluice::ngx;

ngx_int_t ngx_http_sluice_init_zone(ngx_shm_zone_t* zone, void*) noexcept {
    return guarded(zone->shm.log, static_cast<ngx_int_t>(NGX_ERROR),
                   [&] { return init_zone(zone, *static_cast<MainConf*>(zone->data)); });
}
