#include "core/protocol/receipt.hpp"

#include <gtest/gtest.h>

#include "core/protocol/record.hpp"

namespace sluice {
namespace {

const Receipt kReceipt{3, 0x1A000, 17};

TEST(ReceiptRules, L6ItsTextLeadsBackToIt) {
    EXPECT_EQ(to_string(kReceipt), "3-1a000-17");
    for (const Receipt& receipt :
         {kReceipt, Receipt{}, Receipt{~0U, ~std::uint64_t{0}, ~0U}, Receipt{1, 0, 2}}) {
        EXPECT_EQ(parse_receipt(to_string(receipt)), receipt);
    }
    for (const char* wrong : {"", "3", "3-1a000", "3-1a000-", "-1a000-17", "3-1A000-17",
                              "03-1a000-17", "3-1a000-17 ", "3--17", "4294967296-0-0", "x-0-0"}) {
        EXPECT_FALSE(parse_receipt(wrong)) << wrong;
    }
}

TEST(ReceiptRules, L6ItsNodeIsATag) {
    const std::string one = node_tag("11111111-2222-3333-4444-555555555555");
    EXPECT_EQ(one.size(), 6U);
    EXPECT_NE(one, node_tag("11111111-2222-3333-4444-555555555556"));
    EXPECT_EQ(node_tag_of(one + "-3-1a000-17"), one);
    EXPECT_EQ(node_tag_of(one + "-42"), one);
    for (const char* none :
         {"", "3-1a000-17", "1023-0-0", "ABCDEF", "abcdef-3", "ABCDEI-3", "42"}) {
        EXPECT_FALSE(node_tag_of(none)) << none;
    }
}

TEST(ReceiptRules, L6ARecordThatCameThroughALaneHasItBehindItsBody) {
    RecordMeta meta;
    meta.account_id = "acme";
    RecordEnvelope envelope;
    envelope.encode(meta, "body");
    const std::string plain = std::string(envelope.prefix()) + "body";
    EXPECT_FALSE(decode_record(plain)->receipt);

    const auto trailer = encode_receipt(kReceipt);
    std::string bytes = plain + std::string(trailer.data(), trailer.size());
    const auto record = decode_record(bytes);
    ASSERT_TRUE(record.ok());
    EXPECT_EQ(record->receipt, kReceipt);
    EXPECT_EQ(record->body, "body");
    for (std::size_t bit = plain.size() * 8; bit < bytes.size() * 8; ++bit) {
        bytes[bit / 8] = static_cast<char>(bytes[bit / 8] ^ (1 << bit % 8));
        EXPECT_EQ(decode_record(bytes).error().code, ErrorCode::kCorrupt) << "bit " << bit;
        bytes[bit / 8] = static_cast<char>(bytes[bit / 8] ^ (1 << bit % 8));
    }
}

}  // namespace
}  // namespace sluice
