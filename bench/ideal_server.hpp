// IdealServer: the latency of a server that costs nothing but its commits.
//
// It is given the times of real commits, one after the other. Requests come at a steady rate; all
// that are there when a commit ends go into the next one at once and are answered when that one
// ends. So this latency is the disk's, and what a real server adds to it is the server's own.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <span>

#include "bench/load/histogram.hpp"

namespace sluice::bench {

/// Counted from the instant when a request was due, as bench/load counts. Nanoseconds.
/// @param commits      Each must be > 0.
/// @param rate         Requests a second. Requires: > 0.
/// @param connections  As many requests are under way at most; the others wait to be sent.
inline Histogram ideal_latency(std::span<const std::uint64_t> commits, double rate,
                               std::size_t connections) {
    Histogram took;
    const double gap = 1e9 / rate;
    std::deque<double> due;
    double next = 0;
    double now = 0;
    const auto arrive = [&](double until) {
        for (; next <= until; next += gap) {
            due.push_back(next);
        }
    };
    for (const std::uint64_t commit : commits) {
        arrive(now);
        if (due.empty()) {
            now = next;
            arrive(now);
        }
        const std::size_t batch = std::min(due.size(), connections);
        now += static_cast<double>(commit);
        for (std::size_t i = 0; i < batch; ++i) {
            took.add(static_cast<std::uint64_t>(now - due.front()));
            due.pop_front();
        }
    }
    return took;
}

}  // namespace sluice::bench
