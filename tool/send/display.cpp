#include "tool/send/display.hpp"

#include <algorithm>

namespace sluice::cli {

namespace {

constexpr auto kEvery = std::chrono::seconds(1);
constexpr auto kLooksBack = std::chrono::seconds(60);
/// Shorter waits are no news.
constexpr auto kLongWait = std::chrono::seconds(2);

double seconds_between(Clock::time_point from, Clock::time_point to) {
    return std::chrono::duration<double>(to - from).count();
}

}  // namespace

void Pace::settled(std::uint64_t records, std::uint64_t bytes) noexcept {
    records_ += records;
    bytes_ += bytes;
}

void Pace::tick(Clock::time_point now) {
    if (now - samples_.back().at >= kEvery) {
        samples_.push_back({now, records_, bytes_});
    }
    while (samples_.size() > 1 && now - samples_[1].at >= kLooksBack) {
        samples_.pop_front();
    }
}

std::optional<double> Pace::per_second(Clock::time_point now) const {
    const double seconds = seconds_between(samples_.front().at, now);
    if (seconds < 1) {
        return std::nullopt;
    }
    return static_cast<double>(records_ - samples_.front().records) / seconds;
}

std::optional<double> Pace::seconds_for(std::uint64_t bytes, Clock::time_point now) const {
    const double seconds = seconds_between(samples_.front().at, now);
    const std::uint64_t done = bytes_ - samples_.front().bytes;
    if (seconds < 1 || done == 0) {
        return std::nullopt;
    }
    return static_cast<double>(bytes) * seconds / static_cast<double>(done);
}

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
