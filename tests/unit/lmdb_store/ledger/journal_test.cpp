// The journal of the embedded ledger, and what is added up from it: chains, balances, statements.
#include <gmock/gmock.h>

#include "unit/lmdb_store/ledger/fixture.hpp"

namespace sluice::store {
namespace {

TEST_F(LedgerTest, J4_AJournalEntryIsNeverChanged) {
    auto txn = ledger_->begin(kNode);
    txn->append_journal(group_of(5, order("a"), 100));
    EXPECT_THROW(txn->append_journal(group_of(5, order("a"), 200)), LedgerFailure);
    EXPECT_THROW(txn->append_journal(group_of(4, order("a"), 200)), LedgerFailure);
    EXPECT_THROW(txn->append_journal(group_of(6, order("a"), 200, "another queue")), LedgerFailure);
    txn->add_to_balance(owed(100));
    txn->mutable_head().next_entry = 6;
    txn->commit();
    txn.reset();
    txn = ledger_->begin(kNode);
    EXPECT_THROW(txn->append_journal(group_of(5, order("a"), 200)), LedgerFailure);
}

TEST_F(LedgerTest, J2_ABalanceThatIsNotTheSumOfTheJournalIsNotCommitted) {
    const auto refused = [&](JournalReason reason, const Balance& change) {
        auto txn = ledger_->begin(kNode);
        JournalGroup group = group_of(1, order("a"), 100);
        group.entries.front().reason = reason;
        txn->append_journal(group);
        txn->add_to_balance(change);
        try {
            txn->commit();
        } catch (const LedgerFailure&) {
            return true;
        }
        return false;
    };
    const Decimal one(100, 2);
    const Decimal minus(-100, 2);
    EXPECT_TRUE(refused(JournalReason::kAccrual, owed(99)));
    EXPECT_TRUE(refused(JournalReason::kAccrual, {{{}, one, {}}, annas()}));
    EXPECT_TRUE(refused(JournalReason::kAccrual, {{{}, {}, one}, annas()}));
    EXPECT_TRUE(refused(JournalReason::kPayout, {{minus, {}, {}}, annas()}));
    EXPECT_TRUE(refused(JournalReason::kSettle, {{{}, minus, {}}, annas()}));
    EXPECT_FALSE(ledger_->snapshot(kNode)->balance(annas()));
    EXPECT_FALSE(refused(JournalReason::kPayout, {{minus, one, {}}, annas()}));
}

TEST_F(LedgerTest, J2_BalancesFoldOverTransactionsAndNodes) {
    const auto append = [&](const char* node, std::uint64_t entry) {
        auto txn = ledger_->begin(node);
        txn->append_journal(group_of(entry, order("a"), 150, node));
        txn->add_to_balance(owed(150));
        JournalGroup payout = group_of(entry + 1, order("a"), 50, node);
        payout.entries.front().reason = JournalReason::kPayout;
        txn->append_journal(payout);
        txn->add_to_balance({{Decimal(-50, 2), Decimal(50, 2), {}}, annas()});
        txn->mutable_head().next_entry = entry + 2;
        const Decimal before = txn->balance(annas())->owed;
        txn->scan_balances([&](const Balance& row) {
            EXPECT_EQ(row.owed, before) << "what is not written yet is scanned, too";
            return true;
        });
        txn->commit();
        return before.to_string();
    };
    EXPECT_EQ(append(kNode, 1), "1.00");
    EXPECT_EQ(append("another queue", 1), "2.00");
    EXPECT_EQ(append(kNode, 3), "3.00");
    const auto snapshot = ledger_->snapshot(kNode);
    EXPECT_EQ(snapshot->balance(annas())->owed.to_string(), "3.00");
    int rows = 0;
    snapshot->scan_balances([&](const Balance& row) {
        ++rows;
        EXPECT_EQ(row.key, annas());
        EXPECT_EQ(row.owed.to_string(), "3.00");
        EXPECT_EQ(row.in_payout.to_string(), "1.50");
        EXPECT_TRUE(row.paid.is_zero());
        return true;
    });
    EXPECT_EQ(rows, 1);
}

TEST_F(LedgerTest, N1_EachNodeNumbersItsEntriesAndHasItsChain) {
    const auto append = [&](const char* node) {
        auto txn = ledger_->begin(node);
        const std::uint64_t entry = txn->mutable_head().next_entry++;
        txn->append_journal(group_of(entry, order("a"), 100, node));
        txn->add_to_balance(owed(100));
        txn->mutable_chain(kAccount).entries += 1;
        txn->mutable_head().applied_seq = {txn->head().applied_seq.value + 10};
        txn->mutable_head().programs_revision += 1;
        txn->commit();
        return entry;
    };
    EXPECT_EQ(append(kNode), 1U);
    EXPECT_EQ(append("another queue"), 1U);
    EXPECT_EQ(append(kNode), 2U);
    EXPECT_EQ(ledger_->snapshot(kNode)->head().applied_seq.value, 20U);
    const auto snapshot = ledger_->snapshot("another queue");
    EXPECT_EQ(snapshot->head().applied_seq.value, 10U);
    EXPECT_EQ(snapshot->head().programs_revision, 3U) << "one for all nodes";
    EXPECT_EQ(ledger_->snapshot(kNode)->chain(kAccount).entries, 2U) << "a chain per queue";
    std::vector<std::string> rows;
    snapshot->scan_heads([&](const LedgerHead& head) {
        rows.push_back(head.node + " " + std::to_string(head.next_entry) + " " +
                       std::to_string(head.programs_revision));
        return true;
    });
    snapshot->scan_chains([&](const NodeChain& chain) {
        rows.push_back(chain.node + " " + std::to_string(chain.head.entries));
        return true;
    });
    snapshot->scan_journal(1, [&](const JournalGroup& group) {
        rows.push_back(group.node + " " + std::to_string(group.first_entry));
        return true;
    });
    snapshot->scan_journal(2, [&](const JournalGroup& group) {
        rows.push_back("from 2: " + std::to_string(group.first_entry));
        return true;
    });
    const std::string one(kNode);
    EXPECT_THAT(
        rows, testing::ElementsAre(one + " 3 3", "another queue 2 3", one + " 2", "another queue 1",
                                   one + " 1", one + " 2", "another queue 1", "from 2: 2"));
}

TEST_F(LedgerTest, AnOrdersJournalIsThatOfEveryNodeWithoutCredits) {
    OrderState state;
    state.key = order("a");
    state.other_groups = {1, 2};
    const auto append = [&](const char* node, const JournalGroup& group) {
        auto txn = ledger_->begin(node);
        txn->append_journal(group);
        txn->add_to_balance({{group.entries.front().amount, {}, {}}, annas()});
        txn->mutable_head().next_entry = group.first_entry + 1;
        txn->commit();
    };
    append(kNode, group_of(1, state.key, 100));
    append(kNode, group_of(2, state.key, 200));
    JournalGroup credit = group_of(1, state.key, 300, "0 queue");
    credit.entries.front().reason = JournalReason::kCredit;
    append("0 queue", credit);
    append("0 queue", group_of(2, order("b"), 400, "0 queue"));
    const auto amounts = [&](const std::vector<std::uint64_t>& groups) {
        state.other_groups = groups;
        std::vector<std::string> found;
        for (const JournalGroup& group : ledger_->snapshot(kNode)->order_journal(state)) {
            found.push_back(group.node + " " + group.entries.front().amount.to_string());
        }
        return found;
    };
    const std::string one(kNode);
    EXPECT_THAT(amounts({1, 2}), testing::ElementsAre(one + " 1.00", one + " 2.00"));
    EXPECT_THROW((void)amounts({1, 2, 3}), DamagedRow) << "an entry that is not there";
    state.key = order("b");
    EXPECT_THAT(amounts({2}), testing::ElementsAre("0 queue 4.00"));
    EXPECT_THROW((void)amounts({1}), DamagedRow) << "an entry of another order, and a credit";
}

TEST_F(LedgerTest, S3_AStatementsGroupsComeByDateThenNodeThenEntry) {
    const auto append = [&](const char* node, std::uint64_t entry, const char* creator,
                            std::int64_t date) {
        auto txn = ledger_->begin(node);
        JournalGroup group = group_of(entry, order("a"), 100, node);
        group.creator = CreatorId(creator);
        group.accounting_date = {date, 0};
        txn->append_journal(group);
        txn->add_to_balance({{Decimal(100, 2), {}, {}},
                             {kAccount, ProgramId("spring"), group.creator, currency_of("USD")}});
        txn->mutable_head().next_entry = entry + 1;
        txn->commit();
    };
    const auto rows = [&](const char* creator, std::int64_t from, std::int64_t to) {
        std::vector<std::string> found;
        const auto add = [&](const JournalGroup& group) {
            found.push_back(group.creator.str() + " " +
                            std::to_string(group.accounting_date.seconds) + " " +
                            group.node.substr(0, 1) + std::to_string(group.first_entry));
            return found.size() < 100;
        };
        const auto snapshot = ledger_->snapshot(kNode);
        if (creator != nullptr) {
            snapshot->scan_creator_journal(kAccount, CreatorId(creator), {from, 0}, {to, 0}, add);
        } else {
            snapshot->scan_account_journal(kAccount, {from, 0}, {to, 0}, add);
        }
        return found;
    };
    append(kNode, 1, "anna", 10);
    append(kNode, 2, "anna", 5);
    append(kNode, 3, "ann", 7);
    append(kNode, 4, "anna", 20);
    EXPECT_THAT(rows("anna", 5, 20), testing::ElementsAre("anna 5 12", "anna 10 11"))
        << "the end is excluded";
    // Its number is higher, its UUID is lower.
    append("0 queue", 1, "anna", 10);
    append("0 queue", 2, "berta", 10);
    append(kNode, 5, "anna", 10);
    EXPECT_THAT(rows("anna", 5, 21), testing::ElementsAre("anna 5 12", "anna 10 01", "anna 10 11",
                                                          "anna 10 15", "anna 20 14"));
    EXPECT_THAT(rows(nullptr, 6, 20), testing::ElementsAre("ann 7 13", "anna 10 01", "anna 10 11",
                                                           "anna 10 15", "berta 10 02"));
    EXPECT_THAT(rows("nobody", 0, 100), testing::IsEmpty());
    int seen = 0;
    ledger_->snapshot(kNode)->scan_account_journal(kAccount, {}, {100, 0},
                                                   [&](const auto&) { return ++seen < 2; });
    EXPECT_EQ(seen, 2) << "a visitor that has seen enough is not called again";
}

TEST_F(LedgerTest, HeadsAreReadAsThisTransactionLeavesThem) {
    for (const char* node : {"b", "d"}) {
        auto txn = ledger_->begin(node);
        txn->mutable_head().applied_seq = {1};
        txn->commit();
    }
    for (const char* node : {"a", "b", "c", "d", "e"}) {
        auto txn = ledger_->begin(node);
        txn->mutable_head().applied_seq = {7};
        std::string seen;
        txn->scan_heads([&](const LedgerHead& head) {
            seen += head.node + std::to_string(head.applied_seq.value);
            return true;
        });
        std::string expected;
        for (const char* other : {"a", "b", "c", "d", "e"}) {
            const bool stored = *other == 'b' || *other == 'd';
            if (std::string_view(other) == node) {
                expected += std::string(other) + "7";
            } else if (stored) {
                expected += std::string(other) + "1";
            }
        }
        EXPECT_EQ(seen, expected);
    }
}

TEST_F(LedgerTest, AChainIsReadAsThisTransactionLeavesIt) {
    auto txn = ledger_->begin(kNode);
    EXPECT_EQ(txn->chain(kAccount).entries, 0U);
    txn->mutable_chain(kAccount).entries = 5;
    EXPECT_EQ(txn->chain(kAccount).entries, 5U);
    EXPECT_EQ(ledger_->snapshot(kNode)->chain(kAccount).entries, 0U);
    EXPECT_FALSE(txn->balance(annas()));
}

}  // namespace
}  // namespace sluice::store
