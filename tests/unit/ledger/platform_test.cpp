// Inputs of a shop with a platform (rule O7). tests/examples/81 to 87 have what their orders earn.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/protocol/record.hpp"
#include "unit/ledger/rules_fixture.hpp"

namespace sluice::test {
namespace {

using testing::HasSubstr;

class PlatformRules : public RulesTest {
protected:
    void SetUp() override {
        RulesTest::SetUp();
        books.source = SourceText{};
    }

    static OrderText order(int second, std::vector<std::string> notes = {}) {
        OrderText text;
        text.updated = "2026-01-02T00:00:" + std::string(second < 10 ? "0" : "") +
                       std::to_string(second) + "Z";
        text.codes = {"SAVE"};
        text.notes = std::move(notes);
        return text;
    }

    std::optional<DeletedOrder> deletion(const char* id = "o1") {
        DeletedOrder row;
        row.order = {{1}, {1}, OrderId(id)};
        return books.read()->load(row) ? std::optional(row) : std::nullopt;
    }
};

TEST_P(PlatformRules, O7_ADuplicateIsRecognizedBeyondTheEventsOfTheRow) {
    for (int i = 0; i < 70; ++i) {
        const auto notes =
            i % 2 == 0 ? std::vector<std::string>{} : std::vector<std::string>{"TOTALS_DIFFER"};
        ASSERT_EQ(books.update(order(0, notes)).input_class, InputClass::kApplied) << i;
    }
    EXPECT_EQ(books.update(order(0, {"TOTALS_DIFFER"})).input_class, InputClass::kDuplicate);
    EXPECT_EQ(books.update(order(0)).input_class, InputClass::kApplied);
    EXPECT_EQ(books.update(order(0)).input_class, InputClass::kDuplicate);
    EXPECT_EQ(books.order().events_count, 71U);
    EXPECT_EQ(books.order().duplicates_count, 2U);
}

TEST_P(PlatformRules, O7_ADeletionIsKeptUntilAStateArrives) {
    const std::string version = "2026-01-02T00:00:30.999999999Z";
    EXPECT_EQ(books.remove("o1", version).input_class, InputClass::kApplied);
    const SequenceNumber deleted = books.last_seq();
    ASSERT_TRUE(deletion());
    EXPECT_EQ(deletion()->version.to_string(), version);
    EXPECT_EQ(books.remove("o1", version).input_class, InputClass::kDuplicate);
    EXPECT_EQ(books.remove("o1", "2026-01-02T00:00:29Z").input_class, InputClass::kStale);
    EXPECT_EQ(books.update(order(3)).input_class, InputClass::kApplied);
    EXPECT_FALSE(deletion());
    const OrderState state = books.order();
    EXPECT_EQ(state.version.to_string(), version);
    EXPECT_EQ(state.last_applied, deleted);
    ASSERT_EQ(state.events.size(), 2U);
    EXPECT_EQ(state.events.front().topic, Topic::kOrderDelete);
    EXPECT_EQ(state.events.front().seq, deleted);
    EXPECT_EQ(books.commission(), "0.00 USD");
}

TEST_P(PlatformRules, O7_OnWooCommerceNoDeletionIsKept) {
    books.source->platform = Platform::kWooCommerce;
    EXPECT_EQ(books.remove("o1").input_class, InputClass::kStale);
    EXPECT_EQ(books.remove("o1", "2026-01-02T00:00:30Z").input_class, InputClass::kStale);
    EXPECT_FALSE(deletion());
    books.update(order(3));
    EXPECT_EQ(books.commission(), "10.00 USD");
}

TEST_P(PlatformRules, O7_OnWooCommerceAnyStateUndoesADeletion) {
    books.source->platform = Platform::kWooCommerce;
    books.update(order(3));
    books.update(order(9));
    books.remove("o1");
    EXPECT_EQ(books.commission(), "0.00 USD");
    EXPECT_EQ(books.update(order(3)).input_class, InputClass::kApplied);
    EXPECT_EQ(books.commission(), "10.00 USD");
    EXPECT_EQ(books.order().version.to_string(), "2026-01-02T00:00:09Z") << "O5";
    EXPECT_EQ(books.update(order(5)).input_class, InputClass::kStale);
    EXPECT_EQ(books.update(order(9)).input_class, InputClass::kApplied);
}

TEST_P(PlatformRules, O7_ADeletionCancelsAtTheTimeOfItsWebhook) {
    books.update(order(3));
    books.source->triggered_at = "2026-01-03T10:00:00.5Z";
    books.remove("o1", "2026-01-03T10:00:00.999999999Z");
    EXPECT_EQ(books.order().cancelled_at->to_string(), "2026-01-03T10:00:00.5Z");
    books.source->triggered_at = "yesterday";
    books.receive_at("2026-02-03T00:00:07.25Z");
    books.remove("o1");
    EXPECT_EQ(books.order().cancelled_at->to_string(), "2026-02-03T00:00:07.25Z");
    EXPECT_EQ(books.order().version.to_string(), "2026-02-03T00:00:07.999999999Z");
}

TEST_P(PlatformRules, O7_ADeletionFromTheFutureIsAnAnomaly) {
    books.receive_at("2026-02-03T00:00:00Z");
    books.update(order(3));
    books.remove("o1", "2026-02-05T00:00:00Z");
    EXPECT_NE(books.order().anomalies_showing & bit(AnomalyKind::kVersionInFuture), 0U);
    EXPECT_EQ(books.order().plausible_version->to_string(), "2026-01-02T00:00:03Z");
}

TEST_P(PlatformRules, ADeletionThatIntakeCouldNotHaveWrittenIsADeadLetter) {
    for (const char* body : {"{}", R"({"platform_order_id":""})", "[]", "no JSON",
                             R"({"platform_order_id":"o1","platform_updated_at":"yesterday"})"}) {
        EXPECT_EQ(books.raw(Topic::kOrderDelete, body).input_class, InputClass::kDead) << body;
    }
    books.source.reset();
    const Applied applied = books.remove("o1");
    EXPECT_EQ(applied.input_class, InputClass::kDead);
    EXPECT_EQ(applied.text, "ORDER_DELETE of a shop without a platform");
}

TEST_P(PlatformRules, ALetterEndsOnceAStateOfItsOrderIsRead) {
    const auto faulty = [this](const std::string& id, const char* version) {
        const std::string body = R"({"platform_order_id":")" + id + R"(","platform_updated_at":")" +
                                 version + R"(","source":{"faults":[]}})";
        EXPECT_EQ(books.raw(Topic::kOrderUpdate, body).input_class, InputClass::kDead);
        return books.last_seq();
    };
    const auto letters = [this] {
        std::vector<SequenceNumber> seqs;
        books.read()->scan_dead([&](const DeadLetter& letter) { seqs.push_back(letter.seq); });
        return seqs;
    };
    const SequenceNumber early = faulty("o1", "2026-01-02T00:00:03Z");
    const SequenceNumber late = faulty("o1", "2026-01-02T00:00:09Z");
    const SequenceNumber other = faulty("o2", "2026-01-02T00:00:03Z");
    EXPECT_EQ(letters(), (std::vector{early, late, other}));
    books.update(order(5));
    EXPECT_EQ(letters(), (std::vector{late, other})) << "a later version is still unread";
    OrderText named = order(5);
    named.id = std::string(700, 'x');
    faulty(named.id, "2026-01-02T00:00:03Z");
    books.restart();
    books.update(named);
    EXPECT_EQ(letters(), (std::vector{late, other})) << "from the rows alone, of a long id too";
    EXPECT_EQ(books.read()->head().totals.dead, 2U);
    EXPECT_EQ(books.read()->head().totals.stale, 2U);
    books.update(order(9));
    EXPECT_EQ(letters(), std::vector{other});
    books.command(DeadReplay{{other}});
    EXPECT_EQ(letters(), std::vector{other}) << "it is as unreadable as it was";
    books.command(DeadDiscard{{other}});
    EXPECT_EQ(letters(), std::vector<SequenceNumber>());
    DeadOrder row{.order = {{1}, {1}, OrderId("o2")}, .seq = other};
    EXPECT_FALSE(books.read()->load(row));
    EXPECT_EQ(books.read()->head().totals.dead, 0U);
}

TEST_P(PlatformRules, ARequestAboutAPersonStaysADeadLetter) {
    const Applied applied = books.raw(
        Topic::kPrivacyRequest,
        R"({"topic":"customers/redact","platform_customer_id":"7","platform_order_ids":["o1"]})");
    EXPECT_EQ(applied.input_class, InputClass::kDead);
    const SequenceNumber seq = books.last_seq();
    EXPECT_THAT(books.read()->dead_letter(seq)->reason, HasSubstr("PRIVACY_REQUEST"));
    EXPECT_EQ(books.command(DeadReplay{{seq}}).text, "0 replayed, 1 still dead");
    EXPECT_THAT(books.read()->dead_letter(seq)->reason, HasSubstr("PRIVACY_REQUEST"));
}

SLUICE_FOR_EVERY_LEDGER(PlatformRules);

}  // namespace
}  // namespace sluice::test
