#include "worker/raw_json.hpp"

#include <gtest/gtest.h>

namespace sluice::cli {
namespace {

TEST(RawJson, SplitKeepsEveryValueAsItWasWritten) {
    const auto members =
        split_object(R"({"a" : 1.10, "b\u0041":"x\"},{", "c":[1,{"d":[]}] ,"e":null,"f":{}})");
    ASSERT_EQ(members.size(), 5u);
    EXPECT_EQ(members[0].name, "a");
    EXPECT_EQ(members[0].value, "1.10");
    EXPECT_EQ(members[1].name, "bA");
    EXPECT_EQ(members[1].value, R"("x\"},{")");
    EXPECT_EQ(members[2].value, R"([1,{"d":[]}])");
    EXPECT_EQ(members[3].value, "null");
    EXPECT_EQ(members[4].value, "{}");
    EXPECT_TRUE(split_object(" { } ").empty());
}

TEST(RawJson, IndentedHasOneMemberToALine) {
    EXPECT_EQ(indented(R"({"a":1.10,"b":[1,"x:,{"],"c":{},"d":[]})", 1),
              "{\n"
              "    \"a\": 1.10,\n"
              "    \"b\": [\n"
              "      1,\n"
              "      \"x:,{\"\n"
              "    ],\n"
              "    \"c\": {},\n"
              "    \"d\": []\n"
              "  }");
    EXPECT_EQ(indented("12345678901234567890.123456789", 0), "12345678901234567890.123456789");
}

}  // namespace
}  // namespace sluice::cli
