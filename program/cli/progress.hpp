// Progress on standard error: one line that a terminal redraws, or a line every ten seconds.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "os/clock/clock.hpp"

namespace sluice::cli {

struct ProgressFigures {
    double fraction = 0;  ///< 0 to 1
    std::uint64_t sent = 0;
    std::uint64_t rejected = 0;
    std::optional<double> per_second;    ///< Records per second.
    std::optional<double> seconds_left;  ///< Seconds until the end.
    std::string note;                    ///< The reason for a wait; empty if there is none.
};

class Progress {
public:
    Progress();
    ~Progress() { clear(); }
    Progress(const Progress&) = delete;
    Progress& operator=(const Progress&) = delete;

    /// Returns true if a line is due: ten times a second on a terminal, else every ten seconds.
    [[nodiscard]] bool is_due() const;
    [[nodiscard]] bool is_terminal() const noexcept { return terminal_; }
    void show(const std::string& line);
    /// Clears the line on a terminal, so that other output can follow.
    void clear();

private:
    bool terminal_;
    bool shown_ = false;
    Clock::time_point drawn_ = steady_now();
};

/// Returns `[####......]  40%  1,234 sent  0 rejected  617/s  0:03 left  (why it waits)`
[[nodiscard]] std::string progress_line(const ProgressFigures& figures, bool with_bar);

/// `[####......]  40%  400,000 of 1,000,000 inputs`
[[nodiscard]] std::string replay_line(std::uint64_t done, std::uint64_t of, bool with_bar);

}  // namespace sluice::cli
