// Page tokens. The known values were made by Python's hmac and by OpenSSL's command line.
#include "core/protocol/page_token.hpp"

#include <gtest/gtest.h>

#include <limits>

#include "core/protocol/signature.hpp"
#include "core/values/base64.hpp"

namespace sluice {
namespace {

constexpr std::string_view kSecret = "0123456789abcdef0123456789abcdef";
constexpr std::int64_t kIssued = 1'772'355'600;
constexpr std::string_view kText =
    "scp1.dG9rXzAwMTEyMjMzNDQ1NTY2NzcKYW5uCjE3NzIzNTU2MDAKMTc3MjM1NjUwMAo5ZjNjMjFkMGE0YjdlNjU1."
    "--wzy_9wk0aLFhMShowu8gYEFAFbMKCqKdEs6iFGclaiXwIotWXKcrTDGDzJNO_uch-CrNkxPe8py6CEXTjSAg";

PageToken sample() {
    return {TokenId("tok_0011223344556677"), CreatorId("ann"), kIssued, kIssued + 900,
            "9f3c21d0a4b7e655"};
}

bool is_signed(std::string_view text, std::string_view secret) {
    const auto parsed = parse_page_token(text);
    return parsed && parsed->verify(PageSigner(secret).public_key());
}

/// Returns a token with this payload and a signature of 64 bytes.
std::string with_payload(std::string_view payload) {
    return "scp1." + to_base64url(payload) + "." + to_base64url(std::string(64, 'x'));
}

TEST(PageToken, TheKeyFollowsFromTheSecretByHkdf) {
    EXPECT_EQ(to_hex(PageSigner(kSecret).public_key()),
              "3517b70fbb13de2f3549bc2eb60524d6e646617ad25c04bbea4a5350f62c46f2");
}

TEST(PageToken, HasTheTextAndTheSignatureThatOpenSslMakes) {
    EXPECT_EQ(PageSigner(kSecret).sign(sample()), kText);
}

TEST(PageToken, IsReadAsItWasSigned) {
    const auto parsed = parse_page_token(kText);
    ASSERT_TRUE(parsed);
    EXPECT_EQ(parsed->token.token_id.str(), "tok_0011223344556677");
    EXPECT_EQ(parsed->token.creator.str(), "ann");
    EXPECT_EQ(parsed->token.issued, kIssued);
    EXPECT_EQ(parsed->token.expires, kIssued + 900);
    EXPECT_EQ(parsed->token.random, "9f3c21d0a4b7e655");
    EXPECT_TRUE(is_signed(kText, kSecret));
}

TEST(PageToken, AnotherSecretDidNotSignIt) {
    EXPECT_FALSE(is_signed(kText, "0123456789abcdef0123456789abcdeg"));
}

TEST(PageToken, EveryChangedBitOfTheTextIsRefused) {
    for (std::size_t at = 0; at < kText.size(); ++at) {
        for (unsigned bit = 0; bit < 8; ++bit) {
            std::string changed(kText);
            changed[at] = static_cast<char>(changed[at] ^ 1 << bit);
            EXPECT_FALSE(is_signed(changed, kSecret)) << at << " bit " << bit;
        }
    }
}

TEST(PageToken, EveryCutTextIsRefused) {
    for (std::size_t size = 0; size < kText.size(); ++size) {
        EXPECT_FALSE(parse_page_token(kText.substr(0, size))) << size;
    }
    EXPECT_FALSE(parse_page_token(std::string(kText) + "A"));
}

TEST(PageToken, APayloadHasOneForm) {
    const std::string good = "tok_1\nann\n5\n9\n9f3c21d0a4b7e655";
    EXPECT_TRUE(parse_page_token(with_payload(good)));
    for (const std::string bad :
         {"", "tok_1\nann\n5\n9", "tok_1\nann\n5\n9\n9f3c21d0a4b7e655\n",
          "tok_1\nann\n5\n9\n9f3c21d0a4b7e655\nmore", "\nann\n5\n9\n9f3c21d0a4b7e655",
          "tok_1\n\n5\n9\n9f3c21d0a4b7e655", "tok_1\nan n\n5\n9\n9f3c21d0a4b7e655",
          "tok_1\nann\n05\n9\n9f3c21d0a4b7e655", "tok_1\nann\n+5\n9\n9f3c21d0a4b7e655",
          "tok_1\nann\n-5\n9\n9f3c21d0a4b7e655", "tok_1\nann\n5\n9 \n9f3c21d0a4b7e655",
          "tok_1\nann\n5\n99999999999999999999\n9f3c21d0a4b7e655",
          "tok_1\nann\n5\n9\n9F3C21D0A4B7E655", "tok_1\nann\n5\n9\n9f3c21d0a4b7e6",
          "tok_1\r\nann\n5\n9\n9f3c21d0a4b7e655"}) {
        EXPECT_FALSE(parse_page_token(with_payload(bad))) << bad;
    }
}

TEST(PageToken, ALongTextIsRefusedUnread) {
    const std::string creator(kAdminIdBytesMax, 'a');
    PageToken longest = sample();
    longest.creator = CreatorId(creator);
    longest.token_id = TokenId("tok_0011223344556677");
    const std::string text = PageSigner(kSecret).sign(longest);
    EXPECT_LE(text.size(), kPageTokenBytesMax);
    EXPECT_TRUE(parse_page_token(text));
    EXPECT_FALSE(parse_page_token(with_payload(std::string(400, 'a'))));
}

TEST(PageToken, ItCountsFromAMinuteBeforeItWasMadeUntilItExpires) {
    const PageToken token = sample();
    EXPECT_FALSE(token.counts_at(kIssued - 61));
    EXPECT_TRUE(token.counts_at(kIssued - 60));
    EXPECT_TRUE(token.counts_at(kIssued + 899));
    EXPECT_FALSE(token.counts_at(kIssued + 900));
}

TEST(PageToken, OneForMoreThanAnHourOrForNoTimeNeverCounts) {
    PageToken token = sample();
    token.expires = kIssued + kPageTokenSecondsMax;
    EXPECT_TRUE(token.counts_at(kIssued));
    token.expires = kIssued + kPageTokenSecondsMax + 1;
    EXPECT_FALSE(token.counts_at(kIssued));
    token.expires = kIssued;
    EXPECT_FALSE(token.counts_at(kIssued - 1));
    token.expires = kIssued - 1;
    EXPECT_FALSE(token.counts_at(kIssued - 10));
    token.issued = 0;
    token.expires = std::numeric_limits<std::int64_t>::max();
    EXPECT_FALSE(token.counts_at(kIssued));
}

}  // namespace
}  // namespace sluice
