#include "core/protocol/record.hpp"

#include <gtest/gtest.h>

#include <string>

#include "core/protocol/record_limits.hpp"
#include "core/values/crc32c.hpp"

using namespace std::string_view_literals;

namespace sluice {
namespace {

RecordMeta order_meta() {
    RecordMeta meta;
    meta.topic = Topic::kOrderUpdate;
    meta.account_number = {7};
    meta.shop_number = {4'000'000'000};
    meta.account_id = "acme";
    meta.shop_id = "shop-1";
    meta.received_at = {1'700'000'000, 123'456'789};
    meta.request_id = "0123456789abcdef0123456789abcdef";
    meta.anon_id = "anon \xf0\x9f\x9b\x92";
    meta.token = 0x0123456789abcdef;
    return meta;
}

std::string encoded(const RecordMeta& meta, std::string_view body) {
    RecordEnvelope envelope;
    envelope.encode(meta, body);
    return std::string(envelope.prefix()) + std::string(body);
}

ErrorCode decode_error(std::string_view bytes) {
    const Result<RecordView> record = decode_record(bytes);
    EXPECT_FALSE(record.ok());
    return record.ok() ? ErrorCode::kInternal : record.error().code;
}

TEST(Crc32cRules, MatchesTheKnownVectors) {
    EXPECT_EQ(crc32c(0, "123456789"), 0xE3069283U);
    EXPECT_EQ(crc32c(0, std::string(32, '\0')), 0x8A9136AAU);
    EXPECT_EQ(crc32c(0, std::string(32, '\xff')), 0x62A8AB43U);
    EXPECT_EQ(crc32c(0, ""), 0U);
}

TEST(Crc32cRules, ContinuesFromASeed) {
    EXPECT_EQ(crc32c(crc32c(0, "1234"), "56789"), 0xE3069283U);
    EXPECT_EQ(crc32c(crc32c(0, ""), "123456789"), 0xE3069283U);
}

TEST(RecordRules, HeadIsLaidOutAsDocumented) {
    const std::string body = "{}";
    const std::string record = encoded(order_meta(), body);
    EXPECT_EQ(record.substr(0, 4), "SLR1");
    EXPECT_EQ(record.substr(4, 4), std::string("\x01\0\0\0", 4));
    EXPECT_EQ(static_cast<std::size_t>(static_cast<unsigned char>(record[8])),
              record.size() - kRecordHeadBytes - body.size());
    EXPECT_EQ(record.substr(12, 4), std::string("\x02\0\0\0", 4));
    EXPECT_EQ(record.substr(record.size() - 2), body);
}

TEST(RecordRules, EveryFieldIsReadBack) {
    const RecordMeta meta = order_meta();
    const std::string record = encoded(meta, "the body \0 byte for byte"sv);
    const Result<RecordView> view = decode_record(record);
    ASSERT_TRUE(view.ok());
    EXPECT_EQ(view->meta.topic, meta.topic);
    EXPECT_EQ(view->meta.account_number, meta.account_number);
    EXPECT_EQ(view->meta.shop_number, meta.shop_number);
    EXPECT_EQ(view->meta.account_id, meta.account_id);
    EXPECT_EQ(view->meta.shop_id, meta.shop_id);
    EXPECT_EQ(view->meta.received_at, meta.received_at);
    EXPECT_EQ(view->meta.request_id, meta.request_id);
    EXPECT_EQ(view->meta.idempotency_key, "");
    EXPECT_EQ(view->meta.anon_id, meta.anon_id);
    EXPECT_EQ(view->meta.token, meta.token);
    EXPECT_EQ(view->meta.actor, "");
    EXPECT_EQ(view->meta.records_count, 1U);
    EXPECT_FALSE(view->meta.bulk);
    EXPECT_EQ(view->body, "the body \0 byte for byte"sv);
}

TEST(RecordRules, TheSourceIsReadBack) {
    RecordMeta meta = order_meta();
    EXPECT_FALSE(decode_record(encoded(meta, "{}"))->meta.source);
    meta.source = RecordSource{Platform::kWooCommerce};
    const std::string plain = encoded(meta, "{}");
    ASSERT_TRUE(decode_record(plain)->meta.source);
    EXPECT_EQ(decode_record(plain)->meta.source->platform, Platform::kWooCommerce);
    EXPECT_FALSE(decode_record(plain)->meta.source->signature);
    meta.source = {Platform::kShopify, "orders/updated",         "id of the delivery",
                   "id of the event",  "2026-03-01T10:00:01.5Z", "2026-04",
                   sha256("signed")};
    const std::string record = encoded(meta, "{}");
    const RecordSource source = *decode_record(record)->meta.source;
    EXPECT_EQ(source.topic, "orders/updated");
    EXPECT_EQ(source.delivery, "id of the delivery");
    EXPECT_EQ(source.event, "id of the event");
    EXPECT_EQ(source.triggered_at, "2026-03-01T10:00:01.5Z");
    EXPECT_EQ(source.api_version, "2026-04");
    EXPECT_EQ(source.signature, sha256("signed"));
}

TEST(RecordRules, ViewsPointIntoTheRecordItself) {
    const std::string record = encoded(order_meta(), "body");
    const Result<RecordView> view = decode_record(record);
    ASSERT_TRUE(view.ok());
    for (const std::string_view text : {view->meta.shop_id, view->meta.anon_id, view->body}) {
        EXPECT_GE(text.data(), record.data());
        EXPECT_LE(text.data() + text.size(), record.data() + record.size());
    }
}

TEST(RecordRules, BulkReferenceIsReadBack) {
    RecordMeta meta = order_meta();
    meta.topic = Topic::kProductUpsert;
    meta.idempotency_key = std::string_view("key\0with nul", 12);
    meta.records_count = 1000;
    meta.bulk = BulkRef{"00000000000000aa.body", kBulkBytesMax, sha256("body")};
    const std::string record = encoded(meta, {});
    const Result<RecordView> view = decode_record(record);
    ASSERT_TRUE(view.ok());
    ASSERT_TRUE(view->meta.bulk);
    EXPECT_EQ(view->meta.bulk->file_name, "00000000000000aa.body");
    EXPECT_EQ(view->meta.bulk->bytes, kBulkBytesMax);
    EXPECT_EQ(view->meta.bulk->sha256, sha256("body"));
    EXPECT_EQ(view->meta.idempotency_key, std::string_view("key\0with nul", 12));
    EXPECT_EQ(view->meta.records_count, 1000U);
    EXPECT_EQ(view->body, "");
}

TEST(RecordRules, ABulkFileNameNeverLeavesItsFolder) {
    for (const char* name :
         {"../registry/data.mdb", "a/b", "/etc/passwd", ".", "..", ".hidden", ""}) {
        RecordMeta meta = order_meta();
        meta.bulk = BulkRef{name, 1, {}};
        EXPECT_EQ(decode_error(encoded(meta, {})), ErrorCode::kCorrupt) << name;
    }
}

TEST(RecordRules, ABulkFileNameHoldsNoNul) {
    RecordMeta meta = order_meta();
    meta.bulk = BulkRef{"name\0.bulk"sv, 1, {}};
    EXPECT_EQ(decode_error(encoded(meta, {})), ErrorCode::kCorrupt);
}

/// nginx can write any record: what one says must be what intake could have written.
TEST(RecordRules, K14_AFieldThatIntakeCouldNotHaveWrittenIsDamage) {
    const auto error_of = [](auto change) {
        RecordMeta meta = order_meta();
        change(meta);
        const Result<RecordView> view = decode_record(encoded(meta, meta.bulk ? "" : "{}"));
        return view.ok() ? std::string("none") : view.error().message;
    };
    const auto at = [&](std::int64_t seconds) {
        return error_of([&](RecordMeta& meta) { meta.received_at.seconds = seconds; });
    };
    const std::string time = "record is damaged: its time of receipt";
    EXPECT_EQ(at(0), "none");
    EXPECT_EQ(at(kReceiptEnd.seconds - 1), "none");
    for (const std::int64_t seconds :
         {std::int64_t{-1}, kReceiptEnd.seconds, std::int64_t{1'000'000'000'000},
          std::int64_t{1} << 62, -(std::int64_t{1} << 62)}) {
        EXPECT_EQ(at(seconds), time) << seconds;
    }
    const std::string long_id(129, 'a');
    const std::string id = "record is damaged: the id of its account or shop";
    for (const std::string_view wrong : {std::string_view("a b"), std::string_view("\xff\xfe"),
                                         "a\0b"sv, std::string_view(long_id)}) {
        EXPECT_EQ(error_of([&](RecordMeta& meta) { meta.shop_id = wrong; }), id);
        EXPECT_EQ(error_of([&](RecordMeta& meta) { meta.account_id = wrong; }), id);
    }
    const std::string long_text(256, 'a');
    const std::string request = "record is damaged: the id of its request";
    EXPECT_EQ(error_of([&](RecordMeta& meta) { meta.request_id = long_text; }), request);
    EXPECT_EQ(error_of([&](RecordMeta& meta) { meta.idempotency_key = long_text; }), request);
    for (const std::string_view wrong :
         {std::string_view("\xc3\x28"), "root\n"sv, "a\0b"sv, std::string_view(long_text)}) {
        EXPECT_EQ(error_of([&](RecordMeta& meta) { meta.actor = wrong; }),
                  "record is damaged: its actor");
    }
    const std::string source = "record is damaged: what it says of its source";
    const std::string long_header(501, 'a');
    for (const std::string_view wrong : {"\xc3\x28"sv, "a\n"sv, std::string_view(long_header)}) {
        EXPECT_EQ(error_of([&](RecordMeta& meta) {
                      meta.source = {Platform::kShopify, {}, wrong};
                  }),
                  source);
    }
    EXPECT_EQ(error_of([](RecordMeta& meta) { meta.source = RecordSource{Platform::kNone}; }),
              source);
    EXPECT_EQ(error_of([](RecordMeta& meta) { meta.actor = "J\xc3\xbcrgen"; }), "none");
    for (const std::uint32_t count : {0U, 1001U}) {
        EXPECT_EQ(error_of([&](RecordMeta& meta) { meta.records_count = count; }),
                  "record is damaged: its number of products");
    }
    EXPECT_EQ(error_of([](RecordMeta& meta) {
                  meta.bulk = BulkRef{"00000000000000aa.body", kBulkBytesMax + 1, sha256("body")};
              }),
              "record is damaged: the size of its body");
    EXPECT_EQ(
        decode_record(encoded(order_meta(), std::string(kRecordBytesMax, ' '))).error().message,
        "record is damaged: longer than any record");
}

TEST(RecordRules, AnInstantHasLessThanASecondOfNanoseconds) {
    RecordMeta meta = order_meta();
    meta.received_at.nanos = 999'999'999;
    EXPECT_TRUE(decode_record(encoded(meta, "{}")).ok());
    meta.received_at.nanos = 1'000'000'000;
    EXPECT_EQ(decode_error(encoded(meta, "{}")), ErrorCode::kCorrupt);
}

TEST(RecordRules, ABulkFileIsRecognisedByTheHeadAlone) {
    RecordMeta meta = order_meta();
    EXPECT_FALSE(claims_bulk(encoded(meta, "{}")));
    meta.bulk = BulkRef{"file", 3, {}};
    std::string record = encoded(meta, {});
    EXPECT_TRUE(claims_bulk(record));
    EXPECT_TRUE(claims_bulk(record.substr(0, kRecordHeadBytes))) << "whatever follows it";
    EXPECT_FALSE(claims_bulk(record.substr(0, kRecordHeadBytes - 1)));
    record[0] = static_cast<char>(record[0] ^ 1);
    EXPECT_FALSE(claims_bulk(record)) << "no record";
    EXPECT_TRUE(may_claim_bulk(record)) << "a damaged one is not missed";
    EXPECT_FALSE(may_claim_bulk(encoded(order_meta(), "{}")));
    EXPECT_FALSE(may_claim_bulk(record.substr(0, 6)));
}

TEST(RecordRules, EveryFlippedBitIsSeen) {
    RecordMeta meta = order_meta();
    meta.bulk = BulkRef{"file", 3, {}};
    for (const std::string& good :
         {encoded(order_meta(), "{\"amount\":\"1\"}"), encoded(meta, {})}) {
        for (std::size_t bit = 0; bit < good.size() * 8; ++bit) {
            std::string bad = good;
            bad[bit / 8] = static_cast<char>(bad[bit / 8] ^ (1 << (bit % 8)));
            EXPECT_FALSE(decode_record(bad).ok()) << "bit " << bit;
        }
    }
}

TEST(RecordRules, EveryTruncationAndExtensionIsSeen) {
    const std::string good = encoded(order_meta(), "{\"amount\":\"1\"}");
    for (std::size_t bytes = 0; bytes < good.size(); ++bytes) {
        EXPECT_EQ(decode_error(good.substr(0, bytes)), ErrorCode::kCorrupt) << bytes;
    }
    EXPECT_EQ(decode_error(good + '\0'), ErrorCode::kCorrupt);
}

TEST(RecordRules, ANewerFormatIsUnsupportedNotCorrupt) {
    std::string record = encoded(order_meta(), "{}");
    record[4] = 2;
    EXPECT_EQ(decode_error(record), ErrorCode::kUnsupported);
    RecordMeta meta = order_meta();
    meta.topic = static_cast<Topic>(200);
    EXPECT_EQ(decode_error(encoded(meta, "{}")), ErrorCode::kUnsupported);
}

TEST(RecordRules, RightChecksumOverWrongMetadataIsCorrupt) {
    // Metadata that is no FlatBuffer, as a bug of ours, not a bad disk, would write it.
    for (const std::size_t metadata_bytes :
         {std::size_t{0}, std::size_t{1}, std::size_t{4}, std::size_t{64}, std::size_t{5000}}) {
        std::string record = encoded(order_meta(), "").substr(0, kRecordHeadBytes);
        record[8] = static_cast<char>(metadata_bytes & 0xff);
        record[9] = static_cast<char>(metadata_bytes >> 8);
        const std::string metadata(metadata_bytes, '\xff');
        const std::uint32_t crc = crc32c(crc32c(0, record.substr(0, 16)), metadata);
        for (unsigned byte = 0; byte < 4; ++byte) {
            record[16 + byte] = static_cast<char>(crc >> (8 * byte));
        }
        EXPECT_EQ(decode_error(record + metadata), ErrorCode::kCorrupt) << metadata_bytes;
    }
}

/// The record with other flags and body, under a right checksum.
std::string resealed(std::string record, char flags, std::string_view body) {
    record[6] = flags;
    record[12] = static_cast<char>(body.size());
    record += body;
    const std::uint32_t crc =
        crc32c(crc32c(0, record.substr(0, 16)), record.substr(kRecordHeadBytes));
    for (unsigned byte = 0; byte < 4; ++byte) {
        record[16 + byte] = static_cast<char>(crc >> (8 * byte));
    }
    return record;
}

TEST(RecordRules, FlagsAgreeWithMetadataAndBody) {
    RecordMeta meta = order_meta();
    const std::string plain = encoded(meta, {});
    meta.bulk = BulkRef{"file", 3, {}};
    const std::string bulk = encoded(meta, {});
    EXPECT_TRUE(decode_record(resealed(plain, 0, "{}")).ok());
    EXPECT_TRUE(decode_record(resealed(bulk, 1, "")).ok());
    EXPECT_EQ(decode_error(resealed(plain, 1, "")), ErrorCode::kCorrupt);
    EXPECT_EQ(decode_error(resealed(bulk, 0, "{}")), ErrorCode::kCorrupt);
    EXPECT_EQ(decode_error(resealed(bulk, 1, "{}")), ErrorCode::kCorrupt);
    EXPECT_EQ(decode_error(resealed(plain, 2, "{}")), ErrorCode::kUnsupported);
}

TEST(RecordRules, ReadsFromAnyAddress) {
    const std::string record = encoded(order_meta(), "{}");
    std::string shifted;
    for (std::size_t shift = 0; shift < 8; ++shift) {
        shifted = std::string(shift, 'x') + record;
        const Result<RecordView> view = decode_record(std::string_view(shifted).substr(shift));
        ASSERT_TRUE(view.ok());
        EXPECT_EQ(view->meta.shop_id, "shop-1");
    }
}

TEST(RecordRules, LongMetadataIsAllowed) {
    RecordMeta meta = order_meta();
    const std::string anon_id(100'000, 'a');
    meta.anon_id = anon_id;
    const std::string record = encoded(meta, "{}");
    const Result<RecordView> view = decode_record(record);
    ASSERT_TRUE(view.ok());
    EXPECT_EQ(view->meta.anon_id, anon_id);
}

TEST(RecordRules, AnEnvelopeIsReusableAndMovable) {
    RecordEnvelope first;
    RecordEnvelope envelope = std::move(first);
    RecordMeta meta = order_meta();
    meta.bulk = BulkRef{"file", 3, {}};
    envelope.encode(meta, {});
    envelope.encode(order_meta(), "{}");
    EXPECT_EQ(std::string(envelope.prefix()) + "{}", encoded(order_meta(), "{}"));
}

}  // namespace
}  // namespace sluice
