#include "tool/send/limit_share.hpp"

#include <algorithm>

namespace sluice::cli {
namespace {

/// Time after which the pace of other senders is known.
constexpr std::int64_t kWatchMs = 2000;
constexpr auto kLookAgain = std::chrono::seconds(5);

}  // namespace

std::uint64_t LimitShare::budget() const noexcept {
    return std::max<std::uint64_t>(1, window_.limit * percent_ / 100);
}

/// Returns the requests of other senders in this window.
std::uint64_t LimitShare::others() const noexcept {
    const std::uint64_t all = window_.limit - std::min(window_.remaining, window_.limit);
    return all - std::min(used_, all);
}

bool LimitShare::others_need_the_rest() const noexcept {
    const auto watched =
        std::chrono::duration_cast<std::chrono::milliseconds>(told_ - seen_).count();
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(ends_ - told_).count();
    if (watched < kWatchMs || left <= 0) {
        return false;
    }
    const std::uint64_t since = others() - std::min(others_then_, others());
    const std::uint64_t needed =
        since * static_cast<std::uint64_t>(left) / static_cast<std::uint64_t>(watched);
    return window_.remaining <= needed;
}

std::optional<Clock::time_point> LimitShare::next_start(Clock::time_point now) const {
    if (percent_ == 100 || known_ == Known::kNoLimit) {
        return now;
    }
    if (known_ == Known::kNothing || now >= ends_) {
        return in_flight_ == 0 ? std::optional(now) : std::nullopt;
    }
    if (used_ >= budget() || window_.remaining <= window_.limit / 10) {
        return ends_;
    }
    return others_need_the_rest() ? std::min(ends_, told_ + kLookAgain) : spread_;
}

void LimitShare::started(Clock::time_point now) {
    ++in_flight_;
    ++used_;
    if (known_ == Known::kLimit && used_ > budget() / 8 && used_ < budget() && now < ends_) {
        spread_ = now + (ends_ - now) / (budget() - used_);
    }
}

void LimitShare::answered(const std::optional<RateWindow>& window, bool accepted,
                          Clock::time_point now) {
    --in_flight_;
    if (!window) {
        known_ = accepted ? Known::kNoLimit : known_;
        return;
    }
    if (known_ != Known::kLimit || window->reset > window_.reset) {
        used_ = in_flight_ + 1;
        spread_ = now;
        seen_ = now;
        ends_ = now + std::chrono::seconds(window->resets_in);
    }
    if (known_ != Known::kLimit || window->reset >= window_.reset) {
        window_ = *window;
        told_ = now;
    }
    others_then_ = seen_ == now ? others() : others_then_;
    known_ = Known::kLimit;
}

std::optional<std::string> LimitShare::text() const {
    if (percent_ == 100 || known_ != Known::kLimit) {
        return std::nullopt;
    }
    return "takes " + std::to_string(budget()) + " of " + std::to_string(window_.limit) +
           " requests a window";
}

}  // namespace sluice::cli
