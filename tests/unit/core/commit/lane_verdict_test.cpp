// Verdicts on the ends of lanes: torn tails are cut off, damage is refused by position.
#include "core/commit/lane_verdict.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <string>
#include <vector>

namespace sluice {
namespace {

constexpr std::uint64_t kSize = 64 * kLaneBlockBytes;

/// A ring in memory whose first batch, at 0, was moved.
class Ring final : public LaneSource {
public:
    Ring() {
        known.size = kSize;
        append();
        known.moved = end;
        known.floor = 0;
        known.floor_crc = crc;
    }

    Result<std::string_view> read(std::uint64_t position, std::uint64_t bytes) override {
        copy_.clear();
        bytes_read += bytes;
        for (std::uint64_t at = 0; at < bytes; ++at) {
            copy_ += ring_[(position + at) % kSize];
        }
        return std::string_view(copy_);
    }

    Status sync() override {
        ++syncs;
        return sync_fails ? Status(Error{ErrorCode::kIo, "sync"}) : Status::success();
    }

    /// One more batch. Its position.
    std::uint64_t append(std::uint64_t answered = 0, std::uint64_t blocks = 1) {
        LaneBatchHead head;
        head.offset = end;
        head.answered = answered;
        head.in_flight = 1;
        std::string buffer(blocks * kLaneBlockBytes, '\0');
        LaneBatchWriter writer({buffer.data(), buffer.size()});
        writer.add(std::string((blocks - 1) * kLaneBlockBytes + 100, 'r'), {});
        const std::string_view bytes = writer.finish(known.identity, head);
        for (std::size_t at = 0; at < bytes.size(); ++at) {
            ring_[(end + at) % kSize] = bytes[at];
        }
        crc = head.crc;
        end = head.end();
        return head.offset;
    }
    void damage(std::uint64_t position) { ring_[(position + 200) % kSize] ^= 1; }
    Result<std::uint64_t> find() { return find_lane_end(*this, known); }
    std::string refusal() {
        const auto found = find();
        EXPECT_FALSE(found.ok());
        return found.ok() ? "" : found.error().message;
    }

    LaneKnown known;
    std::uint64_t end = 0;
    std::uint32_t crc = 0;
    int syncs = 0;
    bool sync_fails = false;
    std::uint64_t bytes_read = 0;

private:
    std::string ring_ = std::string(kSize, '\0');
    std::string copy_;
};

TEST(LaneVerdict, L4AnEmptyLaneEndsWhereItWasMoved) {
    Ring ring;
    EXPECT_EQ(*ring.find(), ring.known.moved);
}

TEST(LaneVerdict, L4ValidBatchesAreMovedAndATornTailIsDropped) {
    Ring ring;
    ring.append();
    const std::uint64_t torn = ring.append();
    EXPECT_EQ(*ring.find(), ring.end);
    ring.damage(torn);
    EXPECT_EQ(*ring.find(), torn);
}

TEST(LaneVerdict, L4OneBatchThatWasUnderWayMayFollowATornOne) {
    Ring ring;
    const std::uint64_t torn = ring.append(0, 3);
    ring.append(torn);  // answers had left for what lies below `torn`, and no further
    ring.damage(torn);
    EXPECT_EQ(*ring.find(), torn);
}

TEST(LaneVerdict, L4MoreBatchesThanCanBeUnderWayAreDamage) {
    Ring ring;
    const std::uint64_t bad = ring.append();
    ring.append();
    ring.append();
    ring.damage(bad);
    EXPECT_NE(ring.refusal().find("offset " + std::to_string(bad)), std::string::npos);
}

TEST(LaneVerdict, L4ABatchThatWasAnsweredIsDamageNotATornTail) {
    Ring ring;
    const std::uint64_t bad = ring.append();
    ring.append(bad + kLaneBlockBytes);
    ring.damage(bad);
    EXPECT_NE(ring.refusal().find("answered"), std::string::npos);
}

TEST(LaneVerdict, L4WithinABootDurableBatchesMustBeValid) {
    Ring ring;
    const std::uint64_t bad = ring.append();
    ring.known.durable = ring.end;
    EXPECT_EQ(*ring.find(), ring.end);
    ring.damage(bad);
    EXPECT_NE(ring.refusal().find("durable"), std::string::npos);
}

TEST(LaneVerdict, L10BatchesPastTheDurableEndAreSyncedBeforeTheyCount) {
    Ring ring;
    ring.append();
    ring.known.durable = ring.end;
    EXPECT_EQ(*settle_lane(ring, ring.known), ring.end);
    EXPECT_EQ(ring.syncs, 0) << "nothing lies past it";
    ring.append();
    EXPECT_EQ(*settle_lane(ring, ring.known), ring.end);
    EXPECT_EQ(ring.syncs, 1);
    ring.known.durable.reset();
    EXPECT_EQ(*settle_lane(ring, ring.known), ring.end);
    EXPECT_EQ(ring.syncs, 2);
    ring.sync_fails = true;
    EXPECT_FALSE(settle_lane(ring, ring.known).ok());
}

TEST(LaneVerdict, L10AnEmptyLaneOfThisBootIsNotReadToTheEndOfItsRing) {
    Ring ring;
    ring.known.durable = ring.end;
    EXPECT_EQ(*settle_lane(ring, ring.known), ring.end);
    EXPECT_LE(ring.bytes_read, 2 * kLaneBlockBytes);
}

TEST(LaneVerdict, L10EachByteOfARingIsReadAtMostTwice) {
    Ring ring;
    for (int i = 0; i < 20; ++i) {
        ring.append();
    }
    EXPECT_EQ(*settle_lane(ring, ring.known), ring.end);
    EXPECT_LE(ring.bytes_read, kSize + kLaneBlockBytes) << "the mover reads it once more";
}

TEST(LaneVerdict, L2TheLastLapCannotPassForNew) {
    Ring ring;
    for (int i = 0; i < 63; ++i) {
        ring.append();
    }
    EXPECT_EQ(*ring.find(), kSize);
    ring.known.moved = kSize;
    ring.known.floor = kSize - kLaneBlockBytes;
    ring.known.floor_crc = ring.crc;
    EXPECT_EQ(*ring.find(), kSize) << "the ring is full of batches of the lap before";
    ring.append(0, 4);
    EXPECT_EQ(*ring.find(), kSize + 4 * kLaneBlockBytes);
}

TEST(LaneVerdict, L4AnOlderCopyIsKnownByTheBatchThatWasMovedLast) {
    Ring ring;
    EXPECT_TRUE(check_lane_floor(ring, ring.known).ok());
    Ring older = ring;
    ring.append();
    ring.known.floor = ring.known.moved;
    ring.known.moved = ring.end;
    ring.known.floor_crc = ring.crc;
    EXPECT_TRUE(check_lane_floor(ring, ring.known).ok());
    EXPECT_NE(check_lane_floor(older, ring.known).error().message.find("older copy"),
              std::string::npos);
    ring.known.floor_crc ^= 1;
    EXPECT_FALSE(check_lane_floor(ring, ring.known).ok());
}

}  // namespace
}  // namespace sluice
