// Guard: whether a command may take effect, or waits for another actor. A command that a policy can
// stop is tried in memory, and judged by what it would change, whatever its verb (controls K13).
//
// Orders pay nothing for it, nor do commands on accounts whose policy stops no command.
#pragma once

#include "core/apply/command.hpp"

namespace sluice {

/// Returns the guards of every command that is applied.
[[nodiscard]] const Guards& guards();

}  // namespace sluice
