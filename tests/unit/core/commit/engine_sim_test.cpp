// The commit engine in a simulated world: an event loop, a commit thread, a disk, clients, and a
// clock, all driven by one seed. For every seed, an accepted request is answered once, stored
// requests are in the order of their arrival, no request waits beyond the bound or is forgotten,
// and one commit runs at a time.
#include <gtest/gtest.h>

#include <algorithm>
#include <deque>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "core/commit/engine.hpp"
#include "unit/simulation_seed.hpp"

namespace sluice {
namespace {

using Do = CommitEngine::Do;

struct SimulatedRequest : Waiter {
    int id = 0;
    int answers = 0;
};

class EngineWorld {
public:
    explicit EngineWorld(std::uint64_t seed) : random_(seed) {
        slowest_us_ = std::uniform_int_distribution<std::uint64_t>(1, 5)(random_) == 1
                          ? 4'000'000
                          : std::uint64_t{1} << std::uniform_int_distribution(4, 15)(random_);
        clients_ = std::uniform_int_distribution<std::size_t>(1, 40)(random_);
        fails_in_ = std::uniform_int_distribution(1, 3)(random_) == 1 ? 20 : 0;
    }

    void run() {
        for (int turn = 0; turn < 300; ++turn) {
            loop_turn(true);
        }
        for (int turn = 0; turn < 10'000 && !idle(); ++turn) {
            loop_turn(false);
        }
        ASSERT_TRUE(idle()) << "a request is stuck";
        for (const auto& request : requests_) {
            ASSERT_EQ(request->answers, 1) << "request " << request->id;
        }
    }

private:
    struct Work {
        std::size_t batch = 0;
        std::vector<SimulatedRequest*> requests;
        std::uint64_t began_us = 0;
        std::uint64_t ends_us = 0;
    };

    [[nodiscard]] bool idle() const {
        return open_ == 0 && !working_ && posted_.empty() && !look_ && !look_next_ && !timer_us_;
    }
    [[nodiscard]] std::uint64_t below(std::uint64_t limit) { return random_() % limit; }
    [[nodiscard]] CommitEngine::Now now() const { return {loop_ms_, now_us_}; }

    void loop_turn(bool arrivals) {
        advance_to_something();
        loop_ms_ = now_us_ / 1000;  // read once a turn, as nginx does
        look_ |= std::exchange(look_next_, false);
        if (arrivals) {
            arrive(below(4));
        }
        if (timer_us_ && *timer_us_ <= now_us_) {
            timer_us_.reset();
            CommitEngine::Actions actions;
            answer_chain(engine_.overdue(loop_ms_, actions));
            perform(actions);
        }
        timers_seen_ms_ = loop_ms_;
        disk_turns();
        if (done_) {
            finish(*std::exchange(done_, std::nullopt));
        }
        if (std::exchange(look_, false)) {
            CommitEngine::Actions actions;
            engine_.iteration_ended(now(), below(50) == 0, actions);
            perform(actions);
        }
    }

    /// Sometimes a little time passes, sometimes all until something happens.
    void advance_to_something() {
        std::uint64_t to = now_us_ + below(slowest_us_) / 4;
        if (below(3) == 0 && working_) {
            to = std::max(to, working_->ends_us);
        }
        if (below(3) == 0 && timer_us_ && !working_) {
            to = std::max(to, *timer_us_);
        }
        now_us_ = to;
        disk_turns();
    }

    /// The thread: takes what was announced as soon as it has the disk, works, reports.
    void disk_turns() {
        if (working_ && working_->ends_us <= now_us_ && !done_) {
            done_ = std::exchange(working_, std::nullopt);
        }
        if (!working_ && !posted_.empty()) {
            Work work;
            work.batch = posted_.front();
            posted_.pop_front();
            collect(engine_.take(work.batch), work.requests);
            check_order(work.requests);
            work.began_us = now_us_;
            work.ends_us = now_us_ + 1 + below(slowest_us_);
            working_ = std::move(work);
        }
    }

    void finish(const Work& work) {
        CommitEngine::Actions actions;
        engine_.committed(work.batch, work.ends_us - work.began_us, now(), actions);
        perform(actions);
        const std::uint64_t began_us = now_us_;
        for (SimulatedRequest* request : work.requests) {
            now_us_ += below(20);
            answer(*request);
            if (below(4) == 0) {
                arrive(1);  // the next one of the same connection
            }
        }
        CommitEngine::Actions more;
        engine_.answered(work.batch, now_us_ - began_us, now(), below(50) == 0, more);
        perform(more);
    }

