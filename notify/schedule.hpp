// Schedule: when a failed change is sent again, and when a destination rests.
//
// Pure: callers state the time. Times are milliseconds since 1970, by the wall clock, because those
// of retries are stored. The clock may be set back: then nothing waits longer than it may wait.
#pragma once

#include <chrono>
#include <optional>

namespace sluice::notify {

using Millis = std::chrono::milliseconds;

/// Number of retries after which a change may expire.
inline constexpr unsigned kRetries = 9;

/// Returns the time from the failure of a try to the next one: 5 s, 5 min, 30 min, 2, 5, 10, 14, 20
/// and 24 h, then 24 h again, each -20 % to +20 %.
/// @param failures  Tries that failed, from 1 on.
/// @param jitter    A random number, 0 to 1000; 500 changes nothing.
/// @param asked     The answer's Retry-After, which is respected up to 24 hours if it is longer.
[[nodiscard]] Millis retry_delay(unsigned failures, unsigned jitter,
                                 std::optional<std::chrono::seconds> asked) noexcept;

/// Stops sending to a destination that fails, but for single probes. One thread at a time.
class Breaker {
public:
    /// Returns whether a request may start. While the breaker is open that is one probe, once the
    /// pause is over.
    /// @param under_way  Requests of the destination that have not ended.
    [[nodiscard]] bool may_start(Millis now, unsigned under_way) const noexcept;
    [[nodiscard]] bool is_open() const noexcept { return pause_.count() != 0; }
    /// Returns the time of the next probe, which is `now` if it is due. Requires: is_open().
    [[nodiscard]] Millis probe_at(Millis now) const noexcept {
        return is_due(now) ? now : probe_at_;
    }

    void succeeded() noexcept { *this = {}; }
    /// Counts a failure. The tenth in a row opens the breaker once the row has lasted 60 s. A
    /// failed probe doubles the pause, from 1 up to 30 minutes. Failures of requests that were
    /// under way when the breaker opened change nothing.
    void failed(Millis now) noexcept;

private:
    /// A probe that is further away than the pause is due: the clock was set back meanwhile.
    [[nodiscard]] bool is_due(Millis now) const noexcept {
        return now >= probe_at_ || now + pause_ < probe_at_;
    }

    unsigned failures_ = 0;  ///< In a row.
    Millis first_{0};        ///< Time of the first of them.
    Millis pause_{0};        ///< 0 while closed.
    Millis probe_at_{0};
};

}  // namespace sluice::notify
