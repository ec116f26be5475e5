// Crash points: the places where tests kill the program. Only builds with the CMake option
// SLUICE_CRASH_POINTS have them, which the presets for tests set; elsewhere crash_point() is empty.
#pragma once

#include <string_view>

namespace sluice::worker {

/// Kills the process with SIGKILL on the n-th call with the planned name. The environment variable
/// SLUICE_CRASH_AT holds the plan, `name` or `name:n` (default 1).
/// @param name  read, applied, committed, archived, flushed, published, trimmed, unlinked; of a
///              FORGET: searched, forgetting, edited, forgotten; of a copy: copying (after each of
///              its transactions), proved, switching; of notifications: read (from the feed), sent
///              (an outcome is known), noted (it is stored).
void crash_point(std::string_view name) noexcept;

/// Replaces the plan of the environment, for tests that fork. Only with SLUICE_CRASH_POINTS.
/// @param plan  `name` or `name:n`; empty means none.
void plan_crash(std::string_view plan);

}  // namespace sluice::worker
