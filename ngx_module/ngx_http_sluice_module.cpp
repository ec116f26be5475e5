// The module's tables, and the parts of a worker process. Here the folders meet: the configuration
// gets the handlers that it sets for locations, and each worker process connects the parts.

#include <sys/prctl.h>

#include "ngx_module/build_id.hpp"
#include "ngx_module/commit/group_commit.hpp"
#include "ngx_module/conf/conf.hpp"
#include "ngx_module/conf/directives.hpp"
#include "ngx_module/links/device_handler.hpp"
#include "ngx_module/links/link_handler.hpp"
#include "ngx_module/links/link_service.hpp"
#include "ngx_module/nginx/ngx_api.hpp"
#include "ngx_module/offload/offload.hpp"
#include "ngx_module/request/handler.hpp"
#include "ngx_module/request/tools.hpp"
#include "ngx_module/status/sampler.hpp"
#include "ngx_module/status/status.hpp"
#include "ngx_module/store/store_link.hpp"

namespace sluice::ngx {
namespace {

/// The parts of one worker process. Constructed after fork in worker processes and in
/// single-process mode, never by the master, `nginx -t` or cache processes. Lives as long as the
/// cycle's memory pool.
class Process {
public:
    Process(MainConf& conf, ngx_cycle_t* cycle)
        : paths_(std::filesystem::path(to_view(conf.store_path))),
          metrics_(conf.zone_view.block_of(ngx_worker)),
          store_(conf, cycle->log,
                 {[this] { return requests_.is_in_use() || clicks_.is_in_use(); },
                  [this] { return uses_queue(); }, [this] { return commits_.lane_in_flight(); },
                  [this] { commits_.forget_lane(); }, [this] { commits_.store_opened(); }}),
          commits_(conf.commit_pool, cycle->log, metrics_, store_),
          offload_(conf.offload_pool, static_cast<std::uint64_t>(conf.large_memory), cycle->log),
          keys_(store_, offload_),
          sampler_(conf, store_, paths_, cycle->log),
          tools_{conf, store_,        commits_, offload_, keys_,
                 {},   PerSecond(10), paths_,   metrics_, Notes(cycle->log)},
          requests_(tools_),
          clicks_(conf, commits_, store_, metrics_, cycle->log),
          link_table_(paths_, offload_, cycle->log),
          links_(link_table_, clicks_, metrics_),
          status_sources_{store_, sampler_, link_table_} {
        if (conf.link_locations != 0) {
            commits_.set_rider([this] { clicks_.ride(); });
        }
    }

    /// Begins to open the store, and admits requests.
    void start(MainConf& conf) noexcept {
        store_.start();
        sampler_.start();
        if (conf.link_locations != 0) {
            link_table_.start();
        }
        conf.requests = &requests_;
        conf.links = &links_;
        conf.status_sources = &status_sources_;
    }

private:
    [[nodiscard]] bool uses_queue() const noexcept {
        return commits_.in_flight() || offload_.in_flight() || sampler_.in_flight();
    }

    store::StorePaths paths_;
    MetricsBlock& metrics_;
    StoreLink store_;
    GroupCommit commits_;
    Offload offload_;
    KeyRenewal keys_;
    StatusSampler sampler_;
    RequestTools tools_;
    RequestPool requests_;
    ClickBuffer clicks_;
    LinkTable link_table_;
    LinkService links_;
    StatusSources status_sources_;
};

bool serves_requests() noexcept {
    return ngx_process == NGX_PROCESS_WORKER || ngx_process == NGX_PROCESS_SINGLE;
}

extern "C" {
static void* create_main_conf(ngx_conf_t* cf) noexcept {
    return ngx::create_main_conf(
        cf, {ngx_http_sluice_handler, ngx_http_sluice_status_handler, ngx_http_sluice_link_handler,
             ngx_http_sluice_device_id_handler});
}

static ngx_int_t preconfiguration(ngx_conf_t* cf) noexcept {
    const ngx_int_t added = add_variables(cf);
    return added == NGX_OK ? add_link_variables(cf) : added;
}

static ngx_int_t postconfiguration(ngx_conf_t* cf) noexcept {
    finish_configuration(cf);
    if (main_conf(cf).ingest_locations > 0) {
        install_refusal_filter();
    }
    return NGX_OK;
}

static ngx_int_t guard_postconfiguration(ngx_conf_t* cf) noexcept {
    if (main_conf(cf).ingest_locations > 0) {
        install_guard_filters();
    }
    return NGX_OK;
}

static ngx_int_t init_process(ngx_cycle_t* cycle) noexcept {
    MainConf* conf = main_conf(cycle);
    if (conf == nullptr || conf->store_path.data == nullptr) {
        return NGX_OK;
    }
    // The process knows secrets, so that it must not dump core or be traced by other processes of
    // its user. The cache manager and loader inherit the master key with the master's memory.
    prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
    if (!serves_requests()) {
        return NGX_OK;
    }
    ngx_log_error(NGX_LOG_NOTICE, cycle->log, 0, "sluice module %s", kBuildId);
    // NGX_ERROR would end the process. A worker without its store answers 503 instead.
    guarded(cycle->log, [&] { make_in_pool<Process>(cycle->pool, *conf, cycle)->start(*conf); });
    return NGX_OK;
}
}

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
}  // namespace sluice::ngx

extern "C" {
ngx_module_t ngx_http_sluice_module = {
    NGX_MODULE_V1,
    &sluice::ngx::context,
    ngx_http_sluice_commands,
    NGX_HTTP_MODULE,
    nullptr,
    nullptr,
    sluice::ngx::init_process,
    nullptr,
    nullptr,
    nullptr,
    nullptr,
    NGX_MODULE_V1_PADDING,
};

/// Stands among nginx's own filters (ngx_modules.c says where); see request/filters.cpp.
ngx_module_t ngx_http_sluice_guard_module = {
    NGX_MODULE_V1, &sluice::ngx::guard_context,
    nullptr,       NGX_HTTP_MODULE,
    nullptr,       nullptr,
    nullptr,       nullptr,
    nullptr,       nullptr,
    nullptr,       NGX_MODULE_V1_PADDING,
};
}
