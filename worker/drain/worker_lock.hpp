// Worker lock: one process drains a queue at a time.
#pragma once

#include "core/values/result.hpp"
#include "lmdb_store/store/format.hpp"
#include "worker/system/file.hpp"

namespace sluice::worker {

/// Held while it lives; a process that dies gives it up by itself.
class WorkerLock {
public:
    /// kBusy: another process holds it; the message names its pid. Never waits.
    [[nodiscard]] static Result<WorkerLock> take(const store::StorePaths& paths);

private:
    explicit WorkerLock(cli::UniqueFd file) : file_(std::move(file)) {}
    cli::UniqueFd file_;
};

}  // namespace sluice::worker
