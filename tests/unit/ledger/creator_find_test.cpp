// "Where is my order?" where the question has several answers, or none yet. On every stored ledger.
#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "core/creators/creator_ledger.hpp"
#include "core/ledger/paged_reads.hpp"
#include "unit/ledger/books.hpp"

namespace sluice::test {
namespace {

class CreatorFindTest : public testing::TestWithParam<LedgerKind> {
protected:
    void SetUp() override {
        if (dynamic_cast<PagedReads*>(books_.read().get()) == nullptr) {
            GTEST_SKIP() << "a ledger in memory has no pages";
        }
        books_.receive_at("2026-01-31T00:00:00Z");
        Program spring = program("spring");
        spring.clearing_days = 14;
        books_.apply({spring});
        books_.creators({{2, CreatorId("ann"), ProgramId("spring"), "ANNA15"},
                         {3, CreatorId("ben"), ProgramId("spring"), "BEN10"}});
    }
    static OrderText order(std::string_view id, std::string_view code, std::string_view amount,
                           std::string_view ordered = "2026-02-20T10:00:00Z") {
        OrderText text;
        text.id = id;
        text.codes = {std::string(code)};
        text.ordered = ordered;
        text.lines[0].amount = amount;
        return text;
    }
    static MissedOrder numbered(std::string_view number) {
        return {ShopId("shop-1"), std::string(number), {}, {}};
    }
    static MissedOrder missed(std::string_view number, std::string_view day,
                              std::string_view total) {
        return {ShopId("shop-1"), std::string(number), instant(std::string(day) + "T00:00:00Z"),
                *Decimal::parse(total)};
    }
    CreatorLedger of(std::string_view creator) {
        reader_ = books_.read();
        return {*reader_, CreatorScope::proven({1}, CreatorId(creator))};
    }

