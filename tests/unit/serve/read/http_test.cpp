#include "serve/read/http.hpp"

#include <gtest/gtest.h>

namespace sluice::serve {
namespace {

using Parameters = std::vector<std::pair<std::string, std::string>>;

TEST(Target, ParametersAreDecodedOnceAndThePathIsNot) {
    const auto target = parse_target("/v1/a%2Fb?order=a%2Fb%252F&x=1+2&y&&z=");
    ASSERT_TRUE(target);
    EXPECT_EQ(target->path, "/v1/a%2Fb");
    EXPECT_EQ(target->parameters,
              (Parameters{{"order", "a/b%2F"}, {"x", "1 2"}, {"y", ""}, {"z", ""}}));
    EXPECT_TRUE(parse_target("/v1/me?")->parameters.empty());
}

TEST(Target, OtherFormsAndWrongEscapesAreRefused) {
    for (const char* text : {"", "*", "http://a/v1/me", "v1/me", "/a b", "/v1/me?a=%zz", "/%z"}) {
        EXPECT_FALSE(parse_target(text)) << text;
    }
}

TEST(Target, AnEncodedValueIsDecodedToItself) {
    const std::string value("a/b c+d&e=%\n\xC3\xA4");
    EXPECT_EQ(parse_target("/?v=" + encoded(value))->parameters, (Parameters{{"v", value}}));
}

}  // namespace
}  // namespace sluice::serve