    void perform(const CommitEngine::Actions& actions) {
        for (const CommitEngine::Action& action : actions) {
            switch (action.what) {
                case Do::kRunAtIterationEnd:
                    look_ = true;
                    break;
                case Do::kRunNextIteration:
                    look_next_ = true;
                    break;
                case Do::kStart:
                    start(action.batch);
                    break;
                case Do::kSetWaitTimer:
                    ASSERT_FALSE(timer_us_) << "it is set already";
                    ASSERT_GT(action.value, 0U);
                    timer_us_ = (loop_ms_ + action.value) * 1000;
                    break;
                case Do::kClearWaitTimer:
                    ASSERT_TRUE(timer_us_) << "it is not set";
                    timer_us_.reset();
                    break;
            }
        }
    }

    void start(std::size_t batch) {
        ASSERT_LT(batch, CommitEngine::kBatches);
        ASSERT_EQ(std::count(posted_.begin(), posted_.end(), batch), 0);
        ASSERT_FALSE(working_ && working_->batch == batch) << "it is in use";
        if (fails_in_ != 0 && below(fails_in_) == 0) {
            answer_chain(engine_.not_started(batch));
            CommitEngine::Actions actions;
            engine_.answered_unstored(batch, actions);
            perform(actions);
            return;
        }
        posted_.push_back(batch);
        disk_turns();  // a thread that has nothing to do takes it at once
    }

    void arrive(std::uint64_t count) {
        for (; count > 0 && open_ < clients_; --count) {
            auto request = std::make_unique<SimulatedRequest>();
            request->id = ++last_id_;
            request->joined_ms = loop_ms_;
            request->bytes = below(10) == 0 ? CommitEngine::kBatchBytesMax : 1000;
            CommitEngine::Actions actions;
            SimulatedRequest& arrived = *request;
            requests_.push_back(std::move(request));
            ++open_;
            if (!engine_.arrived(arrived, actions)) {
                answer(arrived);
            }
            perform(actions);
        }
    }

    static void collect(WaiterChain chain, std::vector<SimulatedRequest*>& into) {
        for (Waiter* waiter = chain.first; waiter != nullptr; waiter = waiter->next) {
            into.push_back(static_cast<SimulatedRequest*>(waiter));
        }
        ASSERT_EQ(into.size(), chain.count);
        ASSERT_LE(into.size(), CommitEngine::kBatchRequestsMax);
    }

    void check_order(const std::vector<SimulatedRequest*>& requests) {
        for (const SimulatedRequest* request : requests) {
            ASSERT_GT(request->id, last_stored_) << "reordered";
            ASSERT_LT(timers_seen_ms_, request->joined_ms + CommitEngine::kWaitMaxMs)
                << "it waited too long";
            last_stored_ = request->id;
        }
    }

    void answer_chain(WaiterChain chain) {
        std::vector<SimulatedRequest*> late;
        collect(chain, late);
        for (SimulatedRequest* request : late) {
            answer(*request);
        }
    }

    void answer(SimulatedRequest& request) {
        ++request.answers;
        --open_;
    }

    std::mt19937_64 random_;
    CommitEngine engine_;
    std::vector<std::unique_ptr<SimulatedRequest>> requests_;
    std::deque<std::size_t> posted_;
    std::optional<Work> working_, done_;
    std::optional<std::uint64_t> timer_us_;
    std::uint64_t now_us_ = 1'000'000, loop_ms_ = 1000, timers_seen_ms_ = 0;
    std::uint64_t slowest_us_ = 0, fails_in_ = 0;
    std::size_t clients_ = 0, open_ = 0;
    int last_id_ = 0, last_stored_ = 0;
    bool look_ = false, look_next_ = false;
};

TEST(CommitEngineSimulation, EverySeedAnswersEverybodyOnce) {
    const std::uint64_t first = test_seed();
    const std::uint64_t seeds = test_seeds(1000);
    for (std::uint64_t seed = first; seed < first + seeds; ++seed) {
        SCOPED_TRACE("SLUICE_SEED=" + std::to_string(seed));
        EngineWorld(seed).run();
        if (::testing::Test::HasFatalFailure()) {
            return;
        }
    }
    std::printf("commit engine: seeds %llu to %llu\n", static_cast<unsigned long long>(first),
                static_cast<unsigned long long>(first + seeds - 1));
}

}  // namespace
}  // namespace sluice
