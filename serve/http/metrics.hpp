// Metrics: what /metrics says about requests, shops and the destinations of notifications.
#pragma once

#include <chrono>
#include <cstdint>
#include <initializer_list>
#include <map>
#include <string>
#include <string_view>
#include <utility>

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

// Lines of Prometheus' text: the head of a figure, and one of its values.
void add_head(std::string& text, const std::string& name, const char* type, const char* help);
using SampleLabels = std::initializer_list<std::pair<std::string_view, std::string_view>>;
[[nodiscard]] std::string sample_name(std::string_view name, SampleLabels labels);
template <class Number>
void add_sample(std::string& text, std::string_view name, SampleLabels labels, Number value) {
    text += sample_name(name, labels) + std::to_string(value) + "\n";
}

/// Returns the metrics as Prometheus reads them, without those of destinations if the store has
/// none or they cannot be read. Waits for the disk.
[[nodiscard]] std::string metrics_text(const Figures& figures, SilenceWatch& watch,
                                       const store::StorePaths& paths);

}  // namespace sluice::serve
