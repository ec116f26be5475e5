// K14: whatever one record says, the worker applies it or makes it a dead letter, and continues.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "core/protocol/record_limits.hpp"
#include "core/values/crc32c.hpp"
#include "os/clock/clock.hpp"
#include "unit/ledger/worker_scene.hpp"

namespace sluice::test {
namespace {

using testing::StartsWith;
using worker::DrainStore;
using worker::order_body;

class K14Records : public OnBothLedgers {
protected:
    static RecordMeta order_meta() { return DrainStore::meta_of(Topic::kOrderUpdate); }
    /// The worker takes the record, and an order after it.
    void expect_dead(SequenceNumber seq, const std::string& words) {
        const SequenceNumber next = store_.order("after", ++version_);
        store_.drain_all();
        EXPECT_THAT(store_.dead_reason(seq), StartsWith(words));
        const LedgerHead head = store_.head_of_ledger();
        EXPECT_EQ(head.applied_seq, next) << "the ledger is readable, and the worker went on";
        EXPECT_EQ(head.totals.dead, ++dead_);
    }
    void expect_dead(const RecordMeta& meta, const std::string& words) {
        expect_dead(store_.append(meta, order_body("hostile", ++version_)), words);
    }

    int version_ = 0;
    std::uint64_t dead_ = 0;
};

TEST_P(K14Records, ATimeOfReceiptOutOfRangeIsADeadLetter) {
    for (const std::int64_t seconds :
         {std::int64_t{1'000'000'000'000}, std::int64_t{1} << 62, -(std::int64_t{1} << 62),
          std::int64_t{-1}, kReceiptEnd.seconds}) {
        RecordMeta meta = order_meta();
        meta.received_at.seconds = seconds;
        expect_dead(meta, "record is damaged: its time of receipt");
    }
    EXPECT_EQ(store_.audit(), "nothing");
}

TEST_P(K14Records, AReceiptAheadOfTheClockIsADeadLetterUntilItsTimeHasCome) {
    RecordMeta meta = order_meta();
    meta.received_at = now().plus_days(2);
    const SequenceNumber seq = store_.append(meta, order_body("early", 1));
    expect_dead(seq, "RECEIVED_IN_FUTURE");
    store_.command(DeadReplay{{seq}});
    store_.drain_all();
    EXPECT_THAT(store_.dead_reason(seq), StartsWith("RECEIVED_IN_FUTURE"));
    RecordMeta later = DrainStore::meta_of(Topic::kDeadReplay);
    later.received_at = now().plus_days(2);
    const std::string body = encode_request({{}, {}, DeadReplay{{seq}}});
    later.seal = store_.seal_of(later, body);
    store_.append(later, body);
    store_.drain_all();
    EXPECT_EQ(store_.dead_reason(seq), "none");
    EXPECT_EQ(store_.audit(), "nothing");
}

TEST_P(K14Records, AShopThatTheRegistryDoesNotNameIsADeadLetter) {
    store_.order("a", 1);
    store_.drain_all();
    const auto forged = [](std::uint32_t account, std::uint32_t shop, const char* account_id,
                           const char* shop_id) {
        RecordMeta meta = order_meta();
        meta.account_number = {account};
        meta.shop_number = {shop};
        meta.account_id = account_id;
        meta.shop_id = shop_id;
        return meta;
    };
    const std::string words = "SHOP_NOT_REGISTERED: ";
    expect_dead(forged(1, 1, "acme", "shop-7"), words);
    expect_dead(forged(1, 1, "acme2", "shop-1"), words);
    expect_dead(forged(2, 1, "acme", "shop-1"), words);
    expect_dead(forged(1, 7, "acme", "shop-1"), words);
    // The number of a shop that is created later is not taken from it.
    const RecordMeta next = forged(1, 2, "acme", "evil");
    const SequenceNumber early = store_.append(next, order_body("early", 1));
    expect_dead(early, words);
    store_.register_shop("shop-2");
    const SequenceNumber of_shop =
        store_.append(forged(1, 2, "acme", "shop-2"), order_body("its-own", 1));
    store_.drain_all();
    EXPECT_EQ(store_.dead_reason(of_shop), "none");
    store_.command(DeadReplay{});
    store_.drain_all();
    EXPECT_THAT(store_.dead_reason(early), StartsWith(words));
    EXPECT_EQ(store_.audit(), "nothing");
}

/// Metadata that no intake wrote, and bytes that were flipped under a checksum that fits.
class HostileRecords {
public:
    std::string next() {
        RecordMeta meta = DrainStore::meta_of(pick(kTopics));
        meta.seal.reset();
        if (one_in(2)) {
            meta.account_number = {pick(kNumbers)};
        }
        if (one_in(2)) {
            meta.shop_number = {pick(kNumbers)};
        }
        meta.account_id = one_in(2) ? "acme" : pick(kTexts);
        meta.shop_id = one_in(2) ? "shop-1" : pick(kTexts);
        meta.received_at.seconds = one_in(2) ? worker::kReceived.seconds : pick(kTimes);
        meta.received_at.nanos = one_in(4) ? 0xffff'ffff : 0;
        meta.actor = one_in(2) ? "tester" : pick(kTexts);
        meta.anon_id = one_in(2) ? "" : pick(kTexts);
        meta.request_id = one_in(2) ? "" : pick(kTexts);
        meta.records_count = pick(kNumbers);
        if (one_in(4)) {
            meta.anon_pseudonym = sha256("pseudonym");
        }
        std::string body = pick(kBodies);
        if (one_in(8)) {
            meta.bulk = BulkRef{one_in(2) ? "0123456789abcdef0123456789abcdef.bulk" : pick(kTexts),
                                std::uint64_t{1} << random_() % 63, sha256("lost")};
            body.clear();
        }
        RecordEnvelope envelope;
        envelope.encode(meta, body);
        std::string record = std::string(envelope.prefix()) + body;
        if (one_in(2)) {
            flip(record);
        }
        return record;
    }

private:
    static constexpr std::array kTopics{
        Topic::kOrderCreate,   Topic::kOrderUpdate,  Topic::kOrderCancel, Topic::kProductUpsert,
        Topic::kProductDelete, Topic::kProgramApply, Topic::kForget,      Topic::kDeadReplay,
        Topic::kWriteOff,      Topic::kClick};
    static constexpr std::array<std::uint32_t, 5> kNumbers{0, 1, 2, 1001, 0xffff'ffff};
    static constexpr std::array<std::int64_t, 7> kTimes{0,
                                                        -1,
                                                        1'000'000'000'000,
                                                        253'402'300'800,
                                                        250'240'060'800,
                                                        std::numeric_limits<std::int64_t>::max(),
                                                        std::numeric_limits<std::int64_t>::min()};
    const std::array<std::string, 6> kTexts{"",    std::string("a\0b", 3), "\xff\xfe",
                                            "a b", std::string(5000, 'a'), "../../etc"};
    const std::array<std::string, 8> kBodies{
        order_body("a", 1),
        order_body("b", 2, "10.00"),
        order_body(std::string(1024, 'x'), 3),
        R"({"products":[{"platform_product_id":"p","title":"t"}]})",
        encode_request({"k", "r", ProgramApply{{worker::spring_program()}}}),
        encode_clicks({ClickSource::kPost,
                       {{sha256("device"), worker::kReceived, LinkId("a"), ProgramId("spring"),
                         CreatorId("anna")}}}),
        "{}",
        std::string("\0\xff not JSON", 11)};

    bool one_in(unsigned of) { return random_() % of == 0; }
    template <class List>
    const typename List::value_type& pick(const List& list) {
        return list[random_() % list.size()];
    }
    void flip(std::string& record) {
        for (int flips = 1 + static_cast<int>(random_() % 3); flips > 0; --flips) {
            record[kRecordHeadBytes + random_() % (record.size() - kRecordHeadBytes)] =
                static_cast<char>(random_());
        }
        const std::uint32_t crc =
            crc32c(crc32c(0, {record.data(), 16}), std::string_view(record).substr(20));
        std::memcpy(record.data() + 16, &crc, sizeof(crc));
    }

    std::mt19937_64 random_{20261128};
};

TEST_P(K14Records, NoRecordStopsTheWorkerOrMakesTheLedgerUnreadable) {
    constexpr int kRounds = 20;
    constexpr int kRecords = 40;
    HostileRecords hostile;
    store_.program_and_creator();
    for (int round = 0; round < kRounds && !HasFatalFailure(); ++round) {
        for (int i = 0; i < kRecords; ++i) {
            store_.append_raw(hostile.next(), {});
        }
        const SequenceNumber last = store_.order("sound", round + 1);
        store_.drain_all();
        EXPECT_EQ(store_.head_of_ledger().applied_seq, last);
        EXPECT_EQ(store_.dead_reason(last), "none");
    }
    store_.command(DeadReplay{});
    store_.drain_all();
    EXPECT_GT(store_.head_of_ledger().totals.dead, kRounds * kRecords / 2U);
    EXPECT_EQ(store_.audit(), "nothing");
}

INSTANTIATE_TEST_SUITE_P(Ledgers, K14Records,
                         testing::Values(WorkerLedger::kEmbedded, WorkerLedger::kPostgres),
                         name_of_worker_ledger);

}  // namespace
}  // namespace sluice::test
