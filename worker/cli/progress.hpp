// Progress bar on a terminal's standard error; silent anywhere else.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>

namespace sluice::cli {

struct ProgressFigures {
    double fraction = 0;  ///< 0 to 1
    std::uint64_t sent = 0;
    std::uint64_t rejected = 0;
    std::string note;  ///< Why it waits, if it does.
};

class Progress {
public:
    Progress();
    ~Progress() { clear(); }
    Progress(const Progress&) = delete;
    Progress& operator=(const Progress&) = delete;

    /// Draws at most ten times a second.
    void show(const ProgressFigures& figures);
    /// Takes the bar away, so that a line can be written.
    void clear();

private:
    using Clock = std::chrono::steady_clock;

    bool enabled_;
    bool shown_ = false;
    Clock::time_point started_ = Clock::now();
    Clock::time_point drawn_{};
};

/// `[####......]  40%  1,234 sent  0 rejected  617/s  0:03 left`
[[nodiscard]] std::string progress_line(const ProgressFigures& figures, double seconds);

}  // namespace sluice::cli
