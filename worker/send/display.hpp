// Display of a run: progress, why it waits, how long the rest takes. On standard error.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

#include "os/clock/clock.hpp"
#include "worker/cli/progress.hpp"
#include "worker/send/pace.hpp"

namespace sluice::cli {

class SendDisplay {
public:
    struct Figures {
        std::uint64_t sent = 0;
        std::uint64_t rejected = 0;
        double fraction = 0;           ///< Of the file that is settled, 0 to 1.
        std::uint64_t bytes_left = 0;  ///< Of the file.
    };

    SendDisplay() : pace_(steady_now()) {}

    /// Records were settled by this run.
    void settled(std::uint64_t records, std::uint64_t bytes) { pace_.settled(records, bytes); }
    /// Nothing is sent until then. Told at once where there is no terminal, if it is long.
    void waits(Clock::time_point until, const std::string& why);
    /// How the run is held back from now on. Told once where there is no terminal.
    void holds_back(const std::string& how);
    void show(const Figures& figures);
    void clear() { progress_.clear(); }

private:
    Progress progress_;
    Pace pace_;
    Clock::time_point until_{};
    std::string why_;
    std::string how_;
    bool told_ = true;  ///< What is new was shown.
};

}  // namespace sluice::cli
