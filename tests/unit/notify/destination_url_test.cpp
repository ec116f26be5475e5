#include "notify/destination_url.hpp"

#include <gtest/gtest.h>

#include <string>

namespace sluice::notify {
namespace {

const AddressJudge& closed() {
    static const AddressJudge judge({});
    return judge;
}

const AddressJudge& open_to_ten() {
    static const AddressJudge judge({*Cidr::parse("10.0.0.0/8")});
    return judge;
}

std::string refusal(std::string_view text, const AddressJudge& judge = closed()) {
    const auto parsed = parse_destination_url(text, judge);
    return parsed.ok() ? std::string() : parsed.error().message;
}

TEST(DestinationUrl, AdmitsHttpsToNamesAndPublicAddresses) {
    for (const char* text :
         {"https://hooks.example.com/sluice?key=1", "https://example.com:8443/", "https://8.8.8.8/",
          "https://[2606:4700::1111]/a", "https://xn--bcher-kva.example/"}) {
        EXPECT_EQ(refusal(text), "") << text;
    }
    const auto parsed = parse_destination_url("HTTPS://[2606:4700::1111]:444/a", closed());
    ASSERT_TRUE(parsed.ok());
    EXPECT_EQ(parsed->host, "2606:4700::1111");
    EXPECT_EQ(parsed->text, "https://[2606:4700::1111]:444/a");
    EXPECT_TRUE(parsed->is_encrypted);
}

TEST(DestinationUrl, RefusesEveryFormOfARefusedAddress) {
    for (const char* text :
         {"https://127.0.0.1/", "https://127.1/", "https://2130706433/", "https://0x7f000001/",
          "https://0177.0.0.1/", "https://0/", "https://%31%32%37.0.0.1/", "https://10.1.2.3/",
          "https://169.254.169.254/latest/meta-data/", "https://[::1]/", "https://[::]/",
          "https://[::ffff:10.0.0.1]/", "https://[::ffff:8.8.8.8]/", "https://[64:ff9b::808:808]/",
          "https://[2002:808:808::1]/", "https://[fd00::1]/", "https://[fe80::1]/"}) {
        EXPECT_NE(refusal(text).find("has an address that is refused"), std::string::npos)
            << text << ": " << refusal(text);
    }
}

TEST(DestinationUrl, RefusesPartsThatARequestMustNotHave) {
    EXPECT_NE(refusal("http://example.com/").find("https://"), std::string::npos);
    EXPECT_NE(refusal("ftp://example.com/").find("https://"), std::string::npos);
    EXPECT_NE(refusal("file:///etc/passwd").find("https://"), std::string::npos);
    EXPECT_NE(refusal("https://ann@example.com/").find("user name"), std::string::npos);
    EXPECT_NE(refusal("https://ann:pw@example.com/").find("user name"), std::string::npos);
    EXPECT_NE(refusal("https://example.com/#a").find("fragment"), std::string::npos);
    EXPECT_NE(refusal("https://[2606:4700::1111%25eth0]/").find("zone"), std::string::npos);
    EXPECT_NE(refusal("https://example.com:0/").find("port 0"), std::string::npos);
}

TEST(DestinationUrl, RefusesMalformedTextsWithoutRepeatingThem) {
    for (const std::string& text :
         {std::string(), std::string("example.com"), std::string("https://"),
          std::string("https:///path"), std::string("https:/path"),
          std::string("https://exa mple.com/"), std::string("https://example.com/\r\nX: 1"),
          std::string("https://b\xC3\xBC.example/"), std::string("https://example.com:99999/"),
          std::string("https://[::1/"), "https://example.com/" + std::string(kUrlBytesMax, 'a')}) {
        EXPECT_NE(refusal(text), "") << text;
        EXPECT_EQ(refusal(text).find("example"), std::string::npos) << text;
    }
}

TEST(DestinationUrl, AdmitsHttpWithinAnAllowedBlockOnly) {
    const auto parsed = parse_destination_url("http://10.0.0.7:8080/hook", open_to_ten());
    ASSERT_TRUE(parsed.ok());
    EXPECT_FALSE(parsed->is_encrypted);
    EXPECT_EQ(refusal("https://10.0.0.7/", open_to_ten()), "");
    EXPECT_EQ(refusal("http://hooks.internal/", open_to_ten()), "");
    EXPECT_NE(refusal("http://8.8.8.8/", open_to_ten()).find("must begin with https://"),
              std::string::npos);
    EXPECT_NE(refusal("http://127.0.0.1/", open_to_ten()).find("loopback"), std::string::npos);
}

}  // namespace
}  // namespace sluice::notify
