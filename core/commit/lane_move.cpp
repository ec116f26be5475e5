#include "core/commit/lane_move.hpp"

#include <algorithm>
#include <vector>

namespace sluice {
namespace {

/// A lane during a move.
struct Open {
    LaneKnown known;
    std::uint64_t at = 0;
    std::uint64_t end = 0;
    std::optional<LaneBatch> next;
};

Result<std::uint64_t> find_end(LaneSource& source, const LaneKnown& known) {
    if (known.durable) {
        return *known.durable;
    }
    // The writer lives and its cell is unknown, so every valid batch counts. Such a batch may not
    // be durable yet, and the row must not name a batch that a power cut takes back.
    Result<std::uint64_t> end = walk_lane(source, known);
    if (!end || *end == known.moved) {
        return end;
    }
    Status synced = source.sync();
    return synced ? end : Result<std::uint64_t>(synced.error());
}

Status read_next(LaneSource& source, Open& lane) {
    lane.next.reset();
    if (lane.at >= lane.end) {
        return Status::success();
    }
    Result<std::optional<LaneBatch>> batch = read_lane_batch(source, lane.known.identity, lane.at);
    if (!batch) {
        return batch.error();
    }
    if (!*batch) {
        return lane_damage(lane.known, lane.at, "a batch that was durable is invalid");
    }
    lane.next = **batch;
    return Status::success();
}

Result<std::vector<Open>> open_lanes(MoveWorld& world) {
    std::vector<Open> lanes;
    for (std::size_t i = 0; i < world.lanes(); ++i) {
        const LaneKnown known = world.probe(i);
        const Result<std::uint64_t> end = find_end(world.source(i), known);
        if (!end) {
            return world.named(i, end.error());
        }
        lanes.push_back({known, known.moved, *end, std::nullopt});
        if (Status read = read_next(world.source(i), lanes.back()); !read) {
            return world.named(i, read.error());
        }
    }
    return lanes;
}

/// Returns true if `left` is moved first. Stamps of different boots are not comparable, so batches
/// of an earlier boot come first.
bool is_before(const LaneBatchHead& left, const LaneBatchHead& right, const Uuid& boot) noexcept {
    const bool left_now = left.boot == boot;
    const bool right_now = right.boot == boot;
    return left_now != right_now ? right_now : left.stamp_ns < right.stamp_ns;
}

std::optional<std::size_t> first_up_to(const std::vector<Open>& lanes, std::uint64_t cut_ns,
                                       const Uuid& boot) noexcept {
    std::optional<std::size_t> first;
    for (std::size_t i = 0; i < lanes.size(); ++i) {
        if (!lanes[i].next) {
            continue;
        }
        const LaneBatchHead& head = lanes[i].next->head();
        const bool in_time = head.boot != boot || head.stamp_ns <= cut_ns;
        if (in_time && (!first || is_before(head, lanes[*first].next->head(), boot))) {
            first = i;
        }
    }
    return first;
}

Status put_batch(MoveWorld& world, std::size_t lane, const LaneBatch& batch) {
    Status put = Status::success();
    std::uint32_t index = 0;
    batch.for_each_record([&](std::string_view record) {
        if (put) {
            put = world.put(lane, batch.head().offset, index++, record);
        }
    });
    return put;
}

}  // namespace

Result<Moved> move_lanes(MoveWorld& world, std::uint64_t bytes_max) {
    const std::uint64_t cut_ns = world.now_ns();
    Result<std::vector<Open>> lanes = open_lanes(world);
    if (!lanes) {
        return lanes.error();
    }
    Moved moved;
    while (const auto first = first_up_to(*lanes, cut_ns, world.boot())) {
        if (moved.bytes >= bytes_max) {
            moved.more = true;
            break;
        }
        Open& lane = (*lanes)[*first];
        const LaneBatchHead head = lane.next->head();
        if (Status put = put_batch(world, *first, *lane.next); !put) {
            return put.error();
        }
        world.moved(*first, head);
        moved.records += head.count;
        moved.bytes += head.bytes;
        ++moved.batches;
        lane.at = head.end();
        if (Status read = read_next(world.source(*first), lane); !read) {
            return world.named(*first, read.error());
        }
    }
    for (const Open& lane : *lanes) {
        moved.left += lane.end - std::min(lane.end, lane.at);
    }
    return moved;
}

}  // namespace sluice
