// Edge: what one nginx worker process has: the open store, parsers, the commit, its requests.
//
// Made in init_process of worker processes (and of single-process mode), after fork; never by the
// master, `nginx -t` or cache processes. Thread: the event loop, unless a member says otherwise.
#pragma once

#include <atomic>
#include <memory>
#include <vector>

#include "core/intake/intake.hpp"
#include "lmdb_store/store/format.hpp"
#include "ngx_module/commit/group_commit.hpp"
#include "ngx_module/conf/conf.hpp"
#include "ngx_module/nginx/log_limit.hpp"
#include "ngx_module/process/store_link.hpp"
#include "ngx_module/request/offload.hpp"
#include "ngx_module/request/request.hpp"
#include "ngx_module/status/sampler.hpp"

namespace sluice::ngx {

class Edge {
public:
    /// nullptr in processes that serve no requests of ours.
    [[nodiscard]] static Edge* current() noexcept;
    static void start(const MainConf& conf, ngx_cycle_t* cycle);
    /// The thread pools have ended; requests that still wait get no answer.
    static void stop() noexcept;

    Edge(const Edge&) = delete;
    Edge& operator=(const Edge&) = delete;
    ~Edge() = default;

    /// A reset request bound to `r`, given back when the pool of `r` dies. Throws std::bad_alloc.
    [[nodiscard]] IngestRequest& acquire(ngx_http_request_t* r);
    void give_back(IngestRequest& request) noexcept;

    [[nodiscard]] StoreLink& store() noexcept { return store_; }
    [[nodiscard]] GroupCommit& commits() noexcept { return commits_; }
    [[nodiscard]] Offload& offload() noexcept { return offload_; }
    [[nodiscard]] StatusSampler& sampler() noexcept { return sampler_; }
    [[nodiscard]] IntakeScratch& scratch() noexcept { return scratch_; }

    /// $sluice_reason hashes the body several times: ten times a second at most.
    [[nodiscard]] PerSecond& diagnoses() noexcept { return diagnoses_; }

    /// Said once a minute at most: an error_page, rewrite or the like leads to an ingest location.
    void note_redirect(const ngx_http_request_t* r) noexcept;

    // Any thread.
    [[nodiscard]] const store::StorePaths& paths() const noexcept { return paths_; }
    [[nodiscard]] MetricsBlock& metrics() noexcept { return metrics_; }
    /// Said once a minute at most: an account's slot has no cell, so its limit cannot be held.
    void note_slot_beyond_zone() noexcept;
    /// Said once a second at most.
    void note_store_error(const Error& error) noexcept;

private:
    Edge(const MainConf& conf, ngx_cycle_t* cycle);

    ngx_log_t* log_;
    store::StorePaths paths_;
    MetricsBlock& metrics_;
    IntakeScratch scratch_;
    StoreLink store_;
    GroupCommit commits_;
    Offload offload_;
    StatusSampler sampler_;
    std::vector<std::unique_ptr<IngestRequest>> requests_;
    IngestRequest* free_ = nullptr;
    PerSecond diagnoses_{10};
    LogLimit redirect_{60};
    LogLimit beyond_zone_{60};
    LogLimit store_error_{1};
};

}  // namespace sluice::ngx

extern "C" {
ngx_int_t ngx_http_sluice_init_process(ngx_cycle_t* cycle) noexcept;
void ngx_http_sluice_exit_process(ngx_cycle_t* cycle) noexcept;
}
