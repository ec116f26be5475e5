// The check of a whole ledger (rule J1): whatever row is removed or altered, it says so.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>

#include "lmdb_store/ledger/keys.hpp"
#include "lmdb_store/ledger/ledger.hpp"
#include "lmdb_store/ledger/order_value.hpp"
#include "lmdb_store/ledger/row_value.hpp"
#include "unit/ledger/books.hpp"
#include "unit/lmdb_store/ledger/raw_rows.hpp"
#include "unit/lmdb_store/temp_store.hpp"

namespace sluice::test {
namespace {

using store::EmbeddedLedger;
using store::RawRows;
using store::RestoredFile;
using testing::AllOf;
using testing::Contains;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

constexpr AccountNumber kAcme{1};
constexpr ShopNumber kShop{1};

class LedgerVerifyTest : public testing::Test {
protected:
    void SetUp() override {
        ASSERT_TRUE(EmbeddedLedger::create(folder_.path()).ok());
        Books books(*open());
        books.apply({program()});
        books.creator("c1", "spring", "SAVE");
        books.create(order("paid", "SAVE"));
        books.close("spring", "2026-02-01T00:00:00Z");
        books.create(order("open", "SAVE"));
        books.create(order("waiting", "OTHER"));
        ledger_.reset();
        ASSERT_THAT(problems(), IsEmpty());
    }
    static OrderText order(std::string id, std::string code) {
        OrderText text;
        text.id = std::move(id);
        text.codes = {std::move(code)};
        return text;
    }
    EmbeddedLedger* open() {
        auto opened = EmbeddedLedger::open(folder_.path(), EmbeddedLedger::Mode::kReadWrite,
                                           std::uint64_t{1} << 24);
        EXPECT_TRUE(opened.ok()) << opened.error().message;
        ledger_ = std::move(*opened);
        return ledger_.get();
    }
    std::vector<std::string> problems(std::size_t max = 100) {
        const std::vector<std::string> found = open()->verify(Books::kNode, max);
        ledger_.reset();
        return found;
    }
    RawRows table(const char* name) const { return {folder_.path(), name}; }

    /// The problems once the table's row is changed; it is put back.
    template <class Row>
    std::vector<std::string> problems_with(const char* name, std::string_view key,
                                           const std::function<void(Row&)>& change) {
        const RestoredFile restored(folder_.path());
        for (const auto& [stored_key, value] : table(name).all()) {
            if (stored_key == key) {
                Row row{};
                EXPECT_TRUE(value_.decode(value, row));
                change(row);
                table(name).put(key, encode(row));
            }
        }
        return problems();
    }
    template <class Row>
    std::string encode(const Row& row) {
        return std::string(value_.encode(row));
    }
    std::string encode(const store::StoredGroup& row) {
        return std::string(value_.encode(row.group, row.node));
    }
    std::vector<std::string> problems_with_order(const char* id,
                                                 const std::function<void(OrderState&)>& change) {
        const RestoredFile restored(folder_.path());
        OrderState state;
        const OrderKey key{kAcme, kShop, OrderId(id)};
        EXPECT_TRUE(open()->snapshot(Books::kNode)->load_order(key, state));
        ledger_.reset();
        change(state);
        store::OrderValue value;
        table("orders").put(store::order_key(key).view(), value.encode(state));
        return problems();
    }

