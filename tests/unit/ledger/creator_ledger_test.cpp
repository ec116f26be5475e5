// A creator reads her own rows (creators CE12, CE13, CE16), with the sums that staff see, and not a
// byte of another's. On every stored ledger.
#include "core/creators/creator_ledger.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "core/ledger/paged_reads.hpp"
#include "core/lists/statement.hpp"
#include "core/statements/statements.hpp"
#include "unit/ledger/books.hpp"

namespace sluice::test {
namespace {

constexpr AccountNumber kAcme{1}, kOther{2};
constexpr std::string_view kNow = "2026-03-01T00:00:00Z";

std::uint64_t seed() {
    static const std::uint64_t value = [] {
        const char* given = std::getenv("SLUICE_SEED");
        return given != nullptr ? std::strtoull(given, nullptr, 10) : std::random_device{}();
    }();
    return value;
}

class Chance {
public:
    explicit Chance(std::uint64_t seed) : engine_(seed) {}
    std::size_t below(std::size_t n) { return engine_() % n; }

private:
    std::mt19937_64 engine_;
};

struct Months {
    Timestamp from, until;
};
const std::vector<Months>& months() {
    static const std::vector<Months> all{
        {instant("2026-01-01T00:00:00Z"), instant("2026-02-01T00:00:00Z")},
        {instant("2026-02-01T00:00:00Z"), instant("2026-03-01T00:00:00Z")}};
    return all;
}

/// Everything that a creator's page can show, as one text.
std::string all_of(LedgerReader& reader, AccountNumber account, std::string_view creator,
                   const std::vector<std::string>& orders) {
    CreatorLedger own(reader, CreatorScope::proven(account, CreatorId(creator)));
    const Timestamp now = instant(kNow);
    std::string text = encode_json(own.home(now)) + "\n";
    const auto orders_shown = own.orders({}, now);
    for (const CreatorOrder& order : orders_shown->rows) {
        text += encode_json(order) + "\n";
    }
    for (const std::string& order : orders) {
        for (const char* const shop : {"shop-1", "shop-2", "shop-9", "none"}) {
            const auto detail = own.order(ShopId(shop), OrderId(order), now);
            text += detail ? encode_json(*detail) + "\n" : "none\n";
            text += encode_json(own.find({ShopId(shop), order, {}, {}}, now)) + "\n";
        }
    }
    const auto payments_shown = own.payments({});
    for (const CreatorPayment& payment : payments_shown->rows) {
        text += encode_json(payment) + "\n";
        const auto items_shown = own.items(payment.id, {});
        for (const CreatorPaymentItem& item : items_shown->rows) {
            text += encode_json(item) + "\n";
        }
    }
    for (const CreatorLeftOut& left : own.left_out()) {
        text += encode_json(left) + "\n";
    }
    for (const Months& month : months()) {
        text += encode_json(own.statement(month.from, month.until)) + "\n";
    }
    return text;
}

class CreatorLedgerTest : public testing::TestWithParam<LedgerKind> {
protected:
    void SetUp() override {
        if (dynamic_cast<PagedReads*>(books_.read().get()) == nullptr) {
            GTEST_SKIP() << "a ledger in memory has no pages";
        }
        begin(books_);
    }

