// Lanes while each call to LMDB or the system fails in turn: a published record is in the queue at
// the end, once and in order, and no failed operation is reported as done.
#include <gmock/gmock.h>
#include <lmdb.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <functional>
#include <utility>

#include "unit/lmdb_store/failing_calls.hpp"
#include "unit/lmdb_store/lanes/fixture.hpp"

namespace sluice::store {
namespace {

class LaneCallsTest : public LanesTest {
protected:
    /// Acts like a restart of the machine's processes: a new master, everything reopened.
    void start_anew() {
        queue_.reset();
        open({.map_bytes = 1U << 26});
        queue_->control().clear_latch();
        ASSERT_TRUE(queue_->recover_lanes().ok());
    }
    /// Fails each call of `act` once, for each kind and error; `act` may fail or not. In either
    /// case, records that were published before must exist afterwards.
    /// @param owned  The lane's process lives on meanwhile.
    int fail_each_of(const std::function<void()>& act, bool owned) {
        int struck = 0;
        using Trouble = std::pair<std::string_view, int>;
        for (const auto& [family, error] : std::to_array<Trouble>({{kSystem, EIO},
                                                                   {kSystem, ENOSPC},
                                                                   {kSystem, EMFILE},
                                                                   {kLmdb, EIO},
                                                                   {kLmdb, MDB_MAP_FULL},
                                                                   {kLmdb, ENOMEM}})) {
            struck += fail_each([&, which = family, why = error](int nth) {
                const std::string name = std::to_string(++events_);
                std::optional<Lane> lane(std::in_place, *queue_);
                EXPECT_TRUE(lane->ok());
                lane->write({name + " a", name + " b"});
                lane->write({name + " c"});
                expected_.insert(expected_.end(), {name + " a", name + " b", name + " c"});
                if (!owned) {
                    lane.reset();
                }
                FailingCall call(which, nth, why);
                act();
                call.disarm();
                lane.reset();
                start_anew();
                EXPECT_EQ(bodies_from(1), expected_) << call.name() << " " << why;
                return call.struck() && !HasFailure();
            });
        }
        return struck;
    }

    std::vector<std::string> expected_;
    int events_ = 0;
};

TEST_F(LaneCallsTest, L3AMoveThatFailsMovesNothingOrAllOnce) {
    open({.map_bytes = 1U << 26});
    EXPECT_GE(fail_each_of([&] { static_cast<void>(queue_->move_lanes()); }, true), 30);
}

TEST_F(LaneCallsTest, L4ARecoveryThatFailsLosesAndDoublesNothing) {
    open({.map_bytes = 1U << 26});
    EXPECT_GE(fail_each_of([&] { static_cast<void>(queue_->recover_lanes()); }, false), 30);
}

TEST_F(LaneCallsTest, L4TakingALaneThatFailsLosesAndDoublesNothing) {
    open({.map_bytes = 1U << 26});
    EXPECT_GE(fail_each_of(
                  [&] {
                      auto taken = queue_->take_lane();
                      EXPECT_TRUE(!taken.ok() || *taken != nullptr || queue_->latched());
                  },
                  false),
              50);
}

TEST_F(LaneCallsTest, L3AnAppendThatFailsToMoveStoresNothingInFrontOfLanes) {
    open({.map_bytes = 1U << 26});
    EXPECT_GE(fail_each_of(
                  [&] {
                      const std::string body = "direct " + std::to_string(++events_);
                      const AppendItem item = append({body})[0];
                      if (item.outcome == AppendOutcome::kStored) {
                          expected_.push_back(body);
                      }
                      EXPECT_NE(item.outcome, AppendOutcome::kPending);
                  },
                  true),
              50);
}

/// Error of a file system without O_DIRECT.
TEST_F(LaneCallsTest, L1WhereODirectIsRefusedAWriteIsCopiedAndSynced) {
    const auto path = paths_.lanes / "made";
    const LaneHead head{{Uuid{1}, Uuid{2}}, 64U << 10};
    {
        const FailingCall call("sys_open", 0, EINVAL);
        ASSERT_TRUE(LaneFile::create(path, head, {}, true).ok());
        EXPECT_TRUE(call.struck());
    }
    const FailingCall refused("sys_open", 0, EINVAL);
    auto lane = LaneFile::open(path, true);
    ASSERT_TRUE(lane.ok()) << lane.error().message;
    EXPECT_FALSE(lane->is_direct());
    const AlignedBytes bytes = allocate_aligned(2 * kLaneBlockBytes);
    std::fill_n(bytes.get(), 2 * kLaneBlockBytes, 'x');
    const std::uint64_t over_the_end = head.bytes - kLaneBlockBytes;
    EXPECT_EQ(lane->write(over_the_end, {bytes.get(), 2 * kLaneBlockBytes}), 0);
    std::fill_n(bytes.get(), 2 * kLaneBlockBytes, '-');
    EXPECT_EQ(lane->read(over_the_end, bytes.get(), 2 * kLaneBlockBytes), 0);
    EXPECT_EQ(std::string(bytes.get(), 2 * kLaneBlockBytes), std::string(2 * kLaneBlockBytes, 'x'));
}

TEST_F(LaneCallsTest, L1ACopiedWriteIsDurableOnlyOnceItIsSynced) {
    const auto path = paths_.lanes / "made";
    ASSERT_TRUE(LaneFile::create(path, {{Uuid{1}, Uuid{2}}, 64U << 10}, {}, true).ok());
    std::optional<FailingCall> call(std::in_place, "sys_open", 0, EINVAL);
    auto lane = LaneFile::open(path, true);
    call.reset();
    ASSERT_TRUE(lane.ok() && !lane->is_direct());
    const AlignedBytes bytes = allocate_aligned(kLaneBlockBytes);
    std::fill_n(bytes.get(), kLaneBlockBytes, 'x');
    call.emplace("sys_fdatasync", 0, EIO);
    EXPECT_EQ(lane->write(0, {bytes.get(), kLaneBlockBytes}), EIO);
}

}  // namespace
}  // namespace sluice::store
