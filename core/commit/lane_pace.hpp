// LanePace: decides how many writes to a lane run at once, and when the second one begins. Pure.
//
// Where writes are quick, one runs at a time. Where a write takes longer than a millisecond, two
// do, because the disk would be idle while the event loop answers and reads. Clients wait for their
// answers before they send more. A second write that began with the first few returning clients
// would leave the others behind two writes, and each write would carry few records. So the second
// write waits for seven eighths of half of all clients, or of all clients outside the first one if
// they are fewer; it also begins when the first one ends. No write waits for a timer, and a request
// that arrives while nothing is written does not wait at all.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace sluice {

class LanePace {
public:
    static constexpr std::size_t kInFlightMax = 2;
    static constexpr std::uint64_t kSlowWriteUs = 1000;

    /// Records a write that took `us`. An outlier counts as twice the average, because another
    /// process's writes say little about the next one.
    void written(std::uint64_t us) noexcept {
        const std::uint64_t counted = std::min(us, 2 * write_us_);
        write_us_ = write_us_ == 0 ? us : (write_us_ * 7 + counted) / 8;
    }
    /// Records that a write began. `clients` have no answer, those that still wait included.
    void began(std::size_t clients) noexcept {
        clients_ = std::max(clients, clients_ - (clients_ + 7) / 8);
    }
    /// Returns true if a write begins now.
    /// @param waiting  Requests that wait.
    /// @param writing  Requests of the `in_flight` writes that run.
    /// @param is_full  The waiting requests fill a batch.
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
    std::uint64_t write_us_ = 0;  ///< Average time. An outlier counts as twice the average.
    std::size_t clients_ = 0;     ///< Largest recent number of clients without an answer.
};

}  // namespace sluice
