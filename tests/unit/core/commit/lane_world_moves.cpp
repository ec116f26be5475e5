// Actions of the world's processes on lanes and queue: moving, recovering, claiming.
#include <algorithm>

#include "unit/core/commit/lane_world.hpp"

namespace sluice::sim {
namespace {

constexpr std::size_t kLanesMax = 40;

class RingSource final : public LaneSource {
public:
    explicit RingSource(Lane& lane) : lane_(lane) {}
    Result<std::string_view> read(std::uint64_t position, std::uint64_t bytes) override {
        copy_.clear();
        for (std::uint64_t at = 0; at < bytes; at += kLaneBlockBytes) {
            copy_.append(lane_.ring.data() + (position + at) % lane_.ring.size(), kLaneBlockBytes);
        }
        return std::string_view(copy_);
    }
    Status sync() override {
        lane_.unsynced.clear();
        return Status::success();
    }

private:
    Lane& lane_;
    std::string copy_;
};

LaneKnown known_of(const Lane& lane, int boot) {
    LaneKnown known{lane.head.identity, lane.head.bytes,    lane.row.moved,
                    lane.row.floor,     lane.row.floor_crc, std::nullopt};
    if (lane.cell.boot == boot) {
        known.durable = lane.cell.durable;
    }
    return known;
}

}  // namespace

/// A move in its transaction; nothing of it counts before commit_move().
class World::Moving final : public MoveWorld {
public:
    /// @param cut_ns_max  When the first of several transactions began.
    explicit Moving(World& world, std::uint64_t cut_ns_max = ~std::uint64_t{0})
        : world_(world), cut_ns_max_(cut_ns_max) {
        boot_ = uuid_of(3, static_cast<std::uint64_t>(world.boot_));
        for (const auto& lane : world.lanes_) {
            sources_.push_back(std::make_unique<RingSource>(*lane));
            rows_.push_back(lane->row);
        }
    }

    std::uint64_t now_ns() override {
        world_.others_run();
        const std::uint64_t now = world_.read_clock();
        world_.others_run();
        return std::min(now, cut_ns_max_);
    }
    const Uuid& boot() const override { return boot_; }
    std::size_t lanes() const override { return rows_.size(); }
    LaneKnown probe(std::size_t lane) override {
        world_.others_run();
        LaneKnown known = known_of(*world_.lanes_[lane], world_.boot_);
        known.moved = rows_[lane].moved;
        known.floor = rows_[lane].floor;
        known.floor_crc = rows_[lane].floor_crc;
        return known;
    }
    LaneSource& source(std::size_t lane) override { return *sources_[lane]; }
    Status put(std::size_t, std::uint64_t, std::uint32_t, std::string_view record) override {
        if (world_.chance(world_.resting_ ? 0 : world_.faults_.queue_full)) {
            ++world_.faults_seen_;
            return Error{ErrorCode::kFull, "full"};
        }
        records.push_back(std::stoi(std::string(record)));
        return Status::success();
    }
    void moved(std::size_t lane, const LaneBatchHead& last) override {
        rows_[lane] = {last.end(), last.offset, last.crc};
        world_.others_run();
    }
    Error named(std::size_t lane, const Error& error) const override {
        return {error.code, "lane " + std::to_string(lane) + " " + error.message};
    }

