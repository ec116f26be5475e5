#include "unit/core/commit/lane_world.hpp"

namespace sluice::sim {

/// The answer waits for nothing. Without room, or while the queue is closed, the click is dropped.
void World::visit() {
    if (processes_.empty() || below(3) == 0) {
        return;
    }
    Process& at = *processes_[below(processes_.size())];
    BufferedClick click;
    click.at_ms = clicks_.size();
    if (!at.alive || at.quitting || latched_ || !at.ring.push(click)) {
        return;
    }
    clicks_.push_back(Fate::kInRing);
    set_flush_timer(at);
}

void World::set_flush_timer(Process& process) const {
    if (!process.flush_timer_ms && !process.ring.empty()) {
        process.flush_timer_ms = now_ms() + kFlushMs;
    }
}

/// Hands over the oldest clicks as one record. One record is under way at a time. Until there is a
/// lane they wait, but not in a process that shuts down.
void World::flush(Process& process) {
    if (!process.alive || process.has_clicks_under_way || process.ring.empty()) {
        return;
    }
    set_flush_timer(process);
    const bool is_open = process.engine.is_open();
    if (!process.quitting && (latched_ || !is_open)) {
        process.wants_reopen = process.wants_reopen || !is_open;
        return;
    }
    auto event = std::make_unique<Event>();
    event->id = ++last_event_;
    event->process = process.id;
    event->sent_at = step_;
    event->joined_ms = now_ms();
    event->record = std::to_string(event->id);
    process.ring.take(kRecordClicks, [&](const BufferedClick& click) {
        event->clicks.push_back(click.at_ms);
        clicks_[click.at_ms] = Fate::kUnderWay;
    });
    if (is_open) {
        event->record.resize(std::min<std::size_t>(20 + 100 * event->clicks.size(),
                                                   process.engine.record_bytes_max()),
                             ' ');
    }
    event->bytes = event->record.size();
    process.has_clicks_under_way = true;
    Event& sent = *event;
    events_[sent.id] = std::move(event);
    LaneEngine::Actions actions;
    if (latched_ || !process.engine.arrived(sent, actions)) {
        refuse({&sent, 1});
        process.wants_reopen = process.wants_reopen || !is_open;
    }
    perform(process, actions);
}

/// A record that was refused is not handed over again.
void World::end_clicks(const Event& record) {
    Process* const whose = process(record.process);
    const Fate unstored = whose != nullptr ? Fate::kLost : Fate::kKilled;
    for (const std::uint64_t click : record.clicks) {
        if (clicks_[click] != Fate::kUnderWay) {
            wrong("click " + std::to_string(click) + " ends twice");
        }
        clicks_[click] = record.acked_at != 0 ? Fate::kStored : unstored;
    }
    if (whose != nullptr) {
        whose->has_clicks_under_way = false;
        set_flush_timer(*whose);
    }
}

/// DU3: each counted click is stored, lost by a write that failed, or was in a process that was
/// killed; none is stored twice.
void World::check_clicks() {
    std::vector<int> times(clicks_.size());
    for (const int id : queue_) {
        for (const std::uint64_t click : events_.at(id)->clicks) {
            ++times[click];
        }
    }
    for (std::size_t click = 0; click < clicks_.size(); ++click) {
        const Fate fate = clicks_[click];
        const std::string name = "click " + std::to_string(click);
        if (times[click] > 1) {
            wrong(name + " is doubled");
        }
        if (fate == Fate::kStored && times[click] == 0) {
            wrong(name + " was written and is lost");
        }
        if (fate == Fate::kInRing || fate == Fate::kUnderWay) {
            wrong(name + " is forgotten");
        }
        if (fate == Fate::kKilled && faults_.kill == 0 && faults_.power_cut == 0) {
            wrong(name + " was lost by a reload");
        }
    }
}

}  // namespace sluice::sim