    store::TempFolder folder_;
    std::unique_ptr<EmbeddedLedger> ledger_;
    store::RowValue value_;
};

TEST_F(LedgerVerifyTest, J1_ARowThatIsRemovedIsMissed) {
    for (const char* name :
         {"journal", "chains", "balances", "payouts", "orders", "open", "waiting"}) {
        const auto rows = table(name).all();
        EXPECT_THAT(rows, testing::Not(IsEmpty())) << name;
        for (const auto& row : rows) {
            const RestoredFile restored(folder_.path());
            table(name).remove(row.first);
            EXPECT_THAT(problems(), testing::Not(IsEmpty())) << name;
        }
    }
    EXPECT_THAT(problems(), IsEmpty());
}

TEST_F(LedgerVerifyTest, J1_AnAlteredJournalEntryBreaksItsChain) {
    const auto key = std::string(store::number_key(1).view());
    const auto altered = problems_with<store::StoredGroup>("journal", key, [](auto& stored) {
        stored.group.lines.front().amount = Decimal(1'000'000, 2);
    });
    EXPECT_THAT(altered, Contains(HasSubstr("journal entry 1 was altered")));
    EXPECT_THAT(altered, Contains(HasSubstr("its journal says")));
    EXPECT_THAT(problems_with<store::StoredGroup>(
                    "journal", key, [](auto& stored) { stored.group.lines.front().amount = {}; }),
                Contains(HasSubstr("journal entry 1 has an amount of zero")));
}

TEST_F(LedgerVerifyTest, J1_JournalEntriesAreNumberedWithoutGapsOrRepetitions) {
    const auto [key, value] = table("journal").all().front();
    {
        const RestoredFile restored(folder_.path());
        table("journal").put(store::number_key(0).view(), value);
        EXPECT_THAT(problems(), Contains("journal entry 0 stands in the journal twice"));
    }
    table("journal").remove(key);
    EXPECT_THAT(problems(), Contains("journal entries 1 to 1 are missing"));
}

TEST_F(LedgerVerifyTest, J1_AChainMustEndWhereTheJournalDoes) {
    const std::string key = table("chains").all().front().first;
    EXPECT_THAT(problems_with<ChainHead>("chains", key, [](auto& chain) { chain.hash[0] ^= 1; }),
                Contains(HasSubstr("does not end where its chain does")));
    EXPECT_THAT(problems_with<ChainHead>("chains", key, [](auto& chain) { ++chain.entries; }),
                Contains(HasSubstr("does not end where its chain does")));
    const RestoredFile restored(folder_.path());
    table("chains").remove(key);
    EXPECT_THAT(problems(), Contains(HasSubstr("the journal of account number 1 has no chain")));
}

TEST_F(LedgerVerifyTest, J1_ABalanceIsTheSumOfItsJournalAndItsPayouts) {
    const std::string key = table("balances").all().front().first;
    const auto more = problems_with<Balance>(
        "balances", key, [](auto& row) { row.total = row.total + Decimal(1, 2); });
    EXPECT_THAT(more, SizeIs(1));
    EXPECT_THAT(more, Contains(AllOf(HasSubstr("the balance of creator c1 in program spring (USD)"),
                                     HasSubstr("20.01"), HasSubstr("20.00"))));
    const auto paid = problems_with<Balance>(
        "balances", key, [](auto& row) { row.paid = row.paid - Decimal(1, 2); });
    EXPECT_THAT(paid, SizeIs(1));
    EXPECT_THAT(paid, Contains(AllOf(HasSubstr("the paid amount of"), HasSubstr("9.99"))));
    const RestoredFile restored(folder_.path());
    table("balances").remove(key);
    EXPECT_THAT(problems(), Contains(HasSubstr("has a journal, but no balance")));
}

TEST_F(LedgerVerifyTest, J1_AnOrderOwesWhatItsJournalSays) {
    EXPECT_THAT(problems_with_order(
                    "open", [](OrderState& state) { state.dues.front().due = Decimal(999, 2); }),
                Contains(AllOf(HasSubstr("order open is due 9.99 USD"), HasSubstr("10.00"))));
    EXPECT_THAT(problems_with_order("open", [](OrderState& state) { state.dues.clear(); }),
                Contains(HasSubstr("order open has a journal in USD, but nothing due")));
    EXPECT_THAT(problems_with_order("open",
                                    [](OrderState& state) {
                                        for (EventTrace& event : state.events) {
                                            event.first_entry = 1;  // of another order
                                        }
                                    }),
                Contains(HasSubstr("an order's journal cannot be read")));
}

TEST_F(LedgerVerifyTest, IndexesLeadToEveryOrder) {
    {
        const RestoredFile restored(folder_.path());
        const std::string key = table("open").all().front().first;
        table("open").put(key, "no row");
        EXPECT_THAT(problems(), Contains(HasSubstr("table open,")));
        table("open").remove(key);
        EXPECT_THAT(problems(), Contains(HasSubstr("is not where payouts look for it")));
    }
    const RestoredFile restored(folder_.path());
    const std::string key = table("waiting").all().front().first;
    table("waiting").remove(key);
    const auto found = problems();
    EXPECT_THAT(found, Contains(HasSubstr("imports would not find it")));
    EXPECT_THAT(found, Contains(HasSubstr("there are 0 waiting orders")));
}

TEST_F(LedgerVerifyTest, TheHeadKnowsWhereTheJournalEnds) {
    const std::string key(Books::kNode);
    EXPECT_THAT(
        problems_with<store::NodeHead>("heads", key, [](auto& head) { ++head.head.next_entry; }),
        Contains(HasSubstr("the journal ends before entry")));
    EXPECT_THAT(open()->verify("another queue", 10), IsEmpty())
        << "a queue that was never drained has no head to compare with";
}

TEST_F(LedgerVerifyTest, AtMostAsManyProblemsAreNamedAsWereAskedFor) {
    for (const char* name : {"journal", "balances", "open", "waiting"}) {
        table(name).remove(table(name).all().front().first);
    }
    EXPECT_GT(problems().size(), 3U);
    EXPECT_THAT(problems(2), SizeIs(2));
}

}  // namespace
}  // namespace sluice::test
