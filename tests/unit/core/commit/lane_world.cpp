#include "unit/core/commit/lane_world.hpp"

#include <algorithm>

namespace sluice::sim {

World::World(std::uint64_t seed) : random_(seed) {
    store_ = uuid_of(1, seed);
    const auto either = [this](unsigned in_1000) { return below(2) == 0 ? 0 : in_1000; };
    faults_ = {either(12), either(4), either(6), either(4), either(4), either(60)};
    slowest_us_ = std::uint64_t{1} << (4 + below(10));
    lane_bytes_ = kLaneBlockBytes * (8 + below(80));  // mostly no multiple of the largest batch
    cached_ = below(2) == 0;
    processes_wanted_ = 1 + below(5);
    clients_busy_.resize(1 + below(12));
    for (std::size_t i = 0; i < processes_wanted_; ++i) {
        start_process();
    }
}

void World::wrong(const std::string& what) {
    if (verdict_.empty()) {
        verdict_ = what + " (step " + std::to_string(step_) + ")";
    }
}

std::size_t World::alive() const {
    return static_cast<std::size_t>(std::count_if(processes_.begin(), processes_.end(),
                                                  [](const auto& each) { return each->alive; }));
}

Process* World::process(int id) {
    for (const auto& candidate : processes_) {
        if (candidate->id == id && candidate->alive) {
            return candidate.get();
        }
    }
    return nullptr;
}

void World::run(int steps) {
    for (int i = 0; i < steps && verdict_.empty(); ++i) {
        step();
    }
    come_to_rest();
    if (verdict_.empty()) {
        check();
    }
}

/// Runs the other processes between two steps of one. None of them writes, because this one holds
/// the lock.
void World::others_run() {
    if (depth_ >= kDepthMax) {
        return;
    }
    ++depth_;
    for (std::uint64_t count = below(4); count > 0 && verdict_.empty(); --count) {
        step();
    }
    --depth_;
}

void World::step() {
    ++step_;
    now_ns_ += below(resting_ ? 4'000'000 : slowest_us_ * 300) + 1;
    if (!resting_) {
        if (chance(faults_.power_cut)) {
            power_cut();
        }
        if (chance(faults_.reload)) {
            reload();
        }
        send_something();
        visit();
    }
    if (latched_ && below(20) == 0 && !locked_) {
        unlatch();
    }
    if (depth_ == 0) {  // else a caller further up may still look at one
        std::erase_if(processes_, [](const auto& each) { return !each->alive; });
    }
    if (locked_ && below(10) == 0) {
        static_cast<void>(settle());  // a process starts during a move
    }
    while (alive() < processes_wanted_ && !locked_ && !latched_) {
        start_process();
    }
    if (processes_.empty()) {
        return;
    }
    Process& chosen = *processes_[below(processes_.size())];
    if (!chosen.alive) {
        return;
    }
    if (!resting_ && chance(faults_.kill)) {
        ++faults_seen_;
        die(chosen);
    } else {
        turn(chosen);
    }
}

void World::send_something() {
    const std::size_t client = below(clients_busy_.size());
    if (clients_busy_[client] != 0 || processes_.empty()) {
        return;
    }
    Process& to = *processes_[below(processes_.size())];
    if (!to.alive || (to.quitting && !(to.stays && below(8) == 0))) {
        return;
    }
    // A process that shuts down and has returned its lane appends, unless it began to take another
    // one before.
    if (below(12) == 0 || (to.quitting && !to.lane && below(2) == 0)) {
        append_directly(to);
        return;
    }
    auto event = std::make_unique<Event>();
    event->id = ++last_event_;
    event->client = static_cast<int>(client);
    event->sent_at = step_;
    event->joined_ms = now_ms();
    event->record = std::to_string(event->id);
    if (to.engine.is_open()) {
        event->record.resize(20 + below(to.engine.record_bytes_max() - 20), ' ');
    }
    event->bytes = event->record.size();
    Event& sent = *event;
    events_[sent.id] = std::move(event);
    clients_busy_[client] = sent.id;
    LaneEngine::Actions actions;
    if (latched_ || !to.engine.arrived(sent, actions)) {
        refuse({&sent, 1});
        to.wants_reopen = to.wants_reopen || !to.engine.is_open();
    }
    perform(to, actions);
    flush(to);
}

void World::turn(Process& process) {
    finish_write(process);
    if (!process.alive) {
        return;
    }
    LaneEngine::Actions actions;
    if (process.lane) {
        const Cell& cell = lanes_[*process.lane]->cell;
        process.engine.room(cell.floor, cell.moved);
    }
    if (process.wait_timer_ms && *process.wait_timer_ms <= now_ms()) {
        process.wait_timer_ms.reset();
        refuse(process.engine.overdue(now_ms(), actions));
    }
    if (process.move_timer_ms && *process.move_timer_ms <= now_ms()) {
        process.move_timer_ms.reset();
        process.engine.move_due(now_ms(), actions);
    }
    perform(process, actions);
    if (process.flush_timer_ms && *process.flush_timer_ms <= now_ms()) {
        process.flush_timer_ms.reset();
        flush(process);
    }
    if (process.look) {
        process.look = false;
        LaneEngine::Actions more;
        process.engine.iteration_ended({now_ms(), read_clock()}, more);
        perform(process, more);
    }
    if (process.wants_move && below(2) == 0) {
        move(process);
    }
    const bool quiet = !process.engine.in_flight() && !process.engine.is_open();
    if (process.alive && process.wants_reopen && quiet && !locked_ && !latched_) {
        process.wants_reopen = false;
        take_lane(process);
    }
    const bool idle =
        !process.engine.in_flight() && process.engine.waiting() == 0 && !process.has_clicks();
    if (process.alive && process.quitting && idle && process.writes.empty()) {
        process.stays ? release_lane(process) : die(process);
    }
}

/// The process stays, and other processes may claim its lane.
void World::release_lane(Process& process) {
    if (!process.lane || process.wants_move) {
        return;
    }
    LaneEngine::Actions actions;
    process.engine.close(actions);
    perform(process, actions);
    lanes_[*process.lane]->owner = 0;
    process.lane.reset();
}

void World::finish_write(Process& process) {
    const auto done = std::find_if(process.writes.begin(), process.writes.end(),
                                   [&](const Write& write) { return write.ends_ns <= now_ns_; });
    if (done == process.writes.end()) {
        return;
    }
    const Write write = *done;
    process.writes.erase(done);
    Lane& lane = *lanes_[*process.lane];
    if (write.outcome == LaneWrite::kDurable) {
        put_ring(lane, write.position, write.bytes);
        lane.unsynced.clear();  // its sync covers the file
    } else {
        ++faults_seen_;
        tear(lane, write);
    }
    LaneEngine::Actions actions;
    process.engine.written(write.slot, write.outcome, (now_ns_ - write.began_ns) / 1000, now_ms(),
                           actions);
    perform(process, actions);
    if (write.outcome == LaneWrite::kFailed && process.alive) {
        latch();
    }
}

void World::perform(Process& process, const LaneEngine::Actions& actions) {
    using Do = LaneEngine::Do;
    for (const LaneEngine::Action& action : actions) {
        switch (action.what) {
            case Do::kRunAtIterationEnd:
                process.look = true;
                break;
            case Do::kWrite:
                begin_write(process, action.batch);
                break;
            case Do::kPublish:
                if (lanes_[*process.lane]->cell.durable >= action.value) {
                    wrong("the durable end goes back");
                }
                lanes_[*process.lane]->cell.durable = action.value;
                break;
            case Do::kAnswer:
                answer(process, action.batch);
                break;
            case Do::kRefuse: {
                LaneEngine::Actions more;
                refuse(process.engine.refused(more));
                perform(process, more);
                break;
            }
            case Do::kMove:
                if (std::exchange(process.wants_move, true)) {
                    wrong("two moves of one process");
                }
                break;
            case Do::kSetWaitTimer:
                if (process.wait_timer_ms) {
                    wrong("the wait timer is set twice");
                }
                process.wait_timer_ms = now_ms() + action.value;
                break;
            case Do::kClearWaitTimer:
                if (!process.wait_timer_ms) {
                    wrong("no wait timer to clear");
                }
                process.wait_timer_ms.reset();
                break;
            case Do::kSetMoveTimer:
                if (process.move_timer_ms && *process.move_timer_ms <= now_ms() + action.value) {
                    wrong("the move timer is put off");
                }
                process.move_timer_ms = now_ms() + action.value;
                break;
            case Do::kReopen:
                process.wants_reopen = true;
                break;
        }
    }
}

void World::begin_write(Process& process, std::size_t slot) {
    Lane& lane = *lanes_[*process.lane];
    LaneBatchHead head = process.engine.head_of(slot);
    head.boot = uuid_of(3, static_cast<std::uint64_t>(boot_));
    std::string buffer(head.bytes, '\0');
    LaneBatchWriter writer({buffer.data(), buffer.size()});
    for (Waiter* waiter = process.engine.batch_of(slot).first; waiter != nullptr;
         waiter = waiter->next) {
        writer.add(static_cast<Event*>(waiter)->record, {});
    }
    if (head.end() > lane.row.floor + lane.head.bytes) {
        wrong("what may be read still is overwritten");
    }
    const std::uint64_t bytes = head.bytes;
    if (writer.finish(lane.head.identity, head).size() != bytes) {
        wrong("a batch is not as long as was reckoned");
    }
    for (const Write& other : process.writes) {
        if (other.position < head.end() && head.offset < other.position + other.bytes.size()) {
            wrong("two writes overlap");
        }
    }
    Write write{slot,
                head.offset,
                now_ns_,
                now_ns_ + below(slowest_us_ * 1000) + 1,
                std::move(buffer),
                LaneWrite::kDurable};
    if (!resting_ && chance(faults_.fail)) {
        write.outcome = LaneWrite::kFailed;
    } else if (!resting_ && chance(faults_.no_room)) {
        write.outcome = LaneWrite::kNoRoom;
    }
    process.writes.push_back(std::move(write));
    if (process.writes.size() > LaneEngine::kInFlightMax) {
        wrong("too many writes are under way");
    }
}

void World::answer(Process& process, std::size_t slot) {
    const bool stored = process.engine.outcome_of(slot) == LaneWrite::kDurable;
    const std::uint64_t end = process.engine.head_of(slot).end();
    if (stored && lanes_[*process.lane]->cell.durable < end) {
        wrong("answered before the movers were told");
    }
    for (Waiter* waiter = process.engine.batch_of(slot).first; waiter != nullptr;) {
        Waiter* const next = waiter->next;
        auto& event = static_cast<Event&>(*waiter);
        if (stored) {
            event.acked_at = step_;
            ++acked_;
        }
        refuse({&event, 1});
        waiter = next;
    }
    LaneEngine::Actions actions;
    process.engine.answered(slot, now_ms(), actions);
    perform(process, actions);
}

/// Answers the waiters with a refusal, so that their clients continue.
void World::refuse(WaiterChain chain) {
    for (Waiter* waiter = chain.first; chain.count > 0; --chain.count) {
        auto& event = static_cast<Event&>(*waiter);
        waiter = waiter->next;
        if (std::exchange(event.over, true)) {
            wrong("event " + std::to_string(event.id) + " is answered twice");
        }
        if (event.process != 0) {
            end_clicks(event);
            continue;
        }
        clients_busy_[static_cast<std::size_t>(event.client)] = 0;
    }
}

void World::start_process() {
    auto started = std::make_unique<Process>();
    started->id = ++last_process_;
    Process& process = *started;
    processes_.push_back(std::move(started));
    if (!latched_) {
        take_lane(process);
    } else {
        process.wants_reopen = true;
    }
}

void World::tear(Lane& lane, const Write& write) {
    const std::uint64_t share = below(5) * 250;
    for (std::size_t at = 0; at < write.bytes.size(); at += kSector) {
        if (below(1000) < share) {
            if (cached_ && write.outcome == LaneWrite::kDurable) {
                const auto from = lane.ring.begin() + static_cast<std::ptrdiff_t>(
                                                          (write.position + at) % lane.ring.size());
                lane.unsynced.push_back({write.position + at, std::string(from, from + kSector)});
            }
            put_ring(lane, write.position + at, std::string_view(write.bytes).substr(at, kSector));
        }
    }
}

void World::die(Process& process) {
    if (!process.alive) {
        return;
    }
    process.alive = false;
    for (const Write& write : process.writes) {
        tear(*lanes_[*process.lane], write);
    }
    if (process.lane) {
        lanes_[*process.lane]->owner = 0;
    }
    // Its clients hear nothing any more.
    const auto forget = [this](WaiterChain chain) { refuse(chain); };
    for (std::size_t slot = 0; slot < 2 * LaneEngine::kInFlightMax; ++slot) {
        forget(process.engine.batch_of(slot));
    }
    LaneEngine::Actions ignored;
    forget(process.engine.refused(ignored));
    process.ring.take(kRingClicks,
                      [this](const BufferedClick& click) { clicks_[click.at_ms] = Fate::kKilled; });
}

void World::power_cut() {
    ++faults_seen_;
    for (const auto& each : processes_) {
        die(*each);
    }
    for (const auto& lane : lanes_) {
        // The oldest contents of a sector that was written twice are restored last.
        for (auto sector = lane->unsynced.rbegin(); sector != lane->unsynced.rend(); ++sector) {
            if (below(2) == 0) {
                put_ring(*lane, sector->position, sector->on_disk);
            }
        }
        lane->unsynced.clear();
    }
    ++boot_;
    latched_ = false;
    now_ns_ = 1'000'000 + below(1'000'000'000);  // the clock counts from the boot
}

void World::latch() {
    latched_ = true;
    for (const auto& each : processes_) {
        LaneEngine::Actions actions;
        if (each->alive && each->engine.is_open()) {
            each->engine.close(actions);
            perform(*each, actions);
        }
    }
}

void World::unlatch() {
    latched_ = false;
    for (const auto& each : processes_) {
        each->wants_reopen |= each->alive && !each->engine.is_open();
    }
}

void World::reload() {
    for (const auto& each : processes_) {
        each->stays = each->quitting ? each->stays && below(2) == 0 : below(4) == 0;
        each->quitting = true;
    }
    processes_wanted_ = std::min<std::size_t>(alive() + 1 + below(3), 8);
}

void World::come_to_rest() {
    resting_ = true;
    latched_ = false;
    unlatch();
    for (int i = 0; i < 20'000 && verdict_.empty(); ++i) {
        step();
        const bool open = std::any_of(clients_busy_.begin(), clients_busy_.end(),
                                      [](int event) { return event != 0; }) ||
                          std::any_of(processes_.begin(), processes_.end(), [](const auto& each) {
                              return each->alive && each->has_clicks();
                          });
        if (!open && i > 200) {
            break;
        }
    }
    for (const int event : clients_busy_) {
        if (event != 0) {
            wrong("event " + std::to_string(event) + " is stuck");
        }
    }
    for (const auto& each : processes_) {
        if (each->alive && each->has_clicks()) {
            wrong("clicks are stuck");
        }
        die(*each);
    }
    depth_ += kDepthMax;
    if (verdict_.empty() && !recover()) {
        wrong("the lanes cannot be recovered");
    }
    depth_ -= kDepthMax;
}

void World::check() {
    std::set<int> stored;
    for (const int id : queue_) {
        if (!stored.insert(id).second) {
            wrong("event " + std::to_string(id) + " is doubled");
        }
    }
    for (const auto& [id, event] : events_) {
        if (event->acked_at != 0 && stored.count(id) == 0) {
            wrong("event " + std::to_string(id) + " was answered and is lost");
        }
    }
    check_clicks();
    std::uint64_t earliest_ack = ~std::uint64_t{0};
    int whose = 0;
    for (auto id = queue_.rbegin(); id != queue_.rend(); ++id) {
        const Event& event = *events_.at(*id);
        if (earliest_ack < event.sent_at) {
            wrong("event " + std::to_string(*id) + " was sent after the answer to event " +
                  std::to_string(whose) + " and is stored before it");
        }
        if (event.acked_at != 0 && event.acked_at < earliest_ack) {
            earliest_ack = event.acked_at;
            whose = *id;
        }
    }
}

}  // namespace sluice::sim
