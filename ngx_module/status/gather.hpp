// Status gather: puts together what is known now. Event loop; no I/O, no lock, no waiting.
#pragma once

#include "core/status/report.hpp"
#include "lmdb_store/store/control_page.hpp"
#include "ngx_module/conf/conf.hpp"
#include "ngx_module/status/sampler.hpp"
#include "ngx_module/store/store_link.hpp"

namespace sluice::ngx {

/// What a worker process shows. MainConf points to it where there is one.
struct StatusSources {
    StoreLink& store;
    const StatusSampler& sampler;
};

/// What the worker published. Memory that is mapped already.
[[nodiscard]] WorkerFigures worker_figures(const store::ControlWords& words);

/// Also of a store that is broken, and of a process that could not open one.
[[nodiscard]] StatusReport gather_status(const MainConf& conf);

}  // namespace sluice::ngx
