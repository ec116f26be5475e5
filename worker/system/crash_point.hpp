// Crash points: where tests kill the drain. SLUICE_CRASH_AT=<name>[:<n>] kills the process with
// SIGKILL when it comes to that point for the n-th time (default 1). Costs one comparison.
#pragma once

#include <string_view>

namespace sluice::worker {

/// Replaces what the environment says: `name:n`, or nothing. For tests that fork.
void plan_crash(std::string_view plan);

/// Names: read, applied, committed, archived, flushed, published, trimmed, unlinked; of a FORGET:
/// searched, forgetting, edited, forgotten; of a copy: copying (behind each transaction of it),
/// proved, switching.
void crash_point(std::string_view name) noexcept;

}  // namespace sluice::worker
