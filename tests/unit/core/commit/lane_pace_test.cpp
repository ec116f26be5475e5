#include "core/commit/lane_pace.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <deque>
#include <memory>
#include <queue>
#include <random>
#include <utility>
#include <vector>

#include "core/commit/lane_engine.hpp"

namespace sluice {
namespace {

using LaneDo = LaneEngine::Do;

LanePace slow_pace(std::size_t clients) {
    LanePace pace;
    pace.written(2000);
    pace.began(clients);
    return pace;
}

TEST(LanePaceRules, AWriteBeginsAtOnceWhileNoneIsInFlight) {
    EXPECT_TRUE(slow_pace(1000).begins(1, 0, 0, false));
}

TEST(LanePaceRules, L2OneWriteAtATimeWhereItIsQuick) {
    LanePace pace;
    pace.written(LanePace::kSlowWriteUs / 2);
    pace.began(2);
    EXPECT_FALSE(pace.begins(1, 1, 1, false));
    pace.written(1'000'000);
    pace.written(1'000'000);
    EXPECT_FALSE(pace.begins(1, 1, 1, false)) << "a machine that stalled is not a slow disk";
}

TEST(LanePaceRules, L2TwoWhereItIsSlowAndNeverThree) {
    EXPECT_TRUE(slow_pace(2).begins(1, 1, 1, false));
    EXPECT_FALSE(slow_pace(200).begins(100, 2, 2, false));
}

TEST(LanePaceRules, TheSecondWaitsForHalfOfTheClientsOrForAllThatTheFirstLeft) {
    const LanePace pace = slow_pace(64);
    EXPECT_FALSE(pace.begins(27, 20, 1, false));
    EXPECT_TRUE(pace.begins(28, 20, 1, false)) << "seven eighths of them: some are slow";
    EXPECT_FALSE(pace.begins(13, 48, 1, false));
    EXPECT_TRUE(pace.begins(14, 48, 1, false));
    EXPECT_TRUE(pace.begins(5, 20, 1, true)) << "large ones: no more fit into a write";
}

TEST(LanePaceRules, DepartedClientsAreForgotten) {
    LanePace pace = slow_pace(1000);
    int writes = 0;
    while (!pace.begins(1, 1, 1, false)) {
        pace.began(2);
        ASSERT_LT(++writes, 60);
    }
}

/// An event loop with an engine, a disk whose writes run side by side, and clients who send again
/// some time after their answer came. Virtual time; the costs are those of a machine of today.
class ClosedLoop {
public:
    ClosedLoop(std::size_t clients, std::uint64_t write_us, std::uint64_t think_us)
        : write_us_(write_us), think_us_(think_us), waiters_(clients) {
        constexpr std::uint64_t kLaneBytes = 8U << 20;
        engine_.opened(kLaneBytes, kLaneBlockBytes, 0);
        for (Waiter& waiter : waiters_) {
            waiter.bytes = 1300;
            comes_back(waiter);
        }
    }

    /// Requests answered in a second.
    std::uint64_t run() {
        while (now_us_ < 1'000'000) {
            const std::uint64_t at = next();
            now_us_ = std::max(now_us_, at);
            const std::uint64_t turn_us = now_us_;
            while (!writes_.empty() && writes_.front().ends_us <= turn_us) {
                end_write();
            }
            while (!coming_.empty() && coming_.top().at_us <= turn_us) {
                Waiter& waiter = *coming_.top().waiter;
                coming_.pop();
                now_us_ += kReadUs;
                waiter.joined_ms = now_us_ / 1000;
                tell([&](auto& actions) { ASSERT_TRUE(engine_.arrived(waiter, actions)); });
            }
            if (std::exchange(look_, false)) {
                tell([&](auto& actions) {
                    engine_.iteration_ended({now_us_ / 1000, now_us_ * 1000}, actions);
                });
            }
        }
        return answered_;
    }
    [[nodiscard]] std::uint64_t writes() const { return writes_begun_; }

private:
    static constexpr std::uint64_t kReadUs = 9, kAnswerUs = 7, kClientUs = 5;
    struct Coming {
        std::uint64_t at_us;
        Waiter* waiter;
        bool operator<(const Coming& other) const { return at_us > other.at_us; }
    };
    struct Write {
        std::uint64_t ends_us;
        std::size_t slot;
    };