    std::unique_ptr<Ledger> ledger_ = GetParam().make();
    Books books_{*ledger_};
    std::unique_ptr<LedgerReader> reader_;
};

TEST_P(CreatorFindTest, OfTwoOrdersOfOneNumberHersAnswers) {
    books_.receive_at("2026-02-20T11:00:00Z");
    for (const char* const code : {"BEN10", "ANNA15", "NONE"}) {
        OrderText text = order(std::string("id-") + code, code, "80.00");
        text.numbers = {"#7"};
        text.lines[0].id = std::string("l-") + code;
        books_.create(text);
    }
    EXPECT_EQ(of("ann").find(numbered("#7"), instant("2026-03-01T00:00:00Z")).order, "id-ANNA15");
    EXPECT_EQ(of("ben").find(numbered("7"), instant("2026-03-01T00:00:00Z")).order, "id-BEN10");
}

TEST_P(CreatorFindTest, WhileInputsWaitAnUnknownOrderIsNotSaidToBeMissing) {
    books_.receive_at("2026-02-20T11:00:00Z");
    books_.create(order("1001", "BEN10", "80.00"));
    const Timestamp now = instant("2026-02-20T12:00:00Z");
    const std::string behind = encode_json(of("ann").find(numbered("none"), now, true));
    EXPECT_NE(behind.find(R"("cause":"BEHIND")"), std::string::npos) << behind;
    EXPECT_EQ(encode_json(of("ann").find(numbered("1001"), now, true)), behind);
    EXPECT_EQ(of("ben").find(numbered("1001"), now, true).cause, "PENDING") << "hers answers";
    Books second(*ledger_, "22222222-2222-3333-4444-555555555555");
    second.receive_at("2026-02-20T13:00:01Z");
    second.create(order("2001", "BEN10", "80.00"));
    const Timestamp later = instant("2026-02-20T13:00:02Z");
    EXPECT_EQ(of("ann").find(numbered("none"), later).cause, "BEHIND")
        << "the first node is more than an hour behind";
    EXPECT_EQ(of("ann").find(numbered("none"), instant("2026-02-21T11:00:00Z")).cause,
              "NOT_ARRIVED")
        << "it was taken out of service";
}

TEST_P(CreatorFindTest, CE19_AnOrderThatWasHersByAClickAnswersByItsDayAndTotal) {
    books_.receive_at("2026-02-20T11:00:00Z");
    books_.click("device", "ann", "spring", "2026-02-19T10:00:00Z");
    OrderText text = order("1001", "NONE", "80.00");
    text.codes.clear();
    books_.create(text, "device");
    const MissedOrder by_number = numbered("1001");
    const MissedOrder by_total{
        ShopId("shop-1"), {}, instant("2026-02-20T00:00:00Z"), Decimal::parse("80.00").value()};
    const Timestamp now = instant("2026-03-01T00:00:00Z");
    EXPECT_EQ(of("ann").find(by_total, now).cause, "PENDING");
    Detach detach;
    detach.order = OrderId("1001");
    books_.command(detach);
    EXPECT_EQ(of("ann").find(by_number, now).cause, "TAKEN_BACK");
    EXPECT_EQ(of("ann").find(by_total, now).cause, "TAKEN_BACK");
    EXPECT_EQ(of("ben").find(by_total, now).cause, "NOT_ARRIVED") << "it never was his";
}

TEST_P(CreatorFindTest, AShopThatIsSilentIsNamedAsTheReason) {
    Timestamp at = instant("2026-01-31T08:00:00Z");
    int number = 0;
    for (int day = 0; day < 20; ++day, at = at.plus_days(1)) {
        for (const int hours : {0, 4, 8}) {
            const std::string now = at.plus_seconds(hours * 3600).to_string();
            OrderText text = order("o-" + std::to_string(++number), "BEN10", "8.00", now);
            text.lines[0].id = "l-" + text.id;
            books_.receive_at(now);
            books_.create(text);
        }
    }
    const Timestamp last = at.plus_days(-1).plus_seconds(8 * 3600);
    const CreatorFound silent = of("ann").find(numbered("none"), last.plus_days(3));
    EXPECT_EQ(silent.cause, "SHOP_SILENT");
    EXPECT_EQ(silent.since, last.to_string());
    EXPECT_EQ(encode_json(of("ann").find(numbered("o-1"), last.plus_days(3))), encode_json(silent));
    EXPECT_EQ(of("ann").find(numbered("none"), last.plus_seconds(3600)).cause, "NOT_ARRIVED");
    EXPECT_EQ(of("ben").find(numbered("o-60"), last.plus_days(3)).cause, "PENDING");
}

TEST_P(CreatorFindTest, AnOrderThatEarnsNothingSaysWhyAsFindDoes) {
    books_.receive_at("2026-02-20T11:00:00Z");
    OrderText returned = order("1001", "ANNA15", "80.00");
    books_.create(returned);
    returned.updated = "2026-02-21T00:00:00Z";
    returned.refunds = {{"r1", "l1", "80.00"}};
    books_.update(returned);
    books_.create(order("1002", "ANNA15", "0.00"));
    for (const auto& [id, cause] :
         {std::pair("1001", "REFUNDED"), std::pair("1002", "EARNS_NOTHING")}) {
        const auto shown =
            of("ann").order(ShopId("shop-1"), OrderId(id), instant("2026-03-01T00:00:00Z"));
        ASSERT_TRUE(shown);
        EXPECT_EQ(shown->order.state, cause);
        const CreatorFound found =
            of("ann").find({ShopId("shop-1"), id, {}, {}}, instant("2026-03-01T00:00:00Z"));
        EXPECT_EQ(found.cause, cause);
    }
}

TEST_P(CreatorFindTest, Example9AClickThatIsTooOldSaysByHowMuch) {
    books_.receive_at("2026-02-20T11:00:00Z");
    books_.click("phone", "ann", "spring", "2026-01-06T10:00:00Z");
    books_.create(order("1006", "NONE", "80.00"), "phone");
    const CreatorFound found =
        of("ann").find(missed("1006", "2026-02-20", "80"), instant("2026-03-01T00:00:00Z"));
    EXPECT_EQ(found.cause, "CLICK_OLD");
    EXPECT_EQ(found.days, "45");
    EXPECT_EQ(found.window, "30");
    EXPECT_EQ(
        of("ben").find(missed("1006", "2026-02-20", "80"), instant("2026-03-01T00:00:00Z")).cause,
        "NO_TRACE");
    EXPECT_EQ(of("ann").find(numbered("1006"), instant("2026-03-01T00:00:00Z")).cause,
              "NOT_ARRIVED");
}

INSTANTIATE_TEST_SUITE_P(Ledgers, CreatorFindTest, testing::ValuesIn(ledger_kinds()),
                         [](const auto& of) { return of.param.name; });

}  // namespace
}  // namespace sluice::test
