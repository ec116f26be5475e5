#include "ngx_module/process/process.hpp"

#include <sys/prctl.h>

#include "ngx_module/build_id.hpp"
#include "ngx_module/nginx/convert.hpp"
#include "ngx_module/nginx/guard.hpp"
#include "ngx_module/nginx/pool_object.hpp"
#include "ngx_module/request/request_pool.hpp"
#include "ngx_module/status/gather.hpp"
#include "ngx_module/status/sampler.hpp"

namespace sluice::ngx {
namespace {

class Process {
public:
    Process(MainConf& conf, ngx_cycle_t* cycle)
        : paths_(std::filesystem::path(to_view(conf.store_path))),
          metrics_(conf.zone_view.block_of(ngx_worker)),
          store_(conf, cycle->log,
                 {[this] { return uses_queue(); }, [this] { return commits_.lane_in_flight(); },
                  [this] { commits_.forget_lane(); }}),
          commits_(conf.commit_pool, conf.offload_pool, cycle->log, metrics_, store_),
          offload_(conf.offload_pool, static_cast<std::uint64_t>(conf.large_memory), cycle->log),
          keys_(store_, offload_),
          sampler_(conf, store_, paths_, cycle->log),
          tools_{conf, store_,        commits_, offload_, keys_,
                 {},   PerSecond(10), paths_,   metrics_, Notes(cycle->log)},
          requests_(tools_),
          status_sources_{store_, sampler_} {}

    /// Opens the store, which blocks, and lets requests in.
    void start(MainConf& conf) noexcept {
        store_.start();
        sampler_.start();
        conf.requests = &requests_;
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
    StatusSources status_sources_;
};

bool serves_requests() noexcept {
    return ngx_process == NGX_PROCESS_WORKER || ngx_process == NGX_PROCESS_SINGLE;
}

}  // namespace
}  // namespace sluice::ngx

using namespace sluice::ngx;

ngx_int_t ngx_http_sluice_init_process(ngx_cycle_t* cycle) noexcept {
    MainConf* conf = main_conf(cycle);
    if (conf == nullptr || conf->store_path.data == nullptr) {
        return NGX_OK;
    }
    // The process knows secrets: no core dump, no tracing by other processes of its user. Cache
    // manager and loader too, which have the master key from the master's memory.
    prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
    if (!serves_requests()) {
        return NGX_OK;
    }
    ngx_log_error(NGX_LOG_NOTICE, cycle->log, 0, "sluice module %s", sluice::ngx::kBuildId);
    // NGX_ERROR would end the process for good: a worker without its store answers 503 instead.
    guarded(cycle->log, [&] { make_in_pool<Process>(cycle->pool, *conf, cycle)->start(*conf); });
    return NGX_OK;
}
