#pragma once

namespace sluice {

/// Once for each process, at its start: simdjson chooses its code for this processor when it is
/// first used, and std::terminate() ends the process if there is no memory for that just then.
void prepare_json() noexcept;

}  // namespace sluice
