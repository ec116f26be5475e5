#include "tool/send/limit_share.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <vector>

namespace sluice::cli {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using testing::AllOf;
using testing::Each;
using testing::Ge;
using testing::Le;

const Clock::time_point kStart{seconds(1'000'000)};

/// A server with a limit of 600 a minute, whose windows end at 60, 120, ... s behind kStart, and a
/// run that sends as fast as it may. Answers come 5 ms later.
class SharedLimit : public testing::Test {
protected:
    static constexpr std::uint64_t kLimit = 600;

    /// @param others  Requests of live traffic in each second.
    /// @return requests of the run in each window of `windows`.
    std::vector<std::uint64_t> run(LimitShare& share, unsigned windows, std::uint64_t others) {
        std::vector<std::uint64_t> sent(windows);
        std::vector<std::uint64_t> used(windows);
        for (auto now = kStart; now < kStart + windows * seconds(60); now += milliseconds(5)) {
            const auto passed = std::chrono::duration_cast<milliseconds>(now - kStart);
            const auto window = static_cast<std::size_t>(passed / seconds(60));
            used[window] += passed % seconds(1) == milliseconds(0) ? others : 0;
            for (auto at = share.next_start(now); at && *at <= now; at = share.next_start(now)) {
                share.started(now);
                ++sent[window];
                const std::uint64_t taken = std::min(++used[window], kLimit);
                const auto reset = static_cast<std::int64_t>(window + 1) * 60;
                const std::int64_t left = reset - passed.count() / 1000;
                share.answered(RateWindow{kLimit, kLimit - taken, reset, left}, true, now);
            }
        }
        return sent;
    }
};

TEST_F(SharedLimit, TakesItsPartOfEveryWindowAndNoMore) {
    LimitShare half(50);
    EXPECT_THAT(run(half, 3, 0), Each(AllOf(Ge(298U), Le(300U))));
    LimitShare tenth(10);
    EXPECT_THAT(run(tenth, 2, 1), Each(AllOf(Ge(58U), Le(60U))));
    EXPECT_EQ(tenth.text(), "takes 60 of 600 requests a window");
}

TEST_F(SharedLimit, LeavesTheShareOfLiveTraffic) {
    LimitShare half(50);  // 360 of 600 are others'
    EXPECT_THAT(run(half, 3, 6), Each(AllOf(Ge(180U), Le(245U))));
    LimitShare crowded(50);  // 540 of 600
    EXPECT_THAT(run(crowded, 3, 9), Each(AllOf(Ge(30U), Le(70U))));
}

TEST_F(SharedLimit, SpreadsTheRestOverTheWindow) {
    LimitShare half(50);
    std::uint64_t early = 0;
    half.started(kStart);
    half.answered(RateWindow{kLimit, kLimit - 1, 60, 60}, true, kStart);
    for (auto now = kStart; now < kStart + seconds(30); now += milliseconds(5)) {
        for (auto at = half.next_start(now); at && *at <= now; at = half.next_start(now)) {
            half.started(now);
            half.answered(RateWindow{kLimit, kLimit / 2, 60, 30}, true, now);
            ++early;
        }
    }
    EXPECT_NEAR(static_cast<double>(early), 37 + 263 / 2, 5);
}

TEST(LimitShare, OneRequestFindsOutAndTheOthersWaitForItsAnswer) {
    LimitShare half(50);
    EXPECT_EQ(half.next_start(kStart), kStart);
    half.started(kStart);
    EXPECT_EQ(half.next_start(kStart), std::nullopt);
    half.answered(std::nullopt, false, kStart);  // no answer: nothing is known
    EXPECT_EQ(half.next_start(kStart), kStart);
    half.started(kStart);
    EXPECT_EQ(half.next_start(kStart), std::nullopt);
    half.answered(std::nullopt, true, kStart);  // accepted, without a limit
    for (int i = 0; i < 100; ++i) {
        EXPECT_EQ(half.next_start(kStart), kStart);
        half.started(kStart);
    }
    EXPECT_EQ(half.text(), std::nullopt);
}

TEST(LimitShare, TheWholeLimitIsUsedOnlyOnRequest) {
    LimitShare all(100);
    for (int i = 0; i < 1000; ++i) {
        EXPECT_LE(all.next_start(kStart), kStart);
        all.started(kStart);
        all.answered(RateWindow{600, 0, 60, 60}, false, kStart);
    }
    EXPECT_EQ(all.text(), std::nullopt);
}

TEST(LimitShare, ATinyLimitStillLetsOneRequestThrough) {
    LimitShare half(50);
    half.started(kStart);
    half.answered(RateWindow{1, 0, 60, 60}, true, kStart);
    EXPECT_EQ(half.next_start(kStart), kStart + seconds(60));
    EXPECT_EQ(half.next_start(kStart + seconds(60)), kStart + seconds(60));
}

}  // namespace
}  // namespace sluice::cli
