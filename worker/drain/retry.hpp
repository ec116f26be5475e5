// Retry: decides what the drain does after an error: give up, retry at once, or retry after a pause
// that doubles. Pure: the caller passes the time in. Not thread-safe.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>

#include "core/values/result.hpp"
#include "os/clock/clock.hpp"

namespace sluice::worker {

/// Returns true for a temporary error, after which the same operation can succeed.
[[nodiscard]] bool may_pass(ErrorCode code) noexcept;

class Retry {
public:
    using Time = Clock::time_point;
    static constexpr std::chrono::milliseconds kPauseFirst{50};
    static constexpr std::chrono::milliseconds kPauseMax{5000};

    enum class Next : std::uint8_t { kGiveUp, kAtOnce, kPause };
    struct Decision {
        Next next = Next::kGiveUp;
        std::chrono::milliseconds pause{0};
        bool is_failure = false;  ///< The worker's state becomes kRetrying.
        bool is_logged = false;   ///< At most once a second.
    };

    /// @param seconds_max  How long errors in a row are retried; 0 means without end.
    explicit Retry(std::uint32_t seconds_max) noexcept : seconds_max_(seconds_max) {}

    /// Decides after another error in a row. `now` never decreases.
    [[nodiscard]] Decision failed(ErrorCode code, Time now) noexcept;
    /// @return how long it had failed, if the error was logged.
    [[nodiscard]] std::optional<std::chrono::seconds> succeeded(Time now) noexcept;

private:
    std::uint32_t seconds_max_;
    std::chrono::milliseconds pause_ = kPauseFirst;
    Time failing_since_{};
    Time last_logged_{};
};

}  // namespace sluice::worker
