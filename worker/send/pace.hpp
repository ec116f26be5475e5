// Pace: how fast records went in the last minute, and how long the rest takes at that. Pure.
#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <optional>

#include "os/clock/clock.hpp"

namespace sluice::cli {

class Pace {
public:
    explicit Pace(Clock::time_point now) : samples_{{now, 0, 0}} {}

    /// Records were settled by this run.
    /// @param bytes  Of the file.
    void settled(std::uint64_t records, std::uint64_t bytes) noexcept;
    /// Keeps one sample a second; call it at least as often.
    void tick(Clock::time_point now);
    /// Records a second; nothing in the first second.
    [[nodiscard]] std::optional<double> per_second(Clock::time_point now) const;
    /// Seconds that `bytes` of the file take; nothing while it is not known.
    [[nodiscard]] std::optional<double> seconds_for(std::uint64_t bytes,
                                                    Clock::time_point now) const;

private:
    struct Sample {
        Clock::time_point at;
        std::uint64_t records;
        std::uint64_t bytes;
    };

    std::deque<Sample> samples_;  ///< Of the last minute; the oldest is older, if there is one.
    std::uint64_t records_ = 0;
    std::uint64_t bytes_ = 0;
};

}  // namespace sluice::cli
