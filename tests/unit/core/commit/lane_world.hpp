// A world of processes, lanes, a queue and clients that one seed moves: for the lanes' simulation.
//
// The engine, the format, the recovery and the move are the real ones. Simulated are the disk (a
// write that is cut leaves any subset of its sectors), the queue (transactions are atomic), the
// cells of the control page, the clock, process death, reload and power cuts. After a reload some
// processes stay for requests of others: they return their lane. If a request still comes, they
// append it to the queue, or had begun to take a lane. Everything may happen between any two steps
// of a move, because each of its questions lets the others run.
//
// Visitors of links leave clicks in the ring of a process (DU2), which hands them over as one
// record, with the next order or after a while.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <map>
#include <memory>
#include <optional>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "core/commit/lane_engine.hpp"
#include "core/commit/lane_move.hpp"
#include "core/links/click_ring.hpp"

namespace sluice::sim {

inline constexpr std::size_t kSector = 512;
inline constexpr std::size_t kRingClicks = 12, kRecordClicks = 8;
inline constexpr std::uint64_t kFlushMs = 200;
inline constexpr int kDepthMax = 3;  ///< Others run between the steps of others that far.

inline Uuid uuid_of(std::uint8_t kind, std::uint64_t number) {
    Uuid uuid{kind};
    std::memcpy(uuid.data() + 8, &number, sizeof(number));
    return uuid;
}

/// An event, from when its client sends it.
struct Event : Waiter {
    int id = 0;
    int client = 0;
    std::uint64_t sent_at = 0;   ///< Steps of the world.
    std::uint64_t acked_at = 0;  ///< 0 means never.
    bool over = false;           ///< Answered, or its process died.
    std::string record;
    int process = 0;                      ///< A record of clicks: whose ring had them; else 0.
    std::vector<std::uint64_t> clicks{};  ///< Their numbers.
};

enum class Fate : std::uint8_t { kInRing, kUnderWay, kStored, kLost, kKilled };

struct Row {
    std::uint64_t moved = 0, floor = 0;
    std::uint32_t floor_crc = 0;
};

/// A cell of the control page, valid in its boot only.
struct Cell {
    std::uint64_t durable = 0, floor = 0, moved = 0;
    int boot = 0;
};

/// A sector that a killed process wrote and did not sync, as it is on the disk.
struct Unsynced {
    std::uint64_t position = 0;
    std::string on_disk;
};

struct Lane {
    LaneHead head;
    std::vector<char> ring;
    std::vector<Unsynced> unsynced;  ///< Visible in `ring`; a power cut may take them back.
    Row row;
    Cell cell;
    int owner = 0;  ///< A process; 0 means none.
};

inline void put_ring(Lane& lane, std::uint64_t position, std::string_view bytes) {
    for (std::size_t at = 0; at < bytes.size(); at += kSector) {
        std::copy_n(bytes.data() + at, kSector,
                    lane.ring.data() + (position + at) % lane.ring.size());
    }
}

struct Write {
    std::size_t slot = 0;
    std::uint64_t position = 0, began_ns = 0, ends_ns = 0;
    std::string bytes;
    LaneWrite outcome = LaneWrite::kDurable;
};

struct Process {
    int id = 0;
    bool alive = true, quitting = false, look = false, wants_move = false, wants_reopen = false;
    bool stays = false;  ///< For requests of others, after a reload.
    std::optional<std::size_t> lane;
    LaneEngine engine;
    std::vector<Write> writes;
    std::vector<std::size_t> to_answer;
    std::optional<std::uint64_t> wait_timer_ms, move_timer_ms, flush_timer_ms;
    ClickRing ring{kRingClicks};
    bool has_clicks_under_way = false;

    /// The process keeps its lane.
    [[nodiscard]] bool has_clicks() const noexcept { return has_clicks_under_way || !ring.empty(); }
};

struct Faults {
    unsigned kill = 0, power_cut = 0, reload = 0, fail = 0, no_room = 0,
             queue_full = 0;  ///< In 1000.
};

class World {
public:
    explicit World(std::uint64_t seed);
    /// Runs `steps`, then lets everything come to rest, then checks.
    void run(int steps);
    /// Returns the violated property, or an empty text.
    [[nodiscard]] const std::string& verdict() const noexcept { return verdict_; }
    [[nodiscard]] std::uint64_t acked() const noexcept { return acked_; }
    [[nodiscard]] std::uint64_t faults() const noexcept { return faults_seen_; }
    [[nodiscard]] std::uint64_t clicks(Fate fate) const {
        return static_cast<std::uint64_t>(std::count(clicks_.begin(), clicks_.end(), fate));
    }

private:
    class Moving;
    friend class Moving;

    [[nodiscard]] std::uint64_t below(std::uint64_t limit) { return random_() % limit; }
    [[nodiscard]] bool chance(unsigned in_1000) { return below(1000) < in_1000; }
    [[nodiscard]] std::uint64_t now_ms() const { return now_ns_ / 1'000'000; }
    [[nodiscard]] std::uint64_t read_clock() { return ++now_ns_; }
    void wrong(const std::string& what);
    [[nodiscard]] Process* process(int id);
    [[nodiscard]] std::size_t alive() const;

    void step();
    void others_run();
    void send_something();
    void visit();
    void flush(Process& process);
    void set_flush_timer(Process& process) const;
    void end_clicks(const Event& record);
    void check_clicks();
    void turn(Process& process);
    void finish_write(Process& process);
    void perform(Process& process, const LaneEngine::Actions& actions);
    void begin_write(Process& process, std::size_t slot);
    void answer(Process& process, std::size_t slot);
    void refuse(WaiterChain chain);
    void move(Process& process);
    void append_directly(Process& process);
    [[nodiscard]] bool commit_move(int process, Moving& moving, const Result<Moved>& moved);
    void publish_floors(const Moving& moving);
    void start_process();
    void take_lane(Process& process);
    [[nodiscard]] bool settle();
    [[nodiscard]] std::optional<std::size_t> find_empty_lane() const;
    [[nodiscard]] bool recover();
    void release_lane(Process& process);
    void die(Process& process);
    void tear(Lane& lane, const Write& write);
    void power_cut();
    void latch();
    void unlatch();
    void reload();
    void come_to_rest();
    void check();

    std::mt19937_64 random_;
    Faults faults_;
    std::uint64_t now_ns_ = 1'000'000'000, step_ = 1, acked_ = 0, faults_seen_ = 0;
    std::uint64_t slowest_us_ = 0, lane_bytes_ = 0;
    bool cached_ = false;  ///< The file system refuses O_DIRECT.
    int boot_ = 1, last_process_ = 0, last_event_ = 0, depth_ = 0;
    std::size_t processes_wanted_ = 0;
    bool locked_ = false, latched_ = false, resting_ = false;
    Uuid store_{};
    std::vector<std::unique_ptr<Lane>> lanes_;
    std::vector<std::unique_ptr<Process>> processes_;
    std::map<int, std::unique_ptr<Event>> events_;
    std::vector<Fate> clicks_;       ///< By number: the clicks that were counted.
    std::vector<int> clients_busy_;  ///< By client: the event that it waits for, or 0.
    std::vector<int> queue_;
    std::string verdict_;
};

}  // namespace sluice::sim
