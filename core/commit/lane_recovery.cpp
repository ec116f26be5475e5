#include "core/commit/lane_recovery.hpp"

#include <algorithm>

namespace sluice {
namespace {

/// What lies behind a batch that does not check.
struct Followers {
    std::uint64_t count = 0;
    std::uint64_t behind_max = 0;
    std::uint64_t answered_max = 0;

    void saw(const LaneBatchHead& head) noexcept {
        behind_max = std::max<std::uint64_t>(behind_max, head.behind);
        answered_max = std::max(answered_max, head.answered);
    }
};

/// Every block up to the end of what can have been written is looked at: where the bad batch ends
/// is not known.
Result<Followers> look_behind(LaneSource& source, const LaneKnown& known, std::uint64_t bad) {
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
        found.saw((*batch)->head());
        at = (*batch)->head().end();
    }
    return found;
}

}  // namespace

Result<std::optional<LaneBatch>> read_lane_batch(LaneSource& source, const LaneIdentity& identity,
                                                 std::uint64_t position) {
    Result<std::string_view> block = source.read(position, kLaneBlockBytes);
    if (!block) {
        return block.error();
    }
    const auto claimed = LaneBatch::bytes_claimed(*block, identity, position);
    if (!claimed) {
        return std::optional<LaneBatch>();
    }
    if (*claimed > kLaneBlockBytes) {
        block = source.read(position, *claimed);
        if (!block) {
            return block.error();
        }
    }
    return LaneBatch::read(*block, identity, position);
}

Error lane_damage(const LaneKnown& known, std::uint64_t position, const char* what) {
    return {ErrorCode::kCorrupt,
            "is damaged at position " + std::to_string(position) + " (byte " +
                std::to_string(kLaneBlockBytes + position % known.size) + " of the file): " + what +
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
                           "the batch that was moved last is not there, so this is an older copy "
                           "of the file, or it was overwritten");
    }
    return Status::success();
}

Result<std::uint64_t> walk_lane(LaneSource& source, const LaneKnown& known,
                                const std::function<void(const LaneBatchHead&)>& saw) {
    std::uint64_t end = known.moved;
    while (end < known.floor + known.size) {
        Result<std::optional<LaneBatch>> batch = read_lane_batch(source, known.identity, end);
        if (!batch) {
            return batch.error();
        }
        if (!*batch) {
            break;
        }
        if (saw) {
            saw((*batch)->head());
        }
        end = (*batch)->head().end();
    }
    return end;
}

Result<std::uint64_t> find_lane_end(LaneSource& source, const LaneKnown& known) {
    Followers seen;
    const Result<std::uint64_t> walked =
        walk_lane(source, known, [&](const LaneBatchHead& head) { seen.saw(head); });
    if (!walked) {
        return walked;
    }
    const std::uint64_t end = *walked;
    if (known.durable && end < *known.durable) {
        return lane_damage(known, end, "a batch that was durable does not check");
    }
    const Result<Followers> behind = look_behind(source, known, end);
    if (!behind) {
        return behind.error();
    }
    if (behind->answered_max > end) {
        return lane_damage(known, end, "a batch whose events were answered does not check");
    }
    if (behind->count > std::max(seen.behind_max, behind->behind_max)) {
        return lane_damage(known, end, "more batches follow than can have been under way");
    }
    return end;
}

}  // namespace sluice
