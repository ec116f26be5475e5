// Payouts of many positions (N4): how often the server is asked, and how often a row is walked,
// counted, not timed; and that slices change nothing.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <map>
#include <memory>
#include <string>

#include "core/ledger/overlay.hpp"
#include "core/payouts/plan.hpp"
#include "core/positions/open_amounts.hpp"
#include "core/rules/account.hpp"
#include "pg_store/connection/connection.hpp"
#include "unit/ledger/books.hpp"
#include "unit/ledger/rules_fixture.hpp"
#include "unit/whole_form.hpp"

namespace sluice::test {
namespace {

constexpr const char* kSold = "2026-01-01T00:00:00Z";
constexpr const char* kClosed = "2026-02-01T00:00:00Z";
constexpr const char* kLater = "2026-02-01T00:00:01Z";  // after all postings
constexpr std::uint64_t kSliceRows = 8192;

std::string creator_no(std::uint64_t number) {
    return "c" + std::to_string(10'000 + number);
}

/// Copies of one order, as if each had been sent: `count` in all, of so many creators by turns.
void fill(Ledger& ledger, Books& books, std::uint64_t count, std::uint64_t creators) {
    books.receive_at(kClosed);
    books.apply({program()});
    books.creator(creator_no(0), "spring", "SAVE");
    OrderText text;
    text.ordered = text.updated = kSold;
    text.codes = {"SAVE"};
    books.create(text);
    OrderState state = books.order();
    const auto txn = ledger.begin(Books::kNode);
    for (std::uint64_t i = 1; i < count; ++i) {
        state.key.order_id = OrderId("o" + std::to_string(100'000 + i * 7919 % count));
        state.positions[0].attribution.creator = CreatorId(creator_no(i % creators));
        txn->put_order(state);
        for (const OpenAmount& row : open_amounts(state)) {
            txn->put(row);
        }
    }
    txn->commit();
}

std::string last_run(Books& books) {
    std::string run;
    books.read()->scan_commands([&run](const CommandRow& row) {
        run = row.command_id;
        return true;
    });
    return run;
}

std::string move(Books& books, PayoutVerb verb, const std::string& run) {
    books.reason = "as the bank says";
    return books.command(PayoutMove{verb, {run}}).text;
}

// ---- Round trips --------------------------------------------------------------------------------

/// By what was done.
using Trips = std::map<std::string, std::uint64_t>;

template <class Step>
std::uint64_t trips_of(Step step) {
    const std::uint64_t before = pg::Connection::round_trips();
    step();
    return pg::Connection::round_trips() - before;
}

void preview(Books& books, std::uint64_t payouts) {
    const auto reader = books.read();
    const PayoutClose close{instant(kLater)};
    const AccountSettings settings = account_settings(*reader, {1});
    const PlanRequest request{{1}, AccountId("acme"), close, instant(kLater), {}};
    PayoutPlan plan(request, settings, *reader);
    ASSERT_TRUE(plan.add_up().ok());
    std::uint64_t seen = 0;
    plan.visit([&seen](const PlannedPayout&) { ++seen; });
    EXPECT_EQ(seen, payouts);
}

Trips trips(std::uint64_t count, std::uint64_t creators) {
    const std::unique_ptr<Ledger> ledger = make_ledger("Postgres");
    Books books(*ledger);
    fill(*ledger, books, count, creators);
    const std::string payouts = std::to_string(creators) + " payouts";
    Trips found;
    const auto close = [&] {
        EXPECT_EQ(books.close_account(kClosed).text.substr(0, payouts.size()), payouts);
    };
    found["preview"] = trips_of([&] { preview(books, creators); });
    found["close"] = trips_of(close);
    const auto moved = [&](PayoutVerb verb, const std::string& run) {
        return trips_of(
            [&] { EXPECT_EQ(move(books, verb, run).substr(0, payouts.size()), payouts); });
    };
    found["void"] = moved(PayoutVerb::kVoid, last_run(books));
    close();
    std::string run = last_run(books);
    found["sent"] = moved(PayoutVerb::kSent, run);
    found["failed"] = moved(PayoutVerb::kFailed, run);
    close();
    run = last_run(books);
    found["settle"] = moved(PayoutVerb::kSettle, run);
    found["returned"] = moved(PayoutVerb::kReturned, run);
    return found;
}

/// A slice costs the same whatever is in it, and no payout costs one of its own.
TEST(PostgresPayouts, N4_RoundTripsGrowWithSlicesNeitherWithOrdersNorWithPayouts) {
    constexpr std::uint64_t kSlices = 2;
    constexpr std::uint64_t kOfASlice = 6;
    const Trips few = trips(400, 40);
    EXPECT_EQ(trips(1000, 100), few);
    if (!is_whole_form()) {
        return;
    }
    for (const auto& [step, count] : trips(kSliceRows + 100, 100)) {  // the second is begun
        EXPECT_LE(count, few.at(step) + kSlices * kOfASlice) << step;
    }
}

// ---- Rows ---------------------------------------------------------------------------------------

/// Counts the rows of the index that are visited.
class CountingReader final : public Overlay {
public:
    using Overlay::Overlay;
    void scan_rows(RowView first, KeyRange range, const RowVisitor& visit) override {
        Overlay::scan_rows(first, range, [&](RowView row) {
            visited += row.is<OpenAmount>() ? 1U : 0U;
            return visit(row);
        });
    }
    std::uint64_t visited = 0;
};

/// Runs no audit at the end, because no journal covers the copies.
class PayoutSlices : public testing::TestWithParam<LedgerKind> {
protected:
    std::unique_ptr<Ledger> ledger = GetParam().make();
    Books books{*ledger};
};
SLUICE_FOR_EVERY_LEDGER(PayoutSlices);

TEST_P(PayoutSlices, P1_TheIndexIsWalkedOnceHoweverManySlicesAndPayoutsThereAre) {
    constexpr std::uint64_t kOrdersOfScene = kSliceRows + 100;
    constexpr std::uint64_t kCreatorsOfScene = 50;
    fill(*ledger, books, kOrdersOfScene, kCreatorsOfScene);
    const auto reader = books.read();
    CountingReader counting(*reader);
    const PayoutClose close{instant(kLater)};
    const AccountSettings settings = account_settings(counting, {1});
    const PlanRequest request{{1}, AccountId("acme"), close, instant(kLater), {}};
    PayoutPlan plan(request, settings, counting);
    ASSERT_TRUE(plan.add_up().ok());
    std::uint64_t orders = 0;
    plan.visit([&orders](const PlannedPayout& payout) { orders += payout.orders_count; });
    EXPECT_EQ(orders, kOrdersOfScene);
    EXPECT_EQ(counting.visited, kOrdersOfScene);
}

TEST_P(PayoutSlices, P4_SlicesOfManyPayoutsAreAllocatedAndReleasedWhole) {
    constexpr std::uint64_t kOrdersOfScene = kSliceRows + 200;
    fill(*ledger, books, kOrdersOfScene, 3);
    EXPECT_EQ(books.close_account(kClosed).text.substr(0, 9), "3 payouts");
    std::uint64_t open = 0;
    const auto count = [&open](const OpenAmount&) { return ++open != 0; };
    books.read()->scan(OpenAmount{}, {0, 0}, count);
    EXPECT_EQ(open, 0U);
    EXPECT_EQ(move(books, PayoutVerb::kVoid, last_run(books)), "3 payouts voided");
    books.read()->scan(OpenAmount{}, {0, 0}, count);
    EXPECT_EQ(open, kOrdersOfScene);
    EXPECT_EQ(books.close_account(kClosed).text.substr(0, 9), "3 payouts");
    std::uint64_t orders = 0;
    books.read()->scan_payouts([&orders](const Payout& payout) {
        orders += is_active(payout.state) ? payout.orders_count : 0;
        return true;
    });
    EXPECT_EQ(orders, kOrdersOfScene);
}

}  // namespace
}  // namespace sluice::test
