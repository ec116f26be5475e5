// Display of a run on standard error: progress, the reason for a wait, the time that is left.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <string>

#include "os/clock/clock.hpp"
#include "program/cli/progress.hpp"

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

    std::deque<Sample> samples_;  ///< Samples of the last minute, and the one before it.
    std::uint64_t records_ = 0;
    std::uint64_t bytes_ = 0;
};

class SendDisplay {
public:
    struct Figures {
        std::uint64_t sent = 0;
        std::uint64_t rejected = 0;
        double fraction = 0;           ///< Settled part of the file, 0 to 1.
        std::uint64_t bytes_left = 0;  ///< Bytes of the file.
    };

    SendDisplay() : pace_(steady_now()) {}

    /// Records were settled by this run.
    void settled(std::uint64_t records, std::uint64_t bytes) { pace_.settled(records, bytes); }
    /// Records that nothing is sent until `until`. Without a terminal, a long wait is shown at
    /// once.
    void waits(Clock::time_point until, const std::string& why);
    /// Records the limit of the run's rate from now on. Without a terminal, it is shown once.
    void holds_back(const std::string& how);
    void show(const Figures& figures);
    void clear() { progress_.clear(); }

private:
    Progress progress_;
    Pace pace_;
    Clock::time_point until_{};
    std::string why_;
    std::string how_;
    bool told_ = true;  ///< The current wait was shown.
};

}  // namespace sluice::cli
