// Limit share: keeps a run within its share of the account's rate limit, so that live traffic gets
// the rest. Pure: the caller passes times in.
//
// The limit and its windows are known only from the X-RateLimit headers of answers. Before the
// first answer, and at the beginning of each window, a single request reads them. Then an eighth of
// the share may be sent at once, and the rest is spread over the window. A tenth of the limit, and
// the requests that other senders will need until the window's end at their pace so far, are left
// to them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "os/clock/clock.hpp"
#include "program/system/http_client.hpp"

namespace sluice::cli {

class LimitShare {
public:
    /// @param percent  1 to 100. 100 sends as fast as the server accepts, up to the whole limit.
    explicit LimitShare(unsigned percent) : percent_(percent) {}

    /// Returns the time when the next request may start, which is at once if it is not after `now`;
    /// or nothing if an answer must come first.
    [[nodiscard]] std::optional<Clock::time_point> next_start(Clock::time_point now) const;
    void started(Clock::time_point now);
    /// Records the end of a request.
    /// @param accepted  The status was 200: an accepted request without headers means that there is
    /// no limit.
    void answered(const std::optional<RateWindow>& window, bool accepted, Clock::time_point now);

    /// Returns `takes 300 of 600 requests a window`, or nothing if no limit is known or none
    /// applies.
    [[nodiscard]] std::optional<std::string> text() const;

private:
    enum class Known : std::uint8_t { kNothing, kNoLimit, kLimit };

    [[nodiscard]] std::uint64_t budget() const noexcept;
    [[nodiscard]] std::uint64_t others() const noexcept;
    [[nodiscard]] bool others_need_the_rest() const noexcept;

    unsigned percent_;
    Known known_ = Known::kNothing;
    RateWindow window_{};            ///< From the last answer.
    Clock::time_point seen_{};       ///< The first answer of this window, and
    std::uint64_t others_then_ = 0;  ///< what others had used at that time.
    Clock::time_point ends_{};       ///< End of this window.
    Clock::time_point told_{};       ///< The last answer of this window.
    std::uint64_t used_ = 0;         ///< Requests of this run in this window.
    std::size_t in_flight_ = 0;      ///< Requests of this run without an answer.
    Clock::time_point spread_{};     ///< Before this, no further request.
};

}  // namespace sluice::cli
