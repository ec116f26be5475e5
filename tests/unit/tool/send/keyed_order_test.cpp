#include "tool/send/keyed_order.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

namespace sluice::cli {
namespace {

std::vector<KeyedOrder::JobId> take_all(KeyedOrder& order) {
    std::vector<KeyedOrder::JobId> jobs;
    KeyedOrder::JobId job = 0;
    while (order.take_ready(job)) {
        jobs.push_back(job);
    }
    return jobs;
}

using Ids = std::vector<KeyedOrder::JobId>;

TEST(KeyedOrder, JobsOfOneKeyRunOneAfterTheOther) {
    KeyedOrder order;
    order.add(1, {"a"});
    order.add(2, {"b"});
    order.add(3, {"a"});
    order.add(4, {"a"});
    EXPECT_EQ(take_all(order), (Ids{1, 2}));
    order.finish(2);
    EXPECT_EQ(take_all(order), Ids{});
    order.finish(1);
    EXPECT_EQ(take_all(order), Ids{3});
    order.finish(3);
    EXPECT_EQ(take_all(order), Ids{4});
    order.finish(4);
    EXPECT_EQ(order.unfinished(), 0u);
}

TEST(KeyedOrder, AJobOfSeveralKeysWaitsForAllOfThem) {
    KeyedOrder order;
    order.add(1, {"a"});
    order.add(2, {"b"});
    order.add(3, {"b", "a", "b"});
    order.add(4, {});
    EXPECT_EQ(take_all(order), (Ids{1, 2, 4}));
    order.finish(1);
    EXPECT_EQ(take_all(order), Ids{});
    order.finish(2);
    EXPECT_EQ(take_all(order), Ids{3});
}

TEST(KeyedOrder, RandomJobsNeverOvertakeWithinAKey) {
    std::mt19937 random(7);
    for (int round = 0; round < 200; ++round) {
        KeyedOrder order;
        std::vector<std::vector<std::string>> keys(60);
        for (std::size_t job = 0; job < keys.size(); ++job) {
            for (unsigned i = 0; i < random() % 4; ++i) {
                keys[job].push_back(std::string(1, static_cast<char>('a' + random() % 8)));
            }
            order.add(job, keys[job]);
        }
        Ids running;
        std::vector<Ids> started(256);
        while (order.unfinished() > 0) {
            for (const auto job : take_all(order)) {
                running.push_back(job);
                for (const std::string& key : keys[job]) {
                    started[static_cast<unsigned char>(key[0])].push_back(job);
                }
            }
            ASSERT_FALSE(running.empty()) << "no job can run";
            const std::size_t place = random() % running.size();
            order.finish(running[place]);
            running.erase(running.begin() + static_cast<std::ptrdiff_t>(place));
        }
        for (const Ids& jobs : started) {
            EXPECT_TRUE(std::is_sorted(jobs.begin(), jobs.end()));
        }
    }
}

}  // namespace
}  // namespace sluice::cli
