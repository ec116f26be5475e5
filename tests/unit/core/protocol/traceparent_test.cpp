#include "core/protocol/traceparent.hpp"

#include <gtest/gtest.h>

namespace sluice {
namespace {

constexpr std::string_view kSampled = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";

TEST(TraceParentRules, U1_AValidOneIsReadAndWritten) {
    for (const std::string_view value :
         {kSampled, std::string_view("00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-00"),
          std::string_view("00-00000000000000000000000000000001-0000000000000001-ff")}) {
        const auto parent = parse_traceparent(value);
        ASSERT_TRUE(parent.has_value()) << value;
        EXPECT_EQ(to_traceparent(*parent), value);
    }
}

TEST(TraceParentRules, U1_ALaterVersionIsReadAsFarAsItIsKnown) {
    const std::string later = "cc" + std::string(kSampled.substr(2));
    for (const std::string& value : {later, later + "-what-the-future-brings", later + "-"}) {
        const auto parent = parse_traceparent(value);
        ASSERT_TRUE(parent.has_value()) << value;
        EXPECT_EQ(to_traceparent(*parent), kSampled);
    }
    EXPECT_FALSE(parse_traceparent(later + ".what"));
}

TEST(TraceParentRules, U1_AnInvalidOneIsIgnored) {
    const std::string sound(kSampled);
    EXPECT_FALSE(parse_traceparent(""));
    EXPECT_FALSE(parse_traceparent(sound + "-00")) << "version 00 ends after the flags";
    EXPECT_FALSE(parse_traceparent("ff" + sound.substr(2)));
    EXPECT_FALSE(parse_traceparent("00-00000000000000000000000000000000-00f067aa0ba902b7-01"));
    EXPECT_FALSE(parse_traceparent("00-4bf92f3577b34da6a3ce929d0e0e4736-0000000000000000-01"));
    EXPECT_FALSE(parse_traceparent("00-4BF92F3577B34DA6A3CE929D0E0E4736-00F067AA0BA902B7-01"));
    EXPECT_FALSE(parse_traceparent(" " + sound));
    for (std::size_t length = 0; length < sound.size(); ++length) {
        EXPECT_FALSE(parse_traceparent(sound.substr(0, length))) << length;
    }
    for (std::size_t at = 0; at < sound.size(); ++at) {
        std::string changed = sound;
        changed[at] = 'x';
        EXPECT_FALSE(parse_traceparent(changed)) << at;
    }
}

}  // namespace
}  // namespace sluice
