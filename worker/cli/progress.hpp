// Progress on standard error: one line that is drawn anew on a terminal, else a line now and then.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

#include "os/clock/clock.hpp"

namespace sluice::cli {

struct ProgressFigures {
    double fraction = 0;  ///< 0 to 1
    std::uint64_t sent = 0;
    std::uint64_t rejected = 0;
    std::optional<double> per_second;    ///< Records.
    std::optional<double> seconds_left;  ///< Until the end.
    std::string note;                    ///< Why it waits, if it does.
};

class Progress {
public:
    Progress();
    ~Progress() { clear(); }
    Progress(const Progress&) = delete;
    Progress& operator=(const Progress&) = delete;

    /// Time for a line: ten times a second on a terminal, else every ten seconds, after the first
    /// ten.
    [[nodiscard]] bool is_due() const;
    [[nodiscard]] bool is_terminal() const noexcept { return terminal_; }
    void show(const std::string& line);
    /// Clears the line on a terminal, so that another one can be written.
    void clear();

private:
    bool terminal_;
    bool shown_ = false;
    Clock::time_point drawn_ = steady_now();
};

/// `[####......]  40%  1,234 sent  0 rejected  617/s  0:03 left  (why it waits)`
[[nodiscard]] std::string progress_line(const ProgressFigures& figures, bool with_bar);

}  // namespace sluice::cli
