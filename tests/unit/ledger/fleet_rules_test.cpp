// Two nodes write one PostgreSQL ledger: each order's events, and people's commands, come through
// either of them, also at the same moment.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <exception>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>

#include "core/ledger/account_rows.hpp"
#include "core/ledger/order_state.hpp"
#include "core/rules/order_book.hpp"
#include "pg_store/connection/connection.hpp"
#include "pg_store/ledger/ledger.hpp"
#include "unit/ledger/books.hpp"
#include "unit/ledger/postgres_server.hpp"

namespace sluice::test {
namespace {

using testing::ElementsAre;

constexpr std::chrono::seconds kPatience{20};

pg::Url fleet_database() {
    return *pg::Url::parse(PostgresServer::instance().url());
}

std::unique_ptr<Ledger> same_ledger() {
    auto opened =
        pg::PostgresLedger::open(fleet_database(), pg::PostgresLedger::Mode::kReadWrite, {});
    if (!opened) {
        throw std::runtime_error(opened.error().message);
    }
    return std::move(*opened);
}

/// Runs another node concurrently, in its own thread.
class Meanwhile {
public:
    explicit Meanwhile(std::function<void()> work)
        : thread_([this, work = std::move(work)] {
              try {
                  work();
              } catch (...) {
                  failure_ = std::current_exception();
              }
              done_ = true;
          }) {
        wait_until_done_or_held();
    }
    ~Meanwhile() { thread_.join(); }
    Meanwhile(const Meanwhile&) = delete;
    Meanwhile& operator=(const Meanwhile&) = delete;

    void finish() {
        const auto end = std::chrono::steady_clock::now() + kPatience;
        while (!done_ && std::chrono::steady_clock::now() < end) {
            std::this_thread::yield();
        }
        if (!done_) {
            throw std::runtime_error("the other node does not come to an end");
        }
        if (failure_) {
            std::rethrow_exception(failure_);
        }
    }

private:
    void wait_until_done_or_held() {
        const auto session = pg::Connection::open(fleet_database(), {});
        const auto end = std::chrono::steady_clock::now() + kPatience;
        while (!done_ && std::chrono::steady_clock::now() < end &&
               session->query_text("SELECT 1 FROM pg_locks WHERE NOT granted").empty()) {
            std::this_thread::sleep_for(std::chrono::milliseconds(1));
        }
    }

    std::atomic<bool> done_{false};
    std::exception_ptr failure_;
    std::thread thread_;
};

class PostgresFleetRules : public testing::Test {
protected:
    void SetUp() override {
        first.apply({program()});
        first.creator("c1", "spring", "SAVE");
        OrderText elsewhere = at(kDay1);
        elsewhere.id = "other";
        elsewhere.codes.clear();
        second.create(elsewhere);  // a node's first input waits for the other nodes'
    }

    static OrderText at(const char* updated, std::string amount = "100.00") {
        OrderText order;
        order.updated = updated;
        order.codes = {"SAVE"};
        order.lines.front().amount = std::move(amount);
        return order;
    }

    /// `work` of the second node begins when the first has applied its next input, and not yet
    /// committed it.
    void meanwhile(std::function<void()> work) {
        first.before_commit = [this, work = std::move(work)]() mutable {
            other = std::make_unique<Meanwhile>(std::move(work));
        };
    }

