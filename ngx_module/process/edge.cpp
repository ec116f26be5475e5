#include "ngx_module/process/edge.hpp"

#include <sys/prctl.h>

#include "ngx_module/build_id.hpp"
#include "ngx_module/nginx/convert.hpp"
#include "ngx_module/nginx/guard.hpp"
#include "ngx_module/request/answer.hpp"
#include "ngx_module/request/body_deadline.hpp"

namespace sluice::ngx {
namespace {

// A plain pointer: exit() must find nothing to destroy in a module that stays loaded.
Edge* the_edge = nullptr;

void give_back_at_cleanup(void* request) noexcept {
    if (the_edge != nullptr) {
        the_edge->give_back(*static_cast<IngestRequest*>(request));
    }
}

bool serves_requests() noexcept {
    return ngx_process == NGX_PROCESS_WORKER || ngx_process == NGX_PROCESS_SINGLE;
}

}  // namespace

Edge::Edge(const MainConf& conf, ngx_cycle_t* cycle)
    : log_(cycle->log),
      paths_(std::filesystem::path(to_view(conf.store_path))),
      metrics_(conf.zone_view.block_of(ngx_worker)),
      store_(conf, cycle->log),
      commits_(conf.commit_pool, cycle->log, metrics_, [this] { return store_.queue(); }),
      offload_(conf.offload_pool, static_cast<std::uint64_t>(conf.large_memory), cycle->log),
      sampler_(conf, cycle->log) {}

Edge* Edge::current() noexcept {
    return the_edge;
}

void Edge::start(const MainConf& conf, ngx_cycle_t* cycle) {
    the_edge = new Edge(conf, cycle);
    the_edge->store_.start();
    the_edge->sampler_.start();
}

void Edge::stop() noexcept {
    delete the_edge;
    the_edge = nullptr;
}

IngestRequest& Edge::acquire(ngx_http_request_t* r) {
    if (free_ == nullptr) {
        requests_.push_back(std::make_unique<IngestRequest>());
        free_ = requests_.back().get();
        free_->ident.owner = free_;
    }
    IngestRequest& request = *free_;
    ngx_pool_cleanup_t* cleanup = ngx_pool_cleanup_add(r->pool, 0);
    if (cleanup == nullptr) {
        throw std::bad_alloc();
    }
    free_ = request.next;
    request.next = nullptr;
    request.r = r;
    request.main = main_conf(r);
    request.conf = loc_conf(r);
    cleanup->data = &request;
    cleanup->handler = &give_back_at_cleanup;
    ngx_http_set_ctx(r, &request, ngx_http_sluice_module);
    return request;
}

void Edge::give_back(IngestRequest& request) noexcept {
    count_once(request);
    stop_body_deadline(request);
    offload_.release_memory(request);
    request.reset();
    request.next = free_;
    free_ = &request;
}

void Edge::note_slot_beyond_zone() noexcept {
    if (beyond_zone_.allow()) {
        ngx_log_error(NGX_LOG_ERR, log_, 0,
                      "sluice: an account lies beyond the shared zone and is not limited: set a "
                      "larger \"sluice_zone\" and restart nginx");
    }
}

void Edge::note_redirect(const ngx_http_request_t* r) noexcept {
    if (redirect_.allow()) {
        ngx_log_error(NGX_LOG_ERR, r->connection->log, 0,
                      "sluice_ingest takes no subrequests, and no redirects of requests that were "
                      "answered or read before: \"%V\"",
                      &r->uri);
    }
}

void Edge::note_store_error(const Error& error) noexcept {
    if (store_error_.allow()) {
        ngx_log_error(NGX_LOG_ERR, log_, 0, "sluice: %s", error.message.c_str());
    }
}

}  // namespace sluice::ngx

using namespace sluice::ngx;

ngx_int_t ngx_http_sluice_init_process(ngx_cycle_t* cycle) noexcept {
    const MainConf* conf = main_conf(cycle);
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
    guarded(cycle->log, [&] { Edge::start(*conf, cycle); });
    return NGX_OK;
}

void ngx_http_sluice_exit_process(ngx_cycle_t*) noexcept {
    Edge::stop();
}
