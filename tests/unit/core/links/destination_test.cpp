#include "core/links/destination.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace sluice {
namespace {

using testing::HasSubstr;

std::string fault_of(std::string_view url) {
    const Result<Destination> parsed = parse_destination(url);
    return parsed ? "none" : parsed.error().message;
}

TEST(Destination, ItsPartsAreViewsOfTheText) {
    const Result<Destination> to =
        parse_destination("https://shop.example:8443/mug/?x=1&y=%26#top?a");
    ASSERT_TRUE(to.ok()) << to.error().message;
    EXPECT_EQ(to->scheme, "https");
    EXPECT_EQ(to->host, "shop.example");
    EXPECT_EQ(to->base, "https://shop.example:8443/mug/");
    EXPECT_EQ(to->query, "x=1&y=%26");
    EXPECT_EQ(to->fragment, "#top?a");
    EXPECT_TRUE(to->ends_in_slash());
    const Result<Destination> bare = parse_destination("http://shop.example");
    ASSERT_TRUE(bare.ok());
    EXPECT_EQ(bare->base, "http://shop.example");
    EXPECT_FALSE(bare->ends_in_slash());
}

TEST(Destination, ATextThatIsNoUrlIsRefusedWithItsPlace) {
    EXPECT_THAT(fault_of("javascript:alert(1)"), HasSubstr("byte 1 "));
    EXPECT_THAT(fault_of("//evil.example"), HasSubstr("byte 1 "));
    EXPECT_THAT(fault_of("HTTPS://shop.example"), HasSubstr("byte 1 "));
    EXPECT_THAT(fault_of(""), HasSubstr("byte 1 "));
    EXPECT_THAT(fault_of("https://u:p@h/"), HasSubstr("byte 12 of the URL: expected no user name"));
    EXPECT_THAT(fault_of("https://shop.example/a b"), HasSubstr("byte 23 "));
    EXPECT_THAT(fault_of("https://shop.example/a%2"), HasSubstr("byte 23 "));
    EXPECT_THAT(fault_of("https://shop.example/\x80"), HasSubstr("byte 22 "));
    EXPECT_THAT(fault_of("https://shop.example/a\\b"), HasSubstr("byte 23 "));
    EXPECT_THAT(fault_of("https://shop.example/#a#b"), HasSubstr("byte 24 "));
    EXPECT_THAT(fault_of("https://shop.example/[x]"), HasSubstr("byte 22 "));
    EXPECT_THAT(fault_of("https://"), HasSubstr("byte 9 "));
    EXPECT_THAT(fault_of("https:///path"), HasSubstr("byte 9 "));
    EXPECT_THAT(fault_of("https://-a.example/"), HasSubstr("name of a host"));
    EXPECT_THAT(fault_of("https://a..example/"), HasSubstr("name of a host"));
    EXPECT_THAT(fault_of("https://xn--\xc3\xa4.example/"), HasSubstr("byte 13 "));
    EXPECT_THAT(fault_of("https://shop.example:0/"), HasSubstr("port"));
    EXPECT_THAT(fault_of("https://shop.example:65536/"), HasSubstr("port"));
    EXPECT_THAT(fault_of("https://shop.example:/"), HasSubstr("port"));
    EXPECT_EQ(fault_of("https://shop.example:65535/"), "none");
    EXPECT_EQ(fault_of("https://shop.example/" + std::string(kDestinationBytesMax - 21, 'a')),
              "none");
    EXPECT_THAT(fault_of("https://shop.example/" + std::string(kDestinationBytesMax - 20, 'a')),
                HasSubstr("2048"));
}

/// A shop decodes names of parameters, so an encoded one would decide who is paid.
TEST(Destination, AParameterOfTheDeviceIsRefusedHoweverItIsWritten) {
    for (const char* const query : {"svc_anon_id=x", "a=1&svc_anon_id", "svc%5Fanon_id=x",
                                    "a&%73%76%63%5f%61%6e%6f%6e%5f%69%64=x"}) {
        EXPECT_THAT(fault_of("https://shop.example/?" + std::string(query)),
                    HasSubstr("svc_anon_id"))
            << query;
    }
    for (const char* const query : {"svc_anon_id2=x", "xsvc_anon_id=x", "a=svc_anon_id",
                                    "svc%255Fanon_id=x", "SVC_ANON_ID=x"}) {
        EXPECT_EQ(fault_of("https://shop.example/?" + std::string(query)), "none") << query;
    }
}

}  // namespace
}  // namespace sluice
