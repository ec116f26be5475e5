// Worker lock: one process drains a queue at a time.
#pragma once

#include <cstdint>
#include <optional>

#include "core/values/result.hpp"
#include "lmdb_store/store/format.hpp"
#include "os/files/file_io.hpp"

namespace sluice::worker {

/// Held while it lives; a process that dies gives it up by itself.
class WorkerLock {
public:
    /// kBusy: another process holds it; the message names its pid. Never waits.
    [[nodiscard]] static Result<WorkerLock> take(const store::StorePaths& paths);

    /// For a worker that starts: holder() may be looking just now. Waits up to 200 ms.
    [[nodiscard]] static Result<WorkerLock> take_soon(const store::StorePaths& paths);
    /// The pid of the process that holds it (0: it is not known), nothing if none does. Shares the
    /// lock for an instant, which keeps take() from it.
    [[nodiscard]] static Result<std::optional<std::uint64_t>> holder(
        const store::StorePaths& paths);

private:
    explicit WorkerLock(Fd file) : file_(std::move(file)) {}
    Fd file_;
};

}  // namespace sluice::worker
