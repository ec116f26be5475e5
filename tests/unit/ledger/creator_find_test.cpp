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

INSTANTIATE_TEST_SUITE_P(Ledgers, CreatorFindTest, testing::ValuesIn(ledger_kinds()),
                         [](const auto& of) { return of.param.name; });

}  // namespace
}  // namespace sluice::test