    [[nodiscard]] std::uint64_t next() const {
        const std::uint64_t never = ~std::uint64_t{0};
        return std::min(coming_.empty() ? never : coming_.top().at_us,
                        writes_.empty() ? never : writes_.front().ends_us);
    }
    /// The clients share a processor, and each sometimes has other work.
    void comes_back(Waiter& waiter) {
        clients_us_ = std::max(clients_us_, now_us_) + kClientUs;
        std::exponential_distribution<double> thinks(1.0 / static_cast<double>(think_us_));
        coming_.push({clients_us_ + static_cast<std::uint64_t>(thinks(random_)), &waiter});
    }
    template <class Event>
    void tell(Event&& event) {
        LaneEngine::Actions actions;
        event(actions);
        for (const LaneEngine::Action& action : actions) {
            if (action.what == LaneDo::kRunAtIterationEnd) {
                look_ = true;
            } else if (action.what == LaneDo::kWrite) {
                ++writes_begun_;
                writes_.push_back({now_us_ + write_us_, action.batch});
            } else if (action.what == LaneDo::kAnswer) {
                answer(action.batch);
            } else if (action.what == LaneDo::kMove) {
                is_moving_ = true;
            }
        }
    }
    void end_write() {
        const Write write = writes_.front();
        writes_.pop_front();
        tell([&](auto& actions) {
            engine_.written(write.slot, LaneWrite::kDurable, write_us_, now_us_ / 1000, actions);
        });
        if (std::exchange(is_moving_, false)) {
            const std::uint64_t moved = engine_.durable();
            engine_.room(moved - kLaneBlockBytes, moved);
            tell([&](auto& actions) { engine_.moved(now_us_ / 1000, actions); });
        }
    }
    void answer(std::size_t slot) {
        for (Waiter* waiter = engine_.batch_of(slot).first; waiter != nullptr;) {
            Waiter* const next = waiter->next;
            now_us_ += kAnswerUs;
            ++answered_;
            comes_back(*waiter);
            waiter = next;
        }
        tell([&](auto& actions) { engine_.answered(slot, now_us_ / 1000, actions); });
    }

    LaneEngine engine_;
    std::mt19937_64 random_{1};
    std::uint64_t write_us_, think_us_;
    std::vector<Waiter> waiters_;
    std::priority_queue<Coming> coming_;
    std::deque<Write> writes_;
    std::uint64_t now_us_ = 0, clients_us_ = 0, answered_ = 0, writes_begun_ = 0;
    bool look_ = false, is_moving_ = false;
};

/// Upper bound for 64 clients: write, answer and read, and the clients' own time.
std::uint64_t bound(std::uint64_t write_us, std::uint64_t think_us) {
    return 64'000'000 / (write_us + think_us + 21);
}

TEST(LanePaceSimulation, SixtyFourClientsShareFewSlowWrites) {
    for (const std::uint64_t write_us : {2100U, 4200U}) {
        for (const std::uint64_t think_us : {50U, 200U, 400U}) {
            ClosedLoop loop(64, write_us, think_us);
            const std::uint64_t answered = loop.run();
            EXPECT_GE(answered * 100, bound(write_us, think_us) * 65)
                << write_us << " us a write, " << think_us << " us between answer and request";
            EXPECT_GE(answered, 20 * loop.writes());
        }
    }
}

TEST(LanePaceSimulation, OneClientWaitsForNothingButItsWrite) {
    for (const std::uint64_t write_us : {60U, 2100U}) {
        ClosedLoop loop(1, write_us, 50);
        const std::uint64_t answered = loop.run();
        EXPECT_GE(answered * 100, 1'000'000 / (write_us + 50 + 21) * 95);
        EXPECT_LE(loop.writes(), answered + 1);
    }
}

}  // namespace
}  // namespace sluice
