#include "core/json/value.hpp"

#include <gtest/gtest.h>

namespace sluice {
namespace {

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
}  // namespace sluice
