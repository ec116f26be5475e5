#include "core/values/base64.hpp"

#include <gtest/gtest.h>

#include <array>
#include <string>
#include <utility>

namespace sluice {
namespace {

TEST(Base64url, OnlyTheOneTextOfSomeBytesIsRead) {
    for (const std::string bytes : {"", "f", "fo", "foo", "\xff\xfe\xfd"}) {
        EXPECT_EQ(from_base64url(to_base64url(bytes)), bytes);
    }
    EXPECT_EQ(to_base64url("\xff\xff\xfe"), "___-");
    for (const char* const bad : {"A", "Zg==", "Zh", "Zm9v=", "Zm 9", "Zm+v"}) {
        EXPECT_FALSE(from_base64url(bad)) << bad;
    }
}

/// RFC 4648, section 10.
TEST(Base64, IsThatOfTheStandard) {
    const std::array<std::pair<std::string, const char*>, 8> texts{
        {{"", ""},
         {"f", "Zg=="},
         {"fo", "Zm8="},
         {"foo", "Zm9v"},
         {"foob", "Zm9vYg=="},
         {"fooba", "Zm9vYmE="},
         {"foobar", "Zm9vYmFy"},
         {"\xff\xff\xfe\xfb", "///++w=="}}};
    for (const auto& [bytes, text] : texts) {
        EXPECT_EQ(to_base64(bytes), text);
        EXPECT_EQ(from_base64(text), bytes);
    }
    for (const char* const bad :
         {"Z", "Zg", "Zg=", "Zh==", "Zg==Zg==", "Zm9v=", "=", "Zm9_", "Zm 9"}) {
        EXPECT_FALSE(from_base64(bad)) << bad;
    }
}

}  // namespace
}  // namespace sluice
