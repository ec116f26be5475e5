// Refunds of orders that had no event for long: their rows stay, and money reads the refund.
#include <gtest/gtest.h>

#include "core/ledger/payout_rows.hpp"
#include "unit/lmdb_store/ledger/raw_rows.hpp"
#include "unit/worker/drain/fixture.hpp"
#include "worker/drain/rebuild.hpp"

namespace sluice::worker {
namespace {

constexpr int kOld = 40;          ///< Orders, each of 100.00 with a commission of 10.00.
constexpr int kBetween = 20'000;  ///< Inputs after which an order is old.

class OldOrdersTest : public testing::Test {
protected:
    void refund_old_orders() {
        store_.program_and_creator();
        store_.orders(0, kOld);
        store_.orders(kOld, kBetween);
        store_.drain_all();
        before_ = rows_of("open");
        for (int i = 0; i < kOld; ++i) {
            store_.order("o" + std::to_string(i), 2, "30.00");
        }
        store_.drain_all();
    }
    void command_after(int days, const Command& command) {
        const std::string body = encode_request({{}, "agreed", command});
        RecordMeta meta = DrainStore::meta_of(topic_of(command));
        meta.received_at = kReceived.plus_days(days);
        meta.seal = store_.seal_of(meta, body);
        const SequenceNumber seq = store_.append(meta, body);
        store_.drain_all();
        const auto row = store_.ledger()->snapshot(store_.queue().uuid())->command(seq);
        ASSERT_TRUE(row);
        EXPECT_EQ(row->outcome, CommandOutcome::kDone) << row->result;
    }
    std::vector<store::RawRows::Row> rows_of(const char* table) {
        return store::RawRows(store_.paths().ledger, table).all();
    }
    Decimal open_sum() {
        Decimal sum;
        store_.ledger()
            ->snapshot(store_.queue().uuid())
            ->scan(OpenAmount{}, {}, [&sum](const OpenAmount& row) { sum += row.amount; });
        return sum;
    }
    std::vector<Payout> payouts() {
        std::vector<Payout> found;
        store_.ledger()->snapshot(store_.queue().uuid())->scan_payouts([&found](const Payout& row) {
            found.push_back(row);
            return true;
        });
        return found;
    }
    void expect_equal_rebuild() {
        auto rebuilt =
            Rebuild::begin({store_.paths().archive}, store_.paths().root / "rebuilt", {});
        ASSERT_TRUE(rebuilt.ok()) << rebuilt.error().message;
        ASSERT_TRUE((*rebuilt)->replay().ok());
        const auto ledger = store_.ledger();
        const auto compared = (*rebuilt)->compare(*ledger, store_.queue().uuid());
        ASSERT_TRUE(compared.ok()) << compared.error().message;
        EXPECT_TRUE(compared->equal) << compared->text;
        EXPECT_TRUE(ledger->verify(store_.queue().uuid(), 5).empty());
    }

    /// The sum of all open amounts: 30.00 of each old order were refunded.
    const Decimal all_open_ = Decimal(kBetween * 1000 + kOld * 700, 2);
    DrainStore store_;
    std::vector<store::RawRows::Row> before_;
};

TEST_F(OldOrdersTest, ARefundWritesNoRowOfAnOldOrderAndIsReadEverywhere) {
    refund_old_orders();
    EXPECT_EQ(rows_of("order_changes").size(), std::size_t{kOld});
    EXPECT_EQ(rows_of("open"), before_);
    EXPECT_EQ(open_sum(), all_open_);
    expect_equal_rebuild();
}

TEST_F(OldOrdersTest, APayoutTakesTheRestAndGivesItBack) {
    refund_old_orders();
    PayoutClose close{kReceived.plus_days(200)};
    close.ignore_minimum = true;
    command_after(200, close);
    ASSERT_EQ(payouts().size(), 1U);
    EXPECT_EQ(payouts().front().amount, all_open_);
    EXPECT_EQ(rows_of("open").size(), 0U);
    command_after(201, PayoutMove{PayoutVerb::kVoid, {payouts().front().payout_id}});
    EXPECT_EQ(open_sum(), all_open_);
    expect_equal_rebuild();
}

}  // namespace
}  // namespace sluice::worker
