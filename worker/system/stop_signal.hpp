// Stop signal: SIGINT and SIGTERM ask for an orderly end.
#pragma once

#include <atomic>

namespace sluice::cli {

/// From the first call on the two signals no longer end the process, but set this flag.
[[nodiscard]] const std::atomic<bool>& catch_stop_signals();

}  // namespace sluice::cli
