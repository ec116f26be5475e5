#include "program/cli/progress.hpp"

#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "os/clock/clock.hpp"
#include "program/cli/output.hpp"

namespace sluice::cli {
namespace {

constexpr std::size_t kBarWidth = 24;
constexpr auto kTerminalInterval = std::chrono::milliseconds(100);
constexpr auto kLineInterval = std::chrono::seconds(10);

std::string minutes(double seconds) {
    const auto whole = static_cast<std::uint64_t>(std::min(std::max(seconds, 0.0), 3.6e7));
    const std::string rest = std::to_string(whole % 60);
    return std::to_string(whole / 60) + (rest.size() == 1 ? ":0" : ":") + rest;
}

/// `[####......]  40%  `
std::string bar(double part, bool with_bar) {
    const double fraction = std::clamp(part, 0.0, 1.0);
    const auto filled = static_cast<std::size_t>(fraction * static_cast<double>(kBarWidth));
    const std::string percent = std::to_string(static_cast<int>(fraction * 100));
    std::string line;
    if (with_bar) {
        line = "[" + std::string(filled, '#') + std::string(kBarWidth - filled, '.') + "] ";
    }
    return line + std::string(3 - std::min<std::size_t>(percent.size(), 3), ' ') + percent + "%  ";
}

}  // namespace

std::string replay_line(std::uint64_t done, std::uint64_t of, bool with_bar) {
    const double part = of == 0 ? 1.0 : static_cast<double>(done) / static_cast<double>(of);
    return bar(part, with_bar) + grouped(done) + " of " + grouped(of) + " inputs";
}

std::string progress_line(const ProgressFigures& figures, bool with_bar) {
    const double fraction = std::clamp(figures.fraction, 0.0, 1.0);
    std::string line = bar(fraction, with_bar);
    line += grouped(figures.sent) + " sent  " + grouped(figures.rejected) + " rejected";
    if (figures.per_second) {
        const auto tenths = static_cast<std::uint64_t>(std::llround(*figures.per_second * 10));
        line += "  " + grouped(tenths / 10);
        line += tenths < 100 ? "." + std::to_string(tenths % 10) + "/s" : "/s";
    }
    if (figures.seconds_left && fraction < 1) {
        line += "  " + minutes(*figures.seconds_left) + " left";
    }
    return figures.note.empty() ? line : line + "  (" + figures.note + ")";
}

Progress::Progress() : terminal_(::isatty(STDERR_FILENO) == 1) {}

bool Progress::is_due() const {
    const Clock::duration since = steady_now() - drawn_;
    return terminal_ ? since >= kTerminalInterval : since >= kLineInterval;
}

void Progress::show(const std::string& line) {
    std::fprintf(stderr, terminal_ ? "\r\x1b[K%s" : "%s\n", line.c_str());
    std::fflush(stderr);
    drawn_ = steady_now();
    shown_ = terminal_;
}

void Progress::clear() {
    if (shown_) {
        std::fputs("\r\x1b[K", stderr);
        std::fflush(stderr);
        shown_ = false;
    }
}

}  // namespace sluice::cli
