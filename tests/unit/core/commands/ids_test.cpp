// Payout ids that sluice makes are recognised in what banks send.
#include "core/commands/ids.hpp"

#include <gtest/gtest.h>

#include <limits>
#include <string>

namespace sluice {
namespace {

constexpr Timestamp kReceipt{1'769'868'309, 0};  // 2026-01-31T14:05:09Z

std::string run() {
    return command_id("b55ab1f0-0000-4000-8000-000000000001", {7}, kReceipt);
}

TEST(PayoutIds, HaveTheBytesThatReadersExpect) {
    const std::string first = payout_id(run(), 1);
    EXPECT_EQ(first.substr(0, 14), "P260131140509-");
    EXPECT_EQ(first.size(), kPayoutIdBytesMin);
    EXPECT_EQ(payout_id_prefix(run()).size(), kPayoutIdPrefixBytes);
    EXPECT_TRUE(looks_like_payout_id(first));
    EXPECT_TRUE(looks_like_payout_id(payout_id(run(), std::numeric_limits<std::uint32_t>::max())));
}

TEST(PayoutIds, AreRecognisedWithoutTheirLastDigits) {
    const std::string first = "P260131140509-7KQ4M9-0001";
    EXPECT_TRUE(looks_like_payout_id(first.substr(0, kPayoutIdPrefixBytes + 1)));
    EXPECT_FALSE(looks_like_payout_id(first.substr(0, kPayoutIdPrefixBytes)));
}

TEST(PayoutIds, AreNoOtherTexts) {
    for (const char* text :
         {"", "C260131140509-7KQ4M9-0001", "P26013114050-7KQ4M9-00011", "P2601311405090-7KQ4M9-001",
          "P260131140509 7KQ4M9-0001", "P260131140509-7KQ4M9-0001 x",
          "P260131140509-7KQ4M9-0001-of-another-system"}) {
        EXPECT_FALSE(looks_like_payout_id(text)) << text;
    }
}

TEST(PayoutIds, HaveAShortForm) {
    EXPECT_EQ(short_payout_id("P260131140509-7KQ4M9-0001"), "00017KQ4M9");
    EXPECT_EQ(short_payout_id("P260131140509-0001"), "P260131140509-0001");
    EXPECT_EQ(short_payout_id(""), "");
}

}  // namespace
}  // namespace sluice