    std::unique_ptr<Ledger> ledger = make_ledger("Postgres");
    std::unique_ptr<Ledger> again = same_ledger();
    Books first{*ledger, "aaaaaaaa-0000-0000-0000-000000000001"};
    Books second{*again, "bbbbbbbb-0000-0000-0000-000000000002"};
    std::unique_ptr<Meanwhile> other;
};

TEST_F(PostgresFleetRules, O1_AnOlderVersionThroughAnotherNodeIsStale) {
    first.create(at(kDay2, "50.00"));
    EXPECT_EQ(second.update(at(kDay1)).input_class, InputClass::kStale);
    EXPECT_EQ(first.commission(), "5.00 USD");
    second.update(at(kDay3, "80.00"));
    EXPECT_EQ(first.commission(), "8.00 USD");
    EXPECT_THAT(first.balances(kDay1),
                ElementsAre("c1@spring USD pending=0.00 payable=8.00 paid=0.00 total=8.00"));
}

TEST_F(PostgresFleetRules, O2_AnEventThatAnotherNodeHadIsADuplicate) {
    first.create(at(kDay1));
    second.update(at(kDay1, "50.00"));  // at the same version the later arrival wins
    EXPECT_EQ(second.create(at(kDay1)).input_class, InputClass::kDuplicate);
    EXPECT_EQ(first.commission(), "5.00 USD");
}

TEST_F(PostgresFleetRules, O2_AlsoWhenTheOrderHasMoreEventsThanItsRowHolds) {
    for (std::size_t i = 0; i <= kEventsInlineMax; ++i) {
        first.update(at(kDay1, std::to_string(100 + i)));
    }
    second.update(at(kDay1, "50.00"));
    const std::string last = std::to_string(100 + kEventsInlineMax);
    EXPECT_EQ(second.update(at(kDay1, last)).input_class, InputClass::kDuplicate);
    EXPECT_EQ(first.commission(), "5.00 USD");
}

TEST_F(PostgresFleetRules, O1_ANewerVersionIsNotOverwrittenByAnOlderOneOfTheSameMoment) {
    first.create(at(kDay1));
    meanwhile([this] { second.update(at(kDay3, "30.00")); });
    first.update(at(kDay2, "20.00"));
    other->finish();
    EXPECT_EQ(first.order().version, instant(kDay3));
    EXPECT_EQ(first.commission(), "3.00 USD");
    EXPECT_THAT(first.balances(kDay1),
                ElementsAre("c1@spring USD pending=0.00 payable=3.00 paid=0.00 total=3.00"));
}

TEST_F(PostgresFleetRules, O1_TwoNodesCreateAnOrderAtTheSameMoment) {
    meanwhile([this] { second.create(at(kDay2, "30.00")); });
    first.create(at(kDay1, "20.00"));
    other->finish();
    EXPECT_EQ(first.commission(), "3.00 USD");
    EXPECT_EQ(first.order().events_count, 2U);
    EXPECT_THAT(first.balances(kDay1),
                ElementsAre("c1@spring USD pending=0.00 payable=3.00 paid=0.00 total=3.00"));
}

TEST_F(PostgresFleetRules, A2_ACodeThatIsImportedWhileAnOrderComesIn) {
    OrderText order = at(kDay1);
    order.codes = {"GIVE"};
    meanwhile([this] { second.creator("c2", "spring", "GIVE"); });
    first.create(order);
    other->finish();
    EXPECT_EQ(first.creator_of(), "c2@spring CODE");
}

TEST_F(PostgresFleetRules, R2_ARefundIdOfTheSameMomentBelongsToOneOrder) {
    OrderText one = at(kDay1), two = at(kDay1);
    one.id = "o1";
    two.id = "o2";
    first.create(one);
    second.create(two);
    one.updated = two.updated = kDay2;
    one.refunds = two.refunds = {{.amount = "40.00"}};
    meanwhile([this, two] { second.update(two); });
    first.update(one);
    other->finish();
    const std::string sum = first.commission("o1") + ", " + first.commission("o2");
    EXPECT_THAT(sum, testing::AnyOf("6.00 USD, 10.00 USD", "10.00 USD, 6.00 USD"));
    EXPECT_EQ(first.anomalies().size(), 1U);
}

// ---- Money of two nodes -------------------------------------------------------------------------

TEST_F(PostgresFleetRules, M4_ATierCountsTheOrderOfTheSameMoment) {
    Program tiers = program();
    tiers.default_tiers = {{*parse_money("100.00 USD"), *parse_rate("20%")}};
    first.apply({tiers});
    OrderText one = at(kDay1), two = at(kDay1);
    two.id = "o2";
    meanwhile([this, two] { second.create(two); });
    first.create(one);
    other->finish();
    EXPECT_EQ(first.commission("o1"), "10.00 USD");
    EXPECT_EQ(first.commission("o2"), "20.00 USD");  // behind the first one's 100.00
    // Now both know that they must not run at once.
    OrderText three = at(kDay1), four = at(kDay1);
    three.id = "o3";
    four.id = "o4";
    meanwhile([this, four] { second.create(four); });
    first.create(three);
    other->finish();
    std::vector<std::string> volumes;
    first.read()->scan(TierVolume{}, {}, [&volumes](const TierVolume& row) {
        volumes.push_back(std::to_string(row.month) + " " + row.amount.to_string());
        return true;
    });
    EXPECT_THAT(volumes, ElementsAre("202601 400.00"));
}

TEST_F(PostgresFleetRules, M4_TwoNodesThatMoveAMonthGiveAllItsOrdersOneTier) {
    Program month = program();
    month.default_tiers = {{*parse_money("200.00 USD"), *parse_rate("20%")}};
    month.tiers_apply = TiersApply::kMonth;
    first.apply({month});
    OrderText one = at(kDay1), two = at(kDay1);
    two.id = "o2";
    meanwhile([this, two] { second.create(two); });
    first.create(one);
    other->finish();
    EXPECT_EQ(first.commission("o1") + ", " + first.commission("o2"), "20.00 USD, 20.00 USD");
    one.updated = two.updated = kDay2;
    one.refunds = {{.amount = "40.00"}};
    meanwhile([this, two] { second.update(two); });
    first.update(one);
    other->finish();
    EXPECT_EQ(first.commission("o1") + ", " + first.commission("o2"), "6.00 USD, 10.00 USD");
}

TEST_F(PostgresFleetRules, M1_OneOfTwoFirstOrdersOfACustomerIsNew) {
    Program asks = program();
    Rule of_new;
    of_new.customer = CustomerKind::kNew;
    of_new.rate = *parse_rate("30%");
    asks.rules.push_back(of_new);
    first.apply({asks});
    OrderText one = at(kDay1), two = at(kDay1);
    one.customer = two.customer = "customer-7";
    two.id = "o2";
    meanwhile([this, two] { second.create(two); });
    first.create(one);
    other->finish();
    EXPECT_EQ(first.commission("o1") + ", " + first.commission("o2"), "30.00 USD, 10.00 USD");
}

TEST_F(PostgresFleetRules, P1_TwoNodesThatCloseAtTheSameMomentPayOnce) {
    first.create(at(kDay1));
    meanwhile([this] { second.close_account("2026-02-01T00:00:00Z"); });
    first.close_account("2026-02-01T00:00:00Z");
    other->finish();
    EXPECT_THAT(first.payouts(), ElementsAre("c1@spring 10.00 USD orders=1"));
    EXPECT_THAT(first.balances(kDay1),
                ElementsAre("c1@spring USD pending=0.00 payable=0.00 paid=0.00 total=10.00 "
                            "in_payout=10.00"));
}

TEST_F(PostgresFleetRules, K1_AKeyThatTwoNodesUseAtTheSameMomentCountsOnce) {
    first.create(at(kDay1));
    first.key = second.key = "key-1";
    meanwhile([this] { second.adjust("o1", "5.00"); });
    first.adjust("o1", "5.00");
    other->finish();
    EXPECT_THAT(first.balances(kDay1),
                ElementsAre("c1@spring USD pending=0.00 payable=15.00 paid=0.00 total=15.00"));
}

TEST_F(PostgresFleetRules, H1_ACreditOfTheSameMomentIsSeenByTheOrderItNames) {
    Credit credit;
    credit.creator = CreatorId("c1");
    credit.program = ProgramId("spring");
    credit.order = OrderId("o1");
    credit.amount = *parse_money("12.00 USD");
    meanwhile([this] { second.create(at(kDay1)); });
    first.command(credit);
    other->finish();
    EXPECT_THAT(first.anomalies(), testing::Contains(testing::StartsWith("CREDITED_ORDER o1")));
}

}  // namespace
}  // namespace sluice::test