    std::vector<int> records;
    std::vector<Row> rows_;

private:
    World& world_;
    std::uint64_t cut_ns_max_;
    Uuid boot_{};
    std::vector<std::unique_ptr<RingSource>> sources_;
};

bool World::commit_move(int id, Moving& moving, const Result<Moved>& moved) {
    if (!moved) {
        if (moved.error().code == ErrorCode::kCorrupt) {
            wrong(moved.error().message);
        }
        return false;
    }
    if (process(id) == nullptr) {
        return false;  // killed within its transaction
    }
    for (std::size_t i = 0; i < moving.rows_.size(); ++i) {
        lanes_[i]->row = moving.rows_[i];
    }
    queue_.insert(queue_.end(), moving.records.begin(), moving.records.end());
    return true;
}

void World::publish_floors(const Moving& moving) {
    for (std::size_t i = 0; i < moving.rows_.size(); ++i) {
        lanes_[i]->cell.floor = moving.rows_[i].floor;
        lanes_[i]->cell.moved = moving.rows_[i].moved;
    }
}

void World::move(Process& mover) {
    const int id = mover.id;
    const int boot = boot_;
    const std::uint64_t began_ns = read_clock();
    for (bool more = !locked_; more;) {
        locked_ = true;
        Moving moving(*this, began_ns);
        const Result<Moved> moved = move_lanes(moving, 1 + below(6 * lane_bytes_));
        const bool committed = boot == boot_ && commit_move(id, moving, moved);
        locked_ = false;
        others_run();
        more = committed && boot == boot_ && moved->more && !locked_;
        if (committed && boot == boot_) {
            publish_floors(moving);
        }
    }
    if (Process* still = process(id)) {
        still->wants_move = false;
        LaneEngine::Actions actions;
        if (still->lane) {
            const Cell& cell = lanes_[*still->lane]->cell;
            still->engine.room(cell.floor, cell.moved);
        }
        still->engine.moved(now_ms(), actions);
        perform(*still, actions);
    }
}

/// A catalog batch, a command, a large order: all lanes first, in the same transaction.
void World::append_directly(Process& appender) {
    if (locked_ || latched_) {
        return;
    }
    auto owned = std::make_unique<Event>();
    Event& event = *owned;
    event.id = ++last_event_;
    event.sent_at = step_;
    event.over = true;
    events_[event.id] = std::move(owned);
    const int id = appender.id;
    const int boot = boot_;
    const std::uint64_t arrived_ns = read_clock();
    others_run();
    for (bool more = boot == boot_ && !locked_ && process(id) != nullptr; more;) {
        locked_ = true;
        Moving moving(*this, arrived_ns);
        const Result<Moved> moved = move_lanes(moving, lane_bytes_);
        more = moved.ok() && moved->more;
        if (moved.ok() && !more) {
            moving.records.push_back(event.id);
        }
        const bool committed = boot == boot_ && commit_move(id, moving, moved);
        locked_ = false;
        if (!committed) {
            return;
        }
        publish_floors(moving);
        if (!more) {
            event.acked_at = step_;
            ++acked_;
        }
    }
}

/// Finds the end of every lane without an owner, once.
bool World::settle() {
    for (const auto& lane : lanes_) {
        if (lane->owner != 0) {
            continue;
        }
        RingSource source(*lane);
        const Result<std::uint64_t> end = settle_lane(source, known_of(*lane, boot_));
        if (!end) {
            wrong(end.error().message);
            return false;
        }
        lane->cell = {*end, lane->row.floor, lane->row.moved, boot_};
    }
    return true;
}

/// Moves all lanes before any request is answered.
bool World::recover() {
    if (!settle()) {
        return false;
    }
    for (bool more = true; more;) {
        Moving moving(*this);
        const Result<Moved> moved = move_lanes(moving, lane_bytes_);
        if (!moved) {
            if (moved.error().code == ErrorCode::kCorrupt) {
                wrong(moved.error().message);
            }
            return false;
        }
        more = moved->more;
        for (std::size_t i = 0; i < moving.rows_.size(); ++i) {
            lanes_[i]->row = moving.rows_[i];
        }
        queue_.insert(queue_.end(), moving.records.begin(), moving.records.end());
        publish_floors(moving);
    }
    return true;
}

/// Returns a lane without an owner whose records are all in the queue.
std::optional<std::size_t> World::find_empty_lane() const {
    for (std::size_t at = 0; at < lanes_.size(); ++at) {
        const Lane& lane = *lanes_[at];
        if (lane.owner == 0 && lane.cell.boot == boot_ && lane.cell.durable == lane.row.moved) {
            return at;
        }
    }
    return std::nullopt;
}

/// A large backlog waits, unless there is no room for another lane.
void World::take_lane(Process& process) {
    // No other process runs in between: the lock is held, and a settled lane has no writer.
    depth_ += kDepthMax;
    if (process.lane) {
        lanes_[*process.lane]->owner = 0;
        process.lane.reset();
    }
    bool settled = settle();
    const bool earlier = std::any_of(lanes_.begin(), lanes_.end(), [this](const auto& lane) {
        RingSource source(*lane);
        const LaneKnown known = known_of(*lane, boot_);
        return known.durable > known.moved &&
               *holds_earlier_boot(source, known, uuid_of(3, static_cast<std::uint64_t>(boot_)));
    });
    if (settled && earlier) {
        settled = recover();
    }
    std::optional<std::size_t> empty = find_empty_lane();
    if (settled && !empty && (lanes_.size() == kLanesMax || below(2) == 0)) {
        settled = recover();
        empty = find_empty_lane();
    }
    depth_ -= kDepthMax;
    if (!settled) {
        process.wants_reopen = true;
        return;
    }
    const bool is_new = !empty;
    const std::size_t at = empty.value_or(lanes_.size());
    if (is_new) {
        if (lanes_.size() == kLanesMax) {
            wrong("lanes are not given back");
            return;
        }
        auto lane = std::make_unique<Lane>();
        lane->head = {{store_, uuid_of(2, lanes_.size() + 1)}, lane_bytes_};
        lane->ring.resize(lane_bytes_);
        lanes_.push_back(std::move(lane));
    }
    Lane& lane = *lanes_[at];
    // A lap further on: nothing that lies there can pass for what is written from now on.
    LaneBatchHead head;
    head.offset = is_new ? 0 : lane.row.moved + lane.head.bytes;
    head.stamp_ns = read_clock();
    head.boot = uuid_of(3, static_cast<std::uint64_t>(boot_));
    std::string buffer(kLaneBlockBytes, '\0');
    LaneBatchWriter writer({buffer.data(), buffer.size()});
    static_cast<void>(writer.finish(lane.head.identity, head));
    put_ring(lane, head.offset, buffer);
    lane.unsynced.clear();
    if (!resting_ && !is_new && chance(faults_.kill * 5)) {
        die(process);  // between the opening batch and its row
        return;
    }
    lane.row = {head.end(), head.offset, head.crc};
    lane.cell = {head.end(), head.offset, head.end(), boot_};
    lane.owner = process.id;
    process.lane = at;
    process.engine.opened(lane.head.bytes, head.end(), head.offset);
}

}  // namespace sluice::sim
