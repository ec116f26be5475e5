#include "core/status/seqlock.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <cstring>
#include <thread>

namespace sluice {
namespace {

struct Pair {
    std::uint64_t a = 0;
    std::uint64_t b = 0;
};

/// As in shared memory: zero bytes.
template <class T>
struct Zeroed {
    alignas(T) unsigned char bytes[sizeof(T)] = {};
    T& operator*() { return *reinterpret_cast<T*>(bytes); }
    T* operator->() { return reinterpret_cast<T*>(bytes); }
};

TEST(SeqlockRules, NothingIsReadBeforeAWrite) {
    Zeroed<Seqlock<Pair>> value;
    EXPECT_FALSE(value->read());
    value->write({1, 2});
    EXPECT_EQ(value->read()->b, 2U);
}

TEST(SeqlockRules, AWriterThatDiedIsFollowedByTheNext) {
    Zeroed<Seqlock<Pair>> value;
    value->write({1, 2});
    std::uint64_t odd = 7;
    std::memcpy(value.bytes, &odd, sizeof(odd));  // the version is its first word
    EXPECT_FALSE(value->read());
    value->write({3, 4});
    EXPECT_EQ(value->read()->a, 3U);
}

TEST(SeqlockRules, NoReaderSeesHalfOfAWrite) {
    Zeroed<Seqlock<Pair>> value;
    std::atomic<bool> stop{false};
    std::thread writer([&] {
        for (std::uint64_t i = 1; !stop; ++i) {
            value->write({i, ~i});
        }
    });
    std::uint64_t seen = 0;
    while (seen < 20'000) {
        if (const auto read = value->read()) {
            ASSERT_EQ(read->a, ~read->b);
            ++seen;
        }
    }
    stop = true;
    writer.join();
}

TEST(LeaseRules, OneHoldsItUntilItEnds) {
    Zeroed<Lease> lease;
    std::uint64_t mine = 0;
    std::uint64_t yours = 0;
    EXPECT_TRUE(lease->hold(mine, 1000, 100));
    EXPECT_FALSE(lease->hold(yours, 1000, 100));
    EXPECT_FALSE(lease->hold(yours, 1099, 100));
    EXPECT_TRUE(lease->hold(mine, 1099, 100)) << "again, before it ends";
    EXPECT_FALSE(lease->hold(yours, 1150, 100));
    EXPECT_TRUE(lease->hold(yours, 1199, 100)) << "its holder is gone";
    EXPECT_FALSE(lease->hold(mine, 1200, 100));
}

}  // namespace
}  // namespace sluice
