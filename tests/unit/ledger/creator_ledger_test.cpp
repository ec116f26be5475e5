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
#include "core/reports/statement.hpp"
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
    for (const CreatorOrder& order : own.orders({}, now).rows) {
        text += encode_json(order) + "\n";
    }
    for (const std::string& order : orders) {
        for (const char* const shop : {"shop-1", "shop-2", "shop-9", "none"}) {
            const auto detail = own.order(ShopId(shop), OrderId(order), now);
            text += detail ? encode_json(*detail) + "\n" : "none\n";
        }
    }
    for (const CreatorPayment& payment : own.payments({}).rows) {
        text += encode_json(payment) + "\n";
        for (const CreatorPaymentItem& item : own.items(payment.id, {})->rows) {
            text += encode_json(item) + "\n";
        }
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
    const auto page = of("ann").orders({}, instant("2026-02-21T00:00:00Z"));
    ASSERT_EQ(page.rows.size(), 1U);
    EXPECT_EQ(encode_json(page.rows[0]),
              R"({"number":"1001","shop":"shop-1","day":"2026-02-20","code":"ANNA15",)"
              R"("commission":"8.00","currency":"USD","state":"PENDING","ready_on":"2026-03-06",)"
              R"("payments":[]})");
    EXPECT_TRUE(of("ben").orders({}, instant(kNow)).rows.empty());
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

TEST_P(CreatorLedgerTest, Example4TheKindOfABlockIsNotShown) {
    books_.receive_at("2026-02-20T11:00:00Z");
    OrderText text = order("1001", "ANNA15", "80.00");
    text.updated = text.ordered;
    books_.create(text);
    text.cancelled = text.ordered;
    books_.cancel(text);
    const std::string shown = all_of(*books_.read(), kAcme, "ann", {"1001"});
    EXPECT_NE(shown.find(R"("state":"CHECKED")"), std::string::npos) << shown;
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
    EXPECT_TRUE(of("ann").orders({}, instant(kNow)).rows.empty());
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
    const auto page = of("ann").orders({}, instant(kNow));
    ASSERT_EQ(page.rows.size(), 1U);
    EXPECT_EQ(page.rows[0].code, "ANNA15");
    text.updated = "2026-02-22T00:00:00Z";
    text.codes = {"BEN10"};
    books_.update(text);
    EXPECT_EQ(of("ann").orders({}, instant(kNow)).rows[0].code, std::nullopt);
}

TEST_P(CreatorLedgerTest, Example11PaymentsAreSentAndComeBack) {
    books_.receive_at("2026-01-31T01:00:00Z");
    books_.create(order("1001", "ANNSUN", "80.00", "2026-01-10T10:00:00Z"));
    books_.create(order("1002", "BEN10", "80.00", "2026-01-10T10:00:00Z"));
    books_.receive_at("2026-02-20T00:00:00Z");
    books_.close_account("2026-02-20T00:00:00Z");
    const auto hers = of("ann").payments({}), his = of("ben").payments({});
    ASSERT_EQ(hers.rows.size(), 1U);
    ASSERT_EQ(his.rows.size(), 1U);
    EXPECT_EQ(hers.rows[0].amount.to_string(), "4.00");
    EXPECT_EQ(of("ann").items(hers.rows[0].id, {})->rows.size(), 1U);
    EXPECT_FALSE(of("ann").payment(his.rows[0].id));
    EXPECT_FALSE(of("ann").items(his.rows[0].id, {}));
    EXPECT_FALSE(of("ann", kOther).payment(hers.rows[0].id));
    EXPECT_FALSE(of("ann").payment("P-none"));
    books_.command(PayoutMove{PayoutVerb::kSent, {hers.rows[0].id}});
    EXPECT_EQ(of("ann").payment(hers.rows[0].id)->state, "SENT");
    books_.command(PayoutMove{PayoutVerb::kFailed, {hers.rows[0].id}});
    EXPECT_EQ(of("ann").payment(hers.rows[0].id)->state, "CAME_BACK");
    EXPECT_EQ(of("ann").home(instant(kNow)).amounts[0].ready.to_string(), "4.00");
}

// ---- Random histories ---------------------------------------------------------------------------

const std::vector<std::string> kOrders{"o1", "o2", "o3", "o4", "o5", "o6"};

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
        text.id = kOrders[which + (is_hers ? 0 : 3)];
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
            const auto reader = books.read();
            hers.insert(all_of(*reader, kAcme, "ann", kOrders));
            his.insert(all_of(*reader, kAcme, "ben", kOrders));
            EXPECT_EQ(all_of(*reader, kOther, "ann", kOrders),
                      all_of(*reader, kOther, "zoe", kOrders))
                << "of another account";
        }
        EXPECT_EQ(hers.size(), 1U);
        EXPECT_GT(his.size(), 1U) << "the histories of the other creator do not differ";
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
