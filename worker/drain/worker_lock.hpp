// Worker lock: one process drains a queue at a time. The process locks the folder archive/ and the
// file worker.lock, which has the holder's pid. The folder stays locked if the file is removed, and
// the holder of the folder creates a missing worker.lock. nginx can open neither, so it can keep no
// worker out.
#pragma once

#include <cstdint>
#include <optional>

#include "core/values/result.hpp"
#include "lmdb_store/store/format.hpp"
#include "os/files/file_io.hpp"

namespace sluice::worker {

/// Held as long as the object exists. The kernel releases it when the process dies.
class WorkerLock {
public:
    /// Returns kBusy if another process holds it; the message names its pid. Never waits.
    [[nodiscard]] static Result<WorkerLock> take(const store::StorePaths& paths);

    /// Takes the lock for a worker that starts. Waits up to 200 ms, because holder() may hold it.
    [[nodiscard]] static Result<WorkerLock> take_soon(const store::StorePaths& paths);
    /// Returns the pid of the process that holds it (0 if unknown), or nothing if none does. Shares
    /// the lock for an instant, during which take() fails.
    [[nodiscard]] static Result<std::optional<std::uint64_t>> holder(
        const store::StorePaths& paths);

private:
    WorkerLock(Fd folder, Fd file) : folder_(std::move(folder)), file_(std::move(file)) {}
    Fd folder_;
    Fd file_;
};

}  // namespace sluice::worker
