#include "worker/send/pace.hpp"

#include "os/clock/clock.hpp"

namespace sluice::cli {
namespace {

constexpr auto kEvery = std::chrono::seconds(1);
constexpr auto kLooksBack = std::chrono::seconds(60);

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

}  // namespace sluice::cli
