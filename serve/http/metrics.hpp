// Metrics: what /metrics says about requests, shops and the destinations of notifications.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "lmdb_store/store/format.hpp"
#include "serve/http/silence_watch.hpp"

namespace sluice::serve {

/// Figures of the server.
struct Figures {
    std::map<std::pair<std::string, unsigned>, std::uint64_t> requests;  ///< By path and status.
    std::map<std::string, std::uint64_t> microseconds;                   ///< By path.
    std::map<std::string, std::uint64_t> answered;                       ///< By path.
    std::uint64_t connections = 0;
    std::uint64_t feed_waiters = 0;
    std::chrono::milliseconds snapshot_age{0};  ///< Age of the oldest one that is read.
};

/// Returns the metrics as Prometheus reads them, without those of destinations if the store has
/// none or they cannot be read. Waits for the disk.
[[nodiscard]] std::string metrics_text(const Figures& figures, SilenceWatch& watch,
                                       const store::StorePaths& paths);

}  // namespace sluice::serve
