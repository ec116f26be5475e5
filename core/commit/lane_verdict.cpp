#include "core/commit/lane_verdict.hpp"

#include <algorithm>

namespace sluice {
namespace {

/// Valid batches after an invalid one.
struct Followers {
    std::uint64_t count = 0;
    std::uint64_t in_flight_max = 0;
    std::uint64_t answered_max = 0;

    void add(const LaneBatchHead& head) noexcept {
        in_flight_max = std::max<std::uint64_t>(in_flight_max, head.in_flight);
        answered_max = std::max(answered_max, head.answered);
    }
};

/// Checks every block that can have been written after `bad`, because the invalid batch's end is
/// not known.
Result<Followers> find_followers(LaneSource& source, const LaneKnown& known, std::uint64_t bad) {
    Followers found;
    for (std::uint64_t at = bad + kLaneBlockBytes; at < known.floor + known.size;) {
        Result<std::optional<LaneBatch>> batch = read_lane_batch(source, known.identity, at);
        if (!batch) {
            return batch.error();
        }
        if (!*batch) {
            at += kLaneBlockBytes;
            continue;
        }
        ++found.count;
        found.add((*batch)->head());
        at = (*batch)->head().end();
    }
    return found;
}

}  // namespace

Result<std::optional<LaneBatch>> read_lane_batch(LaneSource& source, const LaneIdentity& identity,
                                                 std::uint64_t offset) {
    Result<std::string_view> block = source.read(offset, kLaneBlockBytes);
    if (!block) {
        return block.error();
    }
    const auto claimed = LaneBatch::bytes_claimed(*block, identity, offset);
    if (!claimed) {
        return std::optional<LaneBatch>();
    }
    if (*claimed > kLaneBlockBytes) {
        block = source.read(offset, *claimed);
        if (!block) {
            return block.error();
        }
    }
    return LaneBatch::read(*block, identity, offset);
}

Error lane_damage(const LaneKnown& known, std::uint64_t offset, const char* what) {
    return {ErrorCode::kCorrupt,
            "is damaged at offset " + std::to_string(offset) + " (byte " +
                std::to_string(kLaneBlockBytes + offset % known.size) + " of the file): " + what +
                "; nothing was changed. Stop nginx and the worker and restore the store from a "
                "backup"};
}

Status check_lane_floor(LaneSource& source, const LaneKnown& known) {
    Result<std::optional<LaneBatch>> last = read_lane_batch(source, known.identity, known.floor);
    if (!last) {
        return last.error();
    }
    if (!*last || (*last)->head().crc != known.floor_crc || (*last)->head().end() != known.moved) {
        return lane_damage(known, known.floor,
                           "the batch that was moved last is missing, so this is an older copy of "
                           "the file, or it was overwritten");
    }
    return Status::success();
}

Result<std::uint64_t> walk_lane(LaneSource& source, const LaneKnown& known,
                                const std::function<void(const LaneBatchHead&)>& visit) {
    std::uint64_t end = known.moved;
    while (end < known.floor + known.size) {
        Result<std::optional<LaneBatch>> batch = read_lane_batch(source, known.identity, end);
        if (!batch) {
            return batch.error();
        }
        if (!*batch) {
            break;
        }
        if (visit) {
            visit((*batch)->head());
        }
        end = (*batch)->head().end();
    }
    return end;
}

Result<std::uint64_t> find_lane_end(LaneSource& source, const LaneKnown& known) {
    Followers before;
    const Result<std::uint64_t> walked =
        walk_lane(source, known, [&](const LaneBatchHead& head) { before.add(head); });
    if (!walked) {
        return walked;
    }
    const std::uint64_t end = *walked;
    if (known.durable && end < *known.durable) {
        return lane_damage(known, end, "a batch that was durable is invalid");
    }
    if (known.durable) {
        return end;
    }
    const Result<Followers> after = find_followers(source, known, end);
    if (!after) {
        return after.error();
    }
    if (after->answered_max > end) {
        return lane_damage(known, end, "a batch whose events were answered is invalid");
    }
    if (after->count > std::max(before.in_flight_max, after->in_flight_max)) {
        return lane_damage(known, end, "more batches follow than can have been in flight");
    }
    return end;
}

Result<bool> holds_earlier_boot(LaneSource& source, const LaneKnown& known, const Uuid& boot) {
    // Only an empty lane gets a new owner, so the oldest batch has the earliest boot.
    const Result<std::optional<LaneBatch>> oldest =
        read_lane_batch(source, known.identity, known.moved);
    if (!oldest) {
        return oldest.error();
    }
    return *oldest && (*oldest)->head().boot != boot;
}

Result<std::uint64_t> settle_lane(LaneSource& source, const LaneKnown& known) {
    if (Status there = check_lane_floor(source, known); !there) {
        return there.error();
    }
    Result<std::uint64_t> end = find_lane_end(source, known);
    if (!end || known.durable == *end) {
        return end;
    }
    // The writer died between a write and its sync, or nothing is known about the lane.
    Status synced = source.sync();
    return synced ? end : Result<std::uint64_t>(synced.error());
}

}  // namespace sluice
