#include "notify/schedule.hpp"

#include <algorithm>
#include <array>

namespace sluice::notify {
namespace {

using std::chrono::hours;
using std::chrono::minutes;
using std::chrono::seconds;

constexpr std::array<Millis, kRetries> kDelays{seconds(5), minutes(5), minutes(30),
                                               hours(2),   hours(5),   hours(10),
                                               hours(14),  hours(20),  hours(24)};
constexpr seconds kAskedMax = hours(24);
constexpr unsigned kJitterMax = 1000;

constexpr unsigned kRowToOpen = 10;
constexpr Millis kRowLasts = seconds(60);
constexpr Millis kFirstPause = minutes(1), kLongestPause = minutes(30);

}  // namespace

Millis retry_delay(unsigned failures, unsigned jitter, std::optional<seconds> asked) noexcept {
    const unsigned index = std::clamp(failures, 1U, kRetries) - 1;
    const auto permille = static_cast<Millis::rep>(800 + 400 * std::min(jitter, kJitterMax) / 1000);
    const Millis delay = kDelays[index] * permille / 1000;
    return asked ? std::max<Millis>(delay, std::min(*asked, kAskedMax)) : delay;
}

bool Breaker::may_start(Millis now, unsigned under_way) const noexcept {
    return !is_open() || (under_way == 0 && is_due(now));
}

void Breaker::failed(Millis now) noexcept {
    if (is_open()) {
        if (is_due(now)) {
            pause_ = std::min(2 * pause_, kLongestPause);
            probe_at_ = now + pause_;
        }
        return;
    }
    first_ = failures_ == 0 ? now : std::min(first_, now);
    ++failures_;
    if (failures_ >= kRowToOpen && now - first_ >= kRowLasts) {
        pause_ = kFirstPause;
        probe_at_ = now + pause_;
    }
}

}  // namespace sluice::notify
