// Queue source: inputs copied out of the queue, with the bodies that lie beside it.
#pragma once

#include <cstddef>
#include <vector>

#include "core/values/ids.hpp"
#include "core/values/result.hpp"
#include "lmdb_store/queue/queue.hpp"
#include "lmdb_store/store/format.hpp"
#include "worker/drain/input_batch.hpp"

namespace sluice::worker {

/// Inputs from `from` on: at most `inputs_max`, and about `bytes_max` (at least one). No
/// transaction of the queue is open when it returns. A body that is gone or damaged becomes a
/// dead_reason. kIo, kPermission: a body cannot be read now. kCorrupt: the first input there is
/// not `from`.
[[nodiscard]] Result<std::vector<OwnedInput>> read_inputs(store::Queue& queue,
                                                          const store::StorePaths& paths,
                                                          SequenceNumber from,
                                                          std::size_t inputs_max,
                                                          std::size_t bytes_max);

}  // namespace sluice::worker
