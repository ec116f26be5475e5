// LanePace: how many writes to a lane are under way, and when the second one begins. Pure.
//
// One where a write is quick. Where it takes longer than a millisecond the disk would rest while
// the event loop answers and reads, so two are. Clients wait for their answers before they send
// more: a second write that began with the first few of them who are back would leave the others
// behind two writes, and each write would carry few. So it waits for half of all clients, or for
// all that the first one left; it begins when so many wait, or when the first one ends. Nobody
// waits for a clock, and nobody at all who comes while nothing is written.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace sluice {

class LanePace {
public:
    static constexpr std::size_t kInFlightMax = 2;
    static constexpr std::uint64_t kSlowWriteUs = 1000;

    /// A write took `us`. One that was slow, because another process wrote to the disk, says little
    /// about the next.
    void written(std::uint64_t us) noexcept {
        const std::uint64_t counted = std::min(us, 2 * write_us_);
        write_us_ = write_us_ == 0 ? us : (write_us_ * 7 + counted) / 8;
    }
    /// A write began; with those who are left waiting `clients` have no answer.
    void began(std::size_t clients) noexcept {
        clients_ = std::max(clients, clients_ - (clients_ + 7) / 8);
    }
    /// Does a write begin with `waiting` clients, while `writing` ones stand in `in_flight` others?
    /// @param is_full  It cannot take more than wait.
    [[nodiscard]] bool begins(std::size_t waiting, std::size_t writing, std::size_t in_flight,
                              bool is_full) const noexcept {
        if (in_flight == 0) {
            return true;
        }
        if (in_flight == kInFlightMax || write_us_ <= kSlowWriteUs) {
            return false;
        }
        const std::size_t left = clients_ - std::min(clients_, writing);
        return is_full || waiting * 8 >= std::min((clients_ + 1) / 2, left) * 7;
    }

private:
    std::uint64_t write_us_ = 0;  ///< Averaged; without the outliers.
    std::size_t clients_ = 0;     ///< The most that had no answer lately.
};

}  // namespace sluice
