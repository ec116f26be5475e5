#include "serve/http/unsent.hpp"

#include <gtest/gtest.h>

namespace sluice::serve {
namespace {

constexpr std::size_t kOne = UnsentBytes::kOfOneMax;

TEST(UnsentBytes, OneCallerAndAllHaveALimit) {
    UnsentBytes unsent;
    EXPECT_TRUE(unsent.has_room("a", kOne));
    EXPECT_FALSE(unsent.has_room("a", kOne + 1));
    for (const char* caller : {"a", "b", "c", "d"}) {
        ASSERT_TRUE(unsent.has_room(caller, kOne));
        unsent.add(caller, kOne);
        EXPECT_FALSE(unsent.has_room(caller, 1));
    }
    EXPECT_FALSE(unsent.has_room("e", 1));
    unsent.remove("b", kOne);
    EXPECT_TRUE(unsent.has_room("e", kOne));
    EXPECT_TRUE(unsent.has_room("b", kOne));
    EXPECT_FALSE(unsent.has_room("a", 1));
}

}  // namespace
}  // namespace sluice::serve
