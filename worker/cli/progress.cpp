#include "worker/cli/progress.hpp"

#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdio>

namespace sluice::cli {
namespace {

constexpr std::size_t kBarWidth = 24;
constexpr auto kTerminalInterval = std::chrono::milliseconds(100);
constexpr auto kLineInterval = std::chrono::seconds(10);

/// 1234567 -> 1,234,567
std::string grouped(std::uint64_t number) {
    std::string text = std::to_string(number);
    for (std::size_t place = text.size(); place > 3;) {
        place -= 3;
        text.insert(place, ",");
    }
    return text;
}

std::string minutes(double seconds) {
    const auto whole = static_cast<std::uint64_t>(std::min(std::max(seconds, 0.0), 3.6e7));
    const std::string rest = std::to_string(whole % 60);
    return std::to_string(whole / 60) + (rest.size() == 1 ? ":0" : ":") + rest;
}

}  // namespace

std::string progress_line(const ProgressFigures& figures, double seconds) {
    const double fraction = std::clamp(figures.fraction, 0.0, 1.0);
    const auto filled = static_cast<std::size_t>(fraction * static_cast<double>(kBarWidth));
    const std::string percent = std::to_string(static_cast<int>(fraction * 100));
    std::string line = "[" + std::string(filled, '#') + std::string(kBarWidth - filled, '.') + "] ";
    line += std::string(3 - std::min<std::size_t>(percent.size(), 3), ' ') + percent + "%  ";
    line += grouped(figures.sent) + " sent  " + grouped(figures.rejected) + " rejected";
    if (seconds >= 1) {
        const double rate = static_cast<double>(figures.sent) / seconds;
        line += "  " + grouped(static_cast<std::uint64_t>(std::llround(rate))) + "/s";
    }
    if (seconds >= 1 && fraction > 0 && fraction < 1) {
        line += "  " + minutes(seconds / fraction - seconds) + " left";
    }
    return figures.note.empty() ? line : line + "  (" + figures.note + ")";
}

Progress::Progress() : terminal_(::isatty(STDERR_FILENO) == 1) {}

bool Progress::is_due() const {
    const Clock::duration since = Clock::now() - drawn_;
    return terminal_ ? since >= kTerminalInterval : since >= kLineInterval;
}

void Progress::show(const std::string& line) {
    std::fprintf(stderr, terminal_ ? "\r\x1b[K%s" : "%s\n", line.c_str());
    std::fflush(stderr);
    drawn_ = Clock::now();
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