    static void begin(Books& books) {
        books.receive_at("2026-01-31T00:00:00Z");
        Program spring = program("spring");
        spring.clearing_days = 14;
        books.apply({spring, program("summer", "5%")});
        books.creators({{2, CreatorId("ann"), ProgramId("spring"), "ANNA15"},
                        {3, CreatorId("ben"), ProgramId("spring"), "BEN10"},
                        {4, CreatorId("ann"), ProgramId("summer"), "ANNSUN"}});
        Program others = program("autumn");
        others.account_id = AccountId("other");
        others.account = kOther;
        books.from_shop("shop-9");
        books.apply({others});
        books.creators({{2, CreatorId("ann"), ProgramId("autumn"), "ANNA15"}});
        books.from_shop("shop-1");
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

    std::string payout_of_creator(std::string_view creator) {
        const auto ids =
            lists::payout_ids(*books_.read(), {kAcme, CreatorId(creator), {}, "", ""}, 1);
        return ids.empty() ? "" : ids.front();
    }

    CreatorLedger of(std::string_view creator, AccountNumber account = kAcme) {
        reader_ = books_.read();
        return {*reader_, CreatorScope::proven(account, CreatorId(creator))};
    }

    std::unique_ptr<Ledger> ledger_ = GetParam().make();
    Books books_{*ledger_};
    std::unique_ptr<LedgerReader> reader_;
};

TEST_P(CreatorLedgerTest, Example2AnOrderWithHerCodeIsPendingUntilItsClearingDaysEnd) {
    books_.receive_at("2026-02-20T11:00:00Z");
    books_.create(order("1001", "ANNA15", "80.00"));
    const auto page = *of("ann").orders({}, instant("2026-02-21T00:00:00Z"));
    ASSERT_EQ(page.rows.size(), 1U);
    EXPECT_EQ(
        encode_json(page.rows[0]),
        R"({"number":"1001","shop":"shop-1","order":"1001","day":"2026-02-20","by":"CODE",)"
        R"("code":"ANNA15","link":null,"commission":"8.00","currency":"USD","state":"PENDING",)"
        R"("ready_on":"2026-03-06","checked_since":null,"payments":[]})");
    EXPECT_TRUE(of("ben").orders({}, instant(kNow))->rows.empty());
}

TEST_P(CreatorLedgerTest, Example3ARefundOfAQuarterIsCalculatedBeforeHerEyes) {
    books_.receive_at("2026-02-20T11:00:00Z");
    books_.create(order("1001", "ANNA15", "80.00"));
    OrderText refunded = order("1001", "ANNA15", "80.00");
    refunded.updated = "2026-02-21T00:00:00Z";
    refunded.refunds = {{"r1", "l1", "20.00"}};
    books_.update(refunded);
    const auto detail =
        of("ann").order(ShopId("shop-1"), OrderId("1001"), instant("2026-02-22T00:00:00Z"));
    ASSERT_TRUE(detail);
    EXPECT_EQ(detail->order.commission.to_string(), "6.00");
    ASSERT_EQ(detail->lines.size(), 1U);
    EXPECT_EQ(detail->lines[0].calculation, "80.00 x 10% x (1 - 20.00 / 80.00) = 6");
}

TEST_P(CreatorLedgerTest, AnOrderIsByCodeByLinkOrByHand) {
    books_.receive_at("2026-02-20T11:00:00Z");
    books_.click("device-1", "ann", "spring", "2026-02-20T09:00:00Z");
    books_.create(order("clicked", "none", "80.00"), "device-1");
    books_.create(order("given", "none", "80.00"));
    books_.command(Attribute{OrderId("given"), CreatorId("ann"), ProgramId("spring")});
    books_.create(order("coded", "ANNA15", "80.00"), "device-1");
    const auto page = of("ann").orders({}, instant("2026-02-21T00:00:00Z"));
    std::map<std::string, std::string> by;
    for (const CreatorOrder& row : page->rows) {
        by[row.order] = std::string(row.by) + " " + row.code.value_or("-");
    }
    const std::map<std::string, std::string> expected{
        {"clicked", "LINK -"}, {"given", "HAND -"}, {"coded", "CODE ANNA15"}};
    EXPECT_EQ(by, expected);
}

TEST_P(CreatorLedgerTest, ALineHasTheTitleOfTheCatalog) {
    books_.products(Topic::kProductUpsert,
                    R"([{"platform_product_id":"sku-1","title":"A mug","list_price":12}])");
    OrderText text = order("1001", "ANNA15", "80.00");
    text.lines[0].sku = "sku-1";
    books_.create(text);
    text.id = "1002";
    text.lines[0].sku = "sku-2";
    books_.create(text);
    const auto title = [this](const char* id) {
        return of("ann").order(ShopId("shop-1"), OrderId(id), instant(kNow))->lines[0].title;
    };
    EXPECT_EQ(title("1001"), "A mug");
    EXPECT_EQ(title("1002"), std::nullopt);
}

TEST_P(CreatorLedgerTest, Example4TheKindOfABlockIsNotShown) {
    books_.receive_at("2026-02-20T11:00:00Z");
    OrderText text = order("1001", "ANNA15", "80.00");
    text.updated = text.ordered;
    books_.create(text);
    text.cancelled = text.ordered;
    books_.cancel(text);
    const std::string shown = all_of(*books_.read(), kAcme, "ann", {"1001"});
    EXPECT_NE(shown.find(R"("state":"CHECKED","ready_on":null,"checked_since":"2026-02-20")"),
              std::string::npos)
        << shown;
    const CreatorFound found = of("ann").find({ShopId("shop-1"), "1001", {}, {}}, instant(kNow));
    EXPECT_EQ(found.cause, "CHECKED");
    EXPECT_EQ(found.day, "2026-02-20");
    EXPECT_EQ(shown.find("CANCEL_NOT_LATER"), std::string::npos) << shown;
    books_.command(Hold{{OrderId("1001"), {}, {}}});
    EXPECT_EQ(shown, all_of(*books_.read(), kAcme, "ann", {"1001"}))
        << "a hold and an anomaly are one word";
}

TEST_P(CreatorLedgerTest, OrdersOfOthersAndUnknownOnesAreNothingAlike) {
    books_.create(order("1001", "BEN10", "80.00"));
    const Timestamp now = instant(kNow);
    EXPECT_TRUE(of("ben").order(ShopId("shop-1"), OrderId("1001"), now));
    EXPECT_FALSE(of("ann").order(ShopId("shop-1"), OrderId("1001"), now));
    EXPECT_FALSE(of("ann", kOther).order(ShopId("shop-1"), OrderId("1001"), now));
    EXPECT_FALSE(of("ben").order(ShopId("shop-2"), OrderId("1001"), now));
    EXPECT_FALSE(of("ben").order(ShopId("none"), OrderId("1001"), now));
}

TEST_P(CreatorLedgerTest, ARejectedOrderIsInTheStatementAlone) {
    books_.receive_at("2026-02-20T11:00:00Z");
    books_.create(order("1001", "ANNA15", "80.00"));
    books_.command(Reject{OrderId("1001")});
    EXPECT_TRUE(of("ann").orders({}, instant(kNow))->rows.empty());
    EXPECT_FALSE(of("ann").order(ShopId("shop-1"), OrderId("1001"), instant(kNow)));
    const CreatorStatement february = of("ann").statement(months()[1].from, months()[1].until);
    ASSERT_EQ(february.entries.size(), 2U);
    EXPECT_EQ(february.entries[0].word, "EARNED");
    EXPECT_EQ(february.entries[1].word, "TAKEN_BACK");
    EXPECT_EQ(february.sums[0].closing.to_string(), "0.00");
}

TEST_P(CreatorLedgerTest, AnotherCreatorsCodeIsNeverShownEvenIfALaterPayloadHasItFirst) {
    books_.receive_at("2026-02-20T11:00:00Z");
    OrderText text = order("1001", "ANNA15", "80.00");
    books_.create(text);
    text.updated = "2026-02-21T00:00:00Z";
    text.codes = {"BEN10", "ANNA15"};
    books_.update(text);
    const auto page = *of("ann").orders({}, instant(kNow));
    ASSERT_EQ(page.rows.size(), 1U);
    EXPECT_EQ(page.rows[0].code, "ANNA15");
    text.updated = "2026-02-22T00:00:00Z";
    text.codes = {"BEN10"};
    books_.update(text);
    EXPECT_EQ(of("ann").orders({}, instant(kNow))->rows[0].code, "ANNA15")
        << "it is hers by this code";
}

TEST_P(CreatorLedgerTest, Example11PaymentsAreSentAndComeBack) {
    books_.receive_at("2026-01-31T01:00:00Z");
    books_.create(order("1001", "ANNSUN", "80.00", "2026-01-10T10:00:00Z"));
    books_.create(order("1002", "BEN10", "80.00", "2026-01-10T10:00:00Z"));
    books_.receive_at("2026-02-20T00:00:00Z");
    books_.close_account("2026-02-20T00:00:00Z");
    const auto hers = *of("ann").payments({}), his = *of("ben").payments({});
    ASSERT_EQ(hers.rows.size(), 1U);
    ASSERT_EQ(his.rows.size(), 1U);
    EXPECT_EQ(hers.rows[0].id, "20260220-USD");
    EXPECT_EQ(hers.rows[0].id, his.rows[0].id) << "a payment's number counts her payments alone";
    EXPECT_EQ(hers.rows[0].amount.to_string(), "4.00");
    EXPECT_EQ(of("ben").payment("20260220-USD")->amount.to_string(), "8.00");
    EXPECT_EQ(of("ann").items("20260220-USD", {})->rows.size(), 1U);
    EXPECT_FALSE(of("ann", kOther).payment("20260220-USD"));
    for (const char* const unknown :
         {"20260220-USD-2", "20260220-USD-1", "20260221-USD", "20260220", "P-none"}) {
        EXPECT_FALSE(of("ann").payment(unknown)) << unknown;
        EXPECT_FALSE(of("ann").items(unknown, {})) << unknown;
        EXPECT_FALSE(of("ann").payments(unknown)) << unknown;
    }
    const std::string payout = payout_of_creator("ann");
    EXPECT_FALSE(of("ann").payment(payout)) << "a payout's id is not shown and not taken";
    books_.command(PayoutMove{PayoutVerb::kSent, {payout}});
    EXPECT_EQ(of("ann").payment("20260220-USD")->state, "SENT");
    books_.command(PayoutMove{PayoutVerb::kFailed, {payout}});
    EXPECT_EQ(of("ann").payment("20260220-USD")->state, "CAME_BACK");
    books_.close_account("2026-02-20T00:00:00Z");
    const auto both = *of("ann").payments({});
    ASSERT_EQ(both.rows.size(), 2U);
    EXPECT_EQ(both.rows[0].id, "20260220-USD-2") << "the second one of the day";
    EXPECT_EQ(of("ann").payments("20260220-USD-2")->rows.size(), 1U);
    EXPECT_EQ(of("ann").home(instant(kNow)).amounts[0].on_its_way.to_string(), "4.00");
}

// ---- "Where is my order?" -----------------------------------------------------------------------

MissedOrder numbered(std::string_view number) {
    return {ShopId("shop-1"), std::string(number), {}, {}};
}

MissedOrder missed(std::optional<std::string> number, std::string_view day,
                   std::string_view total) {
    return {ShopId("shop-1"), std::move(number), instant(std::string(day) + "T00:00:00Z"),
            *Decimal::parse(total)};
}

TEST_P(CreatorLedgerTest, Example5AnotherCodeStoodFirstAndIsNotNamed) {
    books_.receive_at("2026-02-20T11:00:00Z");
    OrderText text = order("1002", "BEN10", "80.00");
    text.codes = {"BEN10", "ANNA15"};
    books_.create(text);
    EXPECT_EQ(
        encode_json(of("ann").find(numbered("1002"), instant(kNow))),
        R"({"cause":"OTHER_CODE","number":null,"shop":null,"order":null,"day":null,"since":null,)"
        R"("code":null,)"
        R"("program":"spring","days":null,"window":null,"commission":null,)"
        R"("currency":null})");
    EXPECT_EQ(of("ben").find(numbered("1002"), instant(kNow)).cause, "PENDING");
    EXPECT_EQ(of("ann", kOther).find(numbered("1002"), instant(kNow)).cause, "NOT_ARRIVED");
}

TEST_P(CreatorLedgerTest, Example6AnOrderOfAnotherAnswersNumberDayAndTotalTogether) {
    books_.receive_at("2026-03-02T11:00:00Z");
    books_.create(order("1003", "BEN10", "59.90", "2026-03-02T10:00:00Z"));
    const Timestamp now = instant("2026-03-03T00:00:00Z");
    const auto cause = [&](const MissedOrder& asked) {
        return encode_json(of("ann").find(asked, now));
    };
    const std::string unknown = cause(numbered("none"));
    EXPECT_EQ(cause(numbered("1003")), unknown);
    EXPECT_EQ(cause(missed("1003", "2026-03-02", "59.91")), unknown);
    EXPECT_EQ(cause(missed("1003", "2026-02-28", "59.90")), unknown);
    EXPECT_EQ(cause(missed({}, "2026-03-02", "59.90")), unknown) << "example 10";
    for (const char* const day : {"2026-03-01", "2026-03-02", "2026-03-03"}) {
        EXPECT_EQ(of("ann").find(missed("#1003", day, "59.9"), now).cause, "NO_DEVICE") << day;
    }
}

TEST_P(CreatorLedgerTest, Examples7And8AnEndedCodeAnswersUnlessItIsAnothersByThen) {
    books_.receive_at("2026-03-03T11:00:00Z");
    const auto ended = [](std::string_view code) {
        return CreatorImport::Row{2,
                                  CreatorId("ann"),
                                  ProgramId("spring"),
                                  std::string(code),
                                  {},
                                  {},
                                  instant("2026-03-01T00:00:00Z")};
    };
    books_.creators({ended("FREE"), ended("TAKEN")});
    books_.creators(
        {{2, CreatorId("ben"), ProgramId("spring"), "TAKEN", {}, instant("2026-03-01T00:00:00Z")}});
    books_.create(order("1004", "FREE", "80.00", "2026-03-03T10:00:00Z"));
    books_.create(order("1005", "TAKEN", "80.00", "2026-03-03T10:00:00Z"));
    const Timestamp now = instant("2026-03-04T00:00:00Z");
    const CreatorFound free = of("ann").find(numbered(" #1004"), now);
    EXPECT_EQ(free.cause, "CODE_ENDED");
    EXPECT_EQ(free.code, "FREE");
    EXPECT_EQ(free.day, "2026-03-01");
    EXPECT_EQ(of("ann").find(numbered("1005"), now).cause, "NOT_ARRIVED");
    EXPECT_EQ(of("ann").find(missed("1005", "2026-03-03", "80.00"), now).cause, "CODE_ENDED");
    EXPECT_EQ(of("ben").find(numbered("1004"), now).cause, "NOT_ARRIVED");
}

TEST_P(CreatorLedgerTest, Example9AConfirmationNumberAnswersAndOtherNumbersDoNot) {
    books_.receive_at("2026-02-20T11:00:00Z");
    books_.click("phone", "ann", "spring", "2026-01-06T10:00:00Z");
    OrderText text = order("450789469508", "NONE", "80.00");
    text.numbers = {"#1006"};
    text.confirmation = "XK4J2PQ9V";
    books_.create(text, "phone");
    const Timestamp now = instant(kNow);
    const std::string unknown = encode_json(of("ann").find(numbered("none"), now));
    for (const char* const number : {"XK4J2PQ9V", " #xk4j2pq9v "}) {
        const CreatorFound found = of("ann").find(numbered(number), now);
        EXPECT_EQ(found.cause, "CLICK_OLD") << number;
        EXPECT_EQ(found.days, "45");
        EXPECT_EQ(found.number, std::nullopt) << "it is not hers";
        EXPECT_EQ(of("ben").find(numbered(number), now).cause, "NO_TRACE");
    }
    for (const char* const number : {"#1006", "1006", "450789469508", "XK4J2PQ9", "XK4J2PQ9VX"}) {
        EXPECT_EQ(encode_json(of("ann").find(numbered(number), now)), unknown) << number;
    }
    EXPECT_EQ(encode_json(of("ann", kOther).find(numbered("XK4J2PQ9V"), now)), unknown);
    EXPECT_EQ(of("ann").find(missed("#1006", "2026-02-20", "80"), now).cause, "CLICK_OLD");
    text.updated = "2026-02-21T00:00:00Z";
    text.confirmation = "another-random-one";
    books_.update(text, "phone");
    EXPECT_EQ(encode_json(of("ann").find(numbered("XK4J2PQ9V"), now)), unknown)
        << "the newest payload has another one";
    EXPECT_EQ(books_.broken_invariant(), "");
}

TEST_P(CreatorLedgerTest, HerOrderIsCalledByItsFirstNumberWhereverItIsShown) {
    books_.receive_at("2026-01-31T01:00:00Z");
    OrderText text = order("450789469508", "ANNSUN", "80.00", "2026-01-10T10:00:00Z");
    text.numbers = {"#1001", "1001/b"};
    text.confirmation = "XK4J2PQ9V";
    books_.create(text);
    books_.receive_at("2026-02-20T00:00:00Z");
    books_.close_account("2026-02-20T00:00:00Z");
    const Timestamp now = instant(kNow);
    const auto page = *of("ann").orders({}, now);
    ASSERT_EQ(page.rows.size(), 1U);
    EXPECT_EQ(page.rows[0].number, "#1001");
    EXPECT_EQ(page.rows[0].order, "450789469508");
    EXPECT_EQ(of("ann").items("20260220-USD", {})->rows[0].number, "#1001");
    EXPECT_EQ(of("ann").statement(months()[0].from, months()[0].until).entries[0].number, "#1001");
    for (const char* const number : {"#1001", "1001", " 1001", "1001/B", "450789469508"}) {
        const CreatorFound found = of("ann").find(numbered(number), now);
        EXPECT_EQ(found.number, "#1001") << number;
        EXPECT_EQ(found.order, "450789469508") << number;
    }
    const std::string shown = all_of(*books_.read(), kAcme, "ann", {"450789469508"});
    EXPECT_EQ(shown.find("XK4J2PQ9V"), std::string::npos) << "a confirmation number is not shown";
    EXPECT_EQ(of("ann", kOther).find(numbered("#1001"), now).cause, "NOT_ARRIVED");
}

TEST_P(CreatorLedgerTest, Example12TheNextTierHasItsDistance) {
    Program spring = program("spring");
    spring.clearing_days = 14;
    spring.default_tiers = {{{*Currency::parse("USD"), Decimal(100'000, 2)}, *parse_rate("12%")}};
    books_.receive_at("2026-02-20T11:00:00Z");
    books_.apply({spring});
    books_.create(order("1001", "ANNA15", "867.60"));
    const auto tiers = of("ann").home(instant("2026-02-21T00:00:00Z")).tiers;
    ASSERT_EQ(tiers.size(), 1U);
    EXPECT_EQ(encode_json(tiers[0]),
              R"({"currency":"USD","volume":"867.60","from":"1000.00","missing":"132.40",)"
              R"("rate":"12%"})");
    EXPECT_EQ(of("ben").home(instant("2026-02-21T00:00:00Z")).tiers[0].missing.to_string(),
              "1000.00");
}

TEST_P(CreatorLedgerTest, Example10HerOwnOrderIsFoundByDayAndTotal) {
    books_.receive_at("2026-02-20T11:00:00Z");
    books_.create(order("1001", "ANNA15", "80.00"));
    const Timestamp now = instant("2026-02-21T00:00:00Z");
    const CreatorFound found = of("ann").find(missed({}, "2026-02-21", "80"), now);
    EXPECT_EQ(found.cause, "PENDING");
    EXPECT_EQ(found.day, "2026-03-06");
    EXPECT_EQ(found.number, "1001");
    EXPECT_EQ(of("ben").find(missed({}, "2026-02-21", "80"), now).cause, "NOT_ARRIVED");
    EXPECT_EQ(of("ann").find(missed({}, "2026-02-23", "80"), now).cause, "NOT_ARRIVED");
    books_.command(Reject{OrderId("1001")});
    const CreatorFound rejected = of("ann").find(numbered("1001"), now);
    EXPECT_EQ(rejected.cause, "TAKEN_BACK");
    EXPECT_EQ(rejected.number, std::nullopt) << "it is in the statement alone";
}

// ---- Random histories ---------------------------------------------------------------------------

const std::vector<std::string> kOrdersOfBoth{"o1", "o2", "o3", "o4", "o5", "o6"};

/// Random inputs of one creator's orders. Those of `creator` follow from `own` alone, those of the
/// other one from `others`.
void play(Books& books, Chance& own, Chance& others) {
    Timestamp now = instant("2026-02-01T00:00:00Z");
    for (std::size_t i = 0; i < 40; ++i) {
        now = now.plus_seconds(36'000);
        books.receive_at(now.to_string());
        const bool is_hers = i % 2 == 0;
        Chance& chance = is_hers ? own : others;
        const std::size_t which = chance.below(3), kind = chance.below(6);
        const std::size_t units = 10 + chance.below(90), refunded = chance.below(10);
        OrderText text;
        text.id = kOrdersOfBoth[which + (is_hers ? 0 : 3)];
        text.ordered = "2026-01-10T10:00:00Z";
        text.updated = now.to_string();
        text.codes = {is_hers ? "ANNA15" : "BEN10"};
        text.lines[0].amount = std::to_string(units) + ".07";
        if (kind == 0) {
            text.cancelled = now.to_string();
        } else if (kind == 1) {
            text.refunds = {{"r-" + text.id, "l1", std::to_string(refunded) + ".00"}};
        }
        if (kind < 4) {
            books.update(text);
        } else {
            books.adjust(text.id, std::to_string(1 + refunded) + ".25");
        }
    }
}

TEST_P(CreatorLedgerTest, NoByteDependsOnTheRowsOfAnotherCreator) {
    const std::size_t rounds = GetParam().is_on_a_server() ? 2 : 8;
    for (std::size_t round = 0; round < rounds; ++round) {
        SCOPED_TRACE("SLUICE_SEED=" + std::to_string(seed()) + " round " + std::to_string(round));
        std::set<std::string> hers, his;
        for (std::size_t other = 0; other < 3; ++other) {
            const std::unique_ptr<Ledger> ledger = GetParam().make();
            Books books(*ledger);
            begin(books);
            Chance own(seed() + round), others(seed() + 1000 * (other + 1) + round);
            play(books, own, others);
            books.close_account("2026-02-15T00:00:00Z");
            const auto reader = books.read();
            hers.insert(all_of(*reader, kAcme, "ann", kOrdersOfBoth));
            his.insert(all_of(*reader, kAcme, "ben", kOrdersOfBoth));
            EXPECT_EQ(all_of(*reader, kOther, "ann", kOrdersOfBoth),
                      all_of(*reader, kOther, "zoe", kOrdersOfBoth))
                << "of another account";
        }
        EXPECT_EQ(hers.size(), 1U);
        EXPECT_GT(his.size(), 1U) << "the histories of the other creator do not differ";
    }
}

TEST_P(CreatorLedgerTest, AnOrderOfAnotherCreatorAnswersItsNumberAloneAsAnUnknownOneDoes) {
    SCOPED_TRACE("SLUICE_SEED=" + std::to_string(seed()));
    Chance own(seed()), others(seed() + 1);
    play(books_, own, others);
    const std::string unknown = encode_json(of("ann").find(numbered("none"), instant(kNow)));
    std::size_t hers = 0;
    for (const std::string& id : kOrdersOfBoth) {
        hers += encode_json(of("ann").find(numbered(id), instant(kNow))) != unknown ? 1U : 0U;
        EXPECT_EQ(encode_json(of("ann", kOther).find(numbered(id), instant(kNow))), unknown) << id;
    }
    EXPECT_GT(hers, 0U);
    for (const char* const id : {"o4", "o5", "o6"}) {
        EXPECT_EQ(encode_json(of("ann").find(numbered(id), instant(kNow))), unknown) << id;
    }
}

/// Sums of `report balances` by currency.
std::map<std::string, std::vector<Decimal>> balance_sums(LedgerReader& reader, Timestamp now) {
    std::map<std::string, std::vector<Decimal>> sums;
    balances_at(reader, kAcme, now, [&](const BalanceAt& row) {
        auto& sum = sums.try_emplace(std::string(row.key.currency.code()), 5).first->second;
        const Decimal* const parts[] = {&row.pending, &row.blocked, &row.payable, &row.in_payout,
                                        &row.paid};
        for (std::size_t i = 0; i < sum.size(); ++i) {
            sum[i] += *parts[i];
        }
        return true;
    });
    return sums;
}

TEST_P(CreatorLedgerTest, TheHomesOfAllCreatorsAddUpToTheBalances) {
    for (std::size_t round = 0; round < 4; ++round) {
        SCOPED_TRACE("SLUICE_SEED=" + std::to_string(seed()) + " round " + std::to_string(round));
        Chance own(seed() + round), others(seed() + 1000 + round);
        play(books_, own, others);
        if (round % 2 == 1) {
            books_.close_account("2026-02-15T00:00:00Z");
        }
        for (const char* const at :
             {"2026-01-12T00:00:00Z", "2026-01-24T10:00:00Z", "2026-03-01T00:00:00Z"}) {
            const Timestamp now = instant(at);
            std::map<std::string, std::vector<Decimal>> sums;
            for (const char* const creator : {"ann", "ben"}) {
                for (const CreatorAmounts& amounts : of(creator).home(now).amounts) {
                    auto& sum = sums.try_emplace(amounts.currency, 5).first->second;
                    const Decimal parts[] = {amounts.pending, amounts.checked, amounts.ready,
                                             amounts.on_its_way, amounts.paid};
                    for (std::size_t i = 0; i < sum.size(); ++i) {
                        sum[i] += parts[i];
                    }
                }
            }
            EXPECT_EQ(sums, balance_sums(*books_.read(), now)) << at;
        }
    }
}

TEST_P(CreatorLedgerTest, AStatementClosesAsThatOfStaffDoes) {
    for (std::size_t round = 0; round < 4; ++round) {
        SCOPED_TRACE("SLUICE_SEED=" + std::to_string(seed()) + " round " + std::to_string(round));
        Chance own(seed() + round), others(seed() + 1000 + round);
        play(books_, own, others);
        for (const Months& month : months()) {
            const auto reader = books_.read();
            const Statement staffs = read_statement(*reader, kAcme, CreatorId("ann"), month.from,
                                                    month.until, [](const auto&) { return true; });
            Decimal closing, entries;
            for (const auto& [key, sums] : staffs.sums) {
                closing += sums.closing;
            }
            const CreatorStatement hers = of("ann").statement(month.from, month.until);
            ASSERT_LE(hers.sums.size(), 1U);
            const Decimal shown = hers.sums.empty() ? Decimal() : hers.sums[0].closing;
            EXPECT_EQ(shown, closing);
            entries = hers.sums.empty() ? Decimal() : hers.sums[0].opening;
            for (const CreatorEntry& entry : hers.entries) {
                entries += entry.amount;
            }
            EXPECT_EQ(entries, closing) << "the entries lead from opening to closing";
        }
    }
}

INSTANTIATE_TEST_SUITE_P(Ledgers, CreatorLedgerTest, testing::ValuesIn(ledger_kinds()),
                         [](const auto& of) { return of.param.name; });

}  // namespace
}  // namespace sluice::test
