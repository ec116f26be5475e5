// Orders that had no event for long: an event leaves their rows, and its change gets its own.
// Every reader finds what it would find had the row been written again.
#include "lmdb_store/ledger/order_changes.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/orders/post.hpp"
#include "core/positions/open_amounts.hpp"
#include "lmdb_store/ledger/dump.hpp"
#include "lmdb_store/rows/keys.hpp"
#include "lmdb_store/rows/order_value.hpp"
#include "unit/lmdb_store/ledger/fixture.hpp"
#include "unit/lmdb_store/ledger/raw_rows.hpp"

namespace sluice::store {
namespace {

using Put = void (LedgerTxn::*)(const OrderState&);

class OrderChangesTest : public LedgerTest {
protected:
    void TearDown() override {
        LedgerTest::TearDown();
        std::filesystem::remove_all(folder_.string() + "-plain");
    }
    /// An order with one event, the first input of this queue.
    OrderState fresh(const std::string& id) {
        OrderState state = samples_.order(order(id));
        state.events = {event(1)};
        state.events_count = 1;
        state.anomalies_showing = 0;
        state.positions = {samples_.position(state)};
        state.live = 0;
        state.positions.back().accruals.resize(1);
        LineAccrual& accrual = state.positions.back().accruals.front();
        accrual.currency = *Currency::parse("USD");
        accrual.accrued = amount();
        accrual.allocated = zero_amount(accrual.currency);
        return state;
    }
    EventTrace event(std::uint64_t seq) {
        EventTrace made = samples_.event();
        made.seq = {seq};
        made.node = 1;
        return made;
    }
    void refund(OrderState& state, std::uint64_t seq) {
        state.refunds.push_back(samples_.refund());
        state.events.push_back(event(seq));
        ++state.events_count;
        state.positions.back().accruals.front().accrued = amount();
    }
    Decimal amount() { return Decimal(static_cast<std::int64_t>(samples_.number(3)), 2); }
    static void write(EmbeddedLedger& ledger, const OrderState& state, std::uint64_t seq, Put put) {
        const auto txn = ledger.begin(kNode);
        txn->mutable_head().applied_seq = {seq - 1};
        OrderState before;
        if (!txn->load_order(state.key, before)) {
            before.positions.clear();
        }
        reindex_open(*txn, open_amounts(before), open_amounts(state));
        (*txn.*put)(state);
        txn->mutable_head().applied_seq = {seq};
        txn->commit();
    }
    void create(const OrderState& state) { write(*ledger_, state, 1, &LedgerTxn::put_updated); }
    void update(const OrderState& state, std::uint64_t seq) {
        write(*ledger_, state, seq, &LedgerTxn::put_updated);
    }
    std::vector<RawRows::Row> rows_of(const char* table) {
        ledger_.reset();
        auto rows = RawRows(folder_, table).all();
        open();
        return rows;
    }
    std::size_t changes() { return rows_of("order_changes").size(); }
    std::string loaded(const OrderState& state) {
        OrderState found;
        EXPECT_TRUE(ledger_->snapshot(kNode)->load_order(state.key, found));
        return bytes_of(found);
    }
    /// The open amount by key and by scan, which are equal. No value if there is none.
    std::optional<Decimal> open_of(const OrderState& state) {
        const auto ledger = ledger_->snapshot(kNode);
        std::vector<Decimal> scanned;
        ledger->scan(OpenAmount{}, {},
                     [&](const OpenAmount& row) { scanned.push_back(row.amount); });
        OpenAmount row = open_row(state, state.positions.back(), *Currency::parse("USD"), {});
        const auto loaded = ledger->load(row) ? std::vector{row.amount} : std::vector<Decimal>();
        EXPECT_EQ(scanned, loaded);
        return loaded.empty() ? std::nullopt : std::optional(loaded.front());
    }
    static std::string bytes_of(const OrderState& state) {
        return std::string(OrderValue().encode("k", state));
    }
    void expect_sound() { EXPECT_THAT(ledger_->verify(kNode, 10), testing::IsEmpty()); }
};

TEST_F(OrderChangesTest, AnEventOfAnOldOrderLeavesItsRow) {
    OrderState state = fresh("a");
    create(state);
    const auto before = rows_of("orders");
    refund(state, 50'000);
    update(state, 50'000);
    EXPECT_EQ(rows_of("orders"), before);
    EXPECT_EQ(changes(), 1U);
    EXPECT_EQ(rows_of("changed_orders").size(), 1U);
    EXPECT_LT(rows_of("order_changes").front().second.size(), before.front().second.size());
    EXPECT_EQ(loaded(state), bytes_of(state));
    std::vector<std::string> scanned;
    ledger_->snapshot(kNode)->scan_orders(kAccount, kShop, [&](const OrderState& found) {
        scanned.push_back(bytes_of(found));
        return true;
    });
    EXPECT_THAT(scanned, testing::ElementsAre(bytes_of(state)));
    expect_sound();
}

TEST_F(OrderChangesTest, AnOpenAmountOfAnOldOrderStaysAndIsReadFromTheOrder) {
    OrderState state = fresh("a");
    state.positions.back().accruals.front().accrued = Decimal(100, 2);
    create(state);
    const auto before = rows_of("open");
    ASSERT_EQ(before.size(), 1U);
    refund(state, 50'000);
    state.positions.back().accruals.front().accrued = Decimal(70, 2);
    update(state, 50'000);
    EXPECT_EQ(rows_of("open"), before);
    EXPECT_EQ(open_of(state), Decimal(70, 2));
    write(*ledger_, state, 50'001, &LedgerTxn::put_order);
    EXPECT_NE(rows_of("open"), before);
    EXPECT_EQ(open_of(state), Decimal(70, 2));
}

TEST_F(OrderChangesTest, AnOpenAmountOfAnOldOrderEndsWithZeroAndComesBack) {
    OrderState state = fresh("a");
    state.positions.back().accruals.front().accrued = Decimal(100, 2);
    create(state);
    std::uint64_t seq = 50'000;
    for (const std::int64_t cents : {0, 30, 20}) {
        refund(state, seq);
        state.positions.back().accruals.front().accrued = Decimal(cents, 2);
        update(state, seq++);
        EXPECT_EQ(rows_of("open").size(), cents == 0 ? 0U : 1U);
        EXPECT_EQ(open_of(state), cents == 0 ? std::nullopt : std::optional(Decimal(cents, 2)));
    }
    EXPECT_EQ(changes(), 1U);
    expect_sound();
}

TEST_F(OrderChangesTest, TheTransactionItselfReadsTheChange) {
    OrderState state = fresh("a");
    create(state);
    const auto txn = ledger_->begin(kNode);
    txn->mutable_head().applied_seq = {50'000};
    refund(state, 50'001);
    txn->put_updated(state);
    OrderState found;
    ASSERT_TRUE(txn->load_order(state.key, found));
    EXPECT_EQ(bytes_of(found), bytes_of(state));
}

TEST_F(OrderChangesTest, AnEventOfARecentOrderWritesItsRow) {
    OrderState state = fresh("a");
    create(state);
    refund(state, 15'000);
    update(state, 15'000);
    EXPECT_EQ(changes(), 0U);
    EXPECT_EQ(loaded(state), bytes_of(state));
}

TEST_F(OrderChangesTest, LaterEventsReplaceTheChange) {
    OrderState state = fresh("a");
    create(state);
    const auto before = rows_of("orders");
    for (const std::uint64_t seq : {50'000U, 50'001U, 90'000U}) {
        refund(state, seq);
        update(state, seq);
        EXPECT_EQ(loaded(state), bytes_of(state));
    }
    EXPECT_EQ(rows_of("orders"), before);
    EXPECT_EQ(changes(), 1U);
    expect_sound();
}

TEST_F(OrderChangesTest, ACommandWritesTheRowAndEndsTheChange) {
    OrderState state = fresh("a");
    create(state);
    refund(state, 50'000);
    update(state, 50'000);
    state.flags = kOrderHeld;
    write(*ledger_, state, 50'001, &LedgerTxn::put_order);
    EXPECT_EQ(changes(), 0U);
    EXPECT_THAT(rows_of("changed_orders"), testing::IsEmpty());
    EXPECT_EQ(loaded(state), bytes_of(state));
    expect_sound();
}

TEST_F(OrderChangesTest, EarlierPersonalDataDoesNotStayInTheRow) {
    OrderState state = fresh("a");
    state.customer = samples_.digest();
    create(state);
    refund(state, 50'000);
    update(state, 50'000);
    ASSERT_EQ(changes(), 1U);
    const std::string before(reinterpret_cast<const char*>(state.customer->data()), 32);
    state.customer = samples_.digest();
    refund(state, 90'000);
    update(state, 90'000);
    EXPECT_EQ(changes(), 0U);
    EXPECT_EQ(rows_of("orders").front().second.find(before), std::string::npos);
    EXPECT_EQ(loaded(state), bytes_of(state));
}

TEST_F(OrderChangesTest, ALongChangeWritesTheRow) {
    OrderState state = fresh("a");
    create(state);
    refund(state, 50'000);
    update(state, 50'000);
    ASSERT_EQ(changes(), 1U);
    for (std::uint64_t i = 0; i < 20; ++i) {
        refund(state, 60'000 + i);
    }
    update(state, 60'020);
    EXPECT_EQ(changes(), 0U);
    EXPECT_EQ(loaded(state), bytes_of(state));
    expect_sound();
}

/// Two orders whose keys have digests that begin alike: one of them has no change.
TEST_F(OrderChangesTest, APlaceThatAnotherOrderHasIsNotTaken) {
    OrderState a = fresh("a"), b = fresh("b");
    create(a);
    create(b);
    refund(a, 50'000);
    update(a, 50'000);
    const std::string key_of_b(order_key(b.key).view());
    const ChangedKey taken = changed_key(key_of_b);
    ledger_.reset();
    RawRows(folder_, "changed_orders").put(view_of(taken), ChangeValue().encode_place(taken, 1));
    open();
    EXPECT_EQ(loaded(b), bytes_of(b));
    refund(b, 50'001);
    update(b, 50'001);
    EXPECT_EQ(changes(), 1U);
    EXPECT_EQ(loaded(a), bytes_of(a));
    EXPECT_EQ(loaded(b), bytes_of(b));
}

/// The dump is the same as that of a ledger that writes every row again.
TEST_F(OrderChangesTest, AnyHistoryGivesTheRowsOfALedgerWithoutChanges) {
    const std::filesystem::path folder = folder_.string() + "-plain";
    std::filesystem::create_directory(folder);
    ASSERT_TRUE(EmbeddedLedger::create(folder).ok());
    auto plain = EmbeddedLedger::open(folder, EmbeddedLedger::Mode::kReadWrite, 1U << 20);
    ASSERT_TRUE(plain.ok());
    std::vector<OrderState> orders;
    std::uint64_t seq = 1;
    std::size_t most = 0;
    for (int round = 0; round < 400; ++round) {
        seq += 1 + samples_.number(8'000);
        const bool is_new = orders.size() < 5 || samples_.number(12) == 0;
        if (is_new) {
            orders.push_back(fresh(samples_.text(samples_.chance() ? 10 : 600)));
            orders.back().events.front().seq = {seq};
        }
        OrderState& state = is_new ? orders.back() : orders[samples_.number(orders.size())];
        const bool commanded = !is_new && samples_.number(8) == 0;
        if (commanded) {
            state.flags = static_cast<std::uint8_t>(samples_.number(8));
        } else if (!is_new && samples_.number(10) == 0) {
            state.customer = samples_.digest();
            refund(state, seq);
        } else if (!is_new) {
            refund(state, seq);
        }
        write(*ledger_, state, seq, commanded ? &LedgerTxn::put_order : &LedgerTxn::put_updated);
        write(**plain, state, seq, &LedgerTxn::put_order);
        EXPECT_EQ(loaded(state), bytes_of(state));
        most = std::max(most, round % 20 == 19 ? changes() : 0);
    }
    EXPECT_GT(most, 3U);
    const auto rows = ledger_->rows(kNode);
    const auto others = (*plain)->rows(kNode);
    const auto difference = first_difference(*rows, *others);
    EXPECT_FALSE(difference) << difference->table << ' ' << difference->key_hex;
    expect_sound();
}

}  // namespace
}  // namespace sluice::store
