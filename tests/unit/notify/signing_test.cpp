#include "notify/signing.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace sluice::notify {
namespace {

TEST(NotifySigning, EqualsTheExampleOfTheSpecification) {
    // The secret of the example is whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw.
    const std::string secret(
        "\x31\xf2\x90\xf6\xbf\x06\x29\x8a\xab\x4f\x08\xd4\x3c\x3f\x08\x2c\xf6\x48\xa3\x62\xda\x2d"
        "\xa4\xb0",
        24);
    EXPECT_EQ(secret_text(secret), "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw");
    EXPECT_EQ(signature_header(std::vector{secret}, "msg_p5jXN8AQM9LWM0D4loKWxJek", 1'614'265'330,
                               R"({"test": 2432232314})"),
              "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=");
}

TEST(NotifySigning, SignsWithBothSecretsWhileOneIsReplaced) {
    const std::string first = new_secret(), second = new_secret();
    ASSERT_EQ(first.size(), kSecretBytes);
    ASSERT_NE(first, second);
    const auto sign = [](const std::vector<std::string>& secrets) {
        return signature_header(secrets, "chg_1_1_2_0123456789abcdef", 1'700'000'000, "{}");
    };
    EXPECT_EQ(sign({first, second}), sign({first}) + " " + sign({second}));
}

TEST(NotifySigning, PrintsSecretsAsBase64OfThirtyTwoBytes) {
    const std::string text = secret_text(new_secret());
    EXPECT_EQ(text.size(), 6U + 44U);
    EXPECT_TRUE(text.starts_with("whsec_") && text.ends_with('='));
}

TEST(NotifySigning, NamesAChangeByItsPlaceAndHash) {
    EXPECT_EQ(webhook_id(7, 2, 1043, "00112233445566778899aabbccddeeff"),
              "chg_7_2_1043_0011223344556677");
}

}  // namespace
}  // namespace sluice::notify
