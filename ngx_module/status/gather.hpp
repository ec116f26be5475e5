// Status gather: puts together what is known now. Event loop; no I/O, no lock, no waiting.
#pragma once

#include "core/status/report.hpp"
#include "lmdb_store/store/control_page.hpp"
#include "ngx_module/conf/conf.hpp"

namespace sluice::ngx {

/// What the worker published. Memory that is mapped already.
[[nodiscard]] WorkerFigures worker_figures(const store::ControlWords& words);

/// Also of a store that is broken, and of a process that could not open one.
[[nodiscard]] StatusReport gather_status(const MainConf& conf);

}  // namespace sluice::ngx
