#include "worker/send/display.hpp"

#include <algorithm>

#include "os/clock/clock.hpp"

namespace sluice::cli {
namespace {

/// Shorter waits are no news.
constexpr auto kLongWait = std::chrono::seconds(2);

}  // namespace

void SendDisplay::waits(Clock::time_point until, const std::string& why) {
    const bool is_news = until - steady_now() >= kLongWait && until > until_ + kLongWait;
    until_ = std::max(until_, until);
    why_ = why;
    told_ = told_ && !is_news;
}

void SendDisplay::holds_back(const std::string& how) {
    told_ = told_ && how == how_;
    how_ = how;
}

void SendDisplay::show(const Figures& figures) {
    const Clock::time_point now = steady_now();
    pace_.tick(now);
    if (!progress_.is_due() && (told_ || progress_.is_terminal())) {
        return;
    }
    told_ = true;
    std::string note = how_;
    if (now < until_) {
        note = why_ + ", waits " +
               std::to_string(std::chrono::ceil<std::chrono::seconds>(until_ - now).count()) + " s";
    }
    progress_.show(
        progress_line({figures.fraction, figures.sent, figures.rejected, pace_.per_second(now),
                       pace_.seconds_for(figures.bytes_left, now), note},
                      progress_.is_terminal()));
}

}  // namespace sluice::cli
