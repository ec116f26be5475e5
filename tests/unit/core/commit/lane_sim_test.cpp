// Lanes in a simulated world, one seed after the other (L7). SLUICE_SEED, SLUICE_SEEDS.
#include <gtest/gtest.h>

#include <cstdio>

#include "unit/core/commit/lane_world.hpp"
#include "unit/simulation_seed.hpp"
#include "unit/whole_form.hpp"

namespace sluice {
namespace {

TEST(LaneSimulation, NothingAnsweredIsLostDoubledReorderedOrStuck) {
    const std::uint64_t first = test_seed();
    const std::uint64_t seeds = test_seeds(whole_or_short(1000U, 400U));
    std::uint64_t acked = 0;
    std::uint64_t faults = 0, stored = 0, killed = 0;
    for (std::uint64_t seed = first; seed < first + seeds; ++seed) {
        sim::World world(seed);
        world.run(600);
        ASSERT_EQ(world.verdict(), "") << "SLUICE_SEED=" << seed << " SLUICE_SEEDS=1";
        acked += world.acked();
        faults += world.faults();
        stored += world.clicks(sim::Fate::kStored);
        killed += world.clicks(sim::Fate::kKilled);
    }
    std::printf("lanes: seeds %llu to %llu, %llu events answered, %llu faults\n",
                static_cast<unsigned long long>(first),
                static_cast<unsigned long long>(first + seeds - 1),
                static_cast<unsigned long long>(acked), static_cast<unsigned long long>(faults));
    EXPECT_GT(acked, seeds) << "a world in which nothing happens proves nothing";
    EXPECT_GT(faults, seeds / 2);
    EXPECT_GT(stored, seeds);
    EXPECT_GT(killed, seeds / 2);
}

}  // namespace
}  // namespace sluice
