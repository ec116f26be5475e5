// Every ledger gives every row back as it was put, in the order of its key: what the tables of
// core/ledger describe, and journal and sums, which have shapes of their own.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <iterator>
#include <map>
#include <memory>
#include <string>
#include <type_traits>
#include <vector>

#include "core/journal/journal.hpp"
#include "core/ledger/list_rows.hpp"
#include "core/ledger/overview_rows.hpp"
#include "core/ledger/paged_reads.hpp"
#include "core/ledger/table.hpp"
#include "core/values/hour_sums.hpp"
#include "unit/ledger/books.hpp"
#include "unit/ledger/row_texts.hpp"
#include "unit/ledger/rules_fixture.hpp"

namespace sluice::test {
namespace {

using testing::ElementsAre;

constexpr std::string_view kOther = "00000000-0000-0000-0000-00000000000a";

class StoredRows : public testing::TestWithParam<LedgerKind> {
protected:
    std::unique_ptr<Ledger> ledger = GetParam().make();
};

// ---- Described tables ---------------------------------------------------------------------------

std::vector<std::string> rows_of(LedgerReader& reader, RowView first, KeyRange range) {
    std::vector<std::string> rows;
    reader.scan_rows(first, range, [&rows](RowView row) {
        rows.push_back(row_text(row));
        return true;
    });
    return rows;
}

/// The row's key, and nothing of the rest.
AnyRow key_of(RowView row) {
    AnyRow key(row.table());
    for (const Column& column : row.table().key) {
        with_value(column.kind, column.find(key.ref().get()), [&](auto& value) {
            value = *static_cast<const std::remove_reference_t<decltype(value)>*>(
                column.find(row.get()));
        });
    }
    return key;
}

void check_table(Ledger& ledger, const DescribedTable& table) {
    SCOPED_TRACE(table.name);
    const auto whole_key = static_cast<unsigned>(table.key.size());
    const std::vector<AnyRow> rows{filled_row(table, 1), filled_row(table, 2),
                                   filled_row(table, 3)};
    const std::vector<std::string> texts{row_text(rows[0].view()), row_text(rows[1].view()),
                                         row_text(rows[2].view())};
    const AnyRow none(table);
    {
        const auto txn = ledger.begin(Books::kNode);
        for (const std::size_t i : {2U, 0U, 1U}) {
            txn->put_row(rows[i].view());
        }
        EXPECT_EQ(rows_of(*txn, none.view(), {}), texts) << "in the transaction that put them";
        txn->commit();
    }
    const auto reader = ledger.snapshot(Books::kNode);
    for (const AnyRow& row : rows) {
        AnyRow found = key_of(row.view());
        ASSERT_TRUE(reader->load_row(found.ref()));
        EXPECT_EQ(row_text(found.view()), row_text(row.view()));
    }
    AnyRow missing = filled_row(table, 5);
    EXPECT_FALSE(reader->load_row(missing.ref()));
    EXPECT_EQ(rows_of(*reader, rows[1].view(), {0, whole_key}),
              (std::vector<std::string>{texts[1], texts[2]}));
    EXPECT_EQ(rows_of(*reader, rows[1].view(), {whole_key, whole_key}),
              (std::vector<std::string>{texts[1]}));
    const auto txn = ledger.begin(Books::kNode);
    txn->erase_row(rows[1].view());
    txn->commit();
    EXPECT_EQ(rows_of(*ledger.snapshot(Books::kNode), none.view(), {}),
              (std::vector<std::string>{texts[0], texts[2]}));
}

TEST_P(StoredRows, EachDescribedTableGivesItsRowsBack) {
    for (const DescribedTable& table : described_tables()) {
        const bool is_view = table.index_in_sql && GetParam().name.starts_with("Postgres");
        if (!is_view) {
            check_table(*ledger, table);
        }
    }
}

// ---- Lists --------------------------------------------------------------------------------------

OrderByCode listed(const std::string& order, std::uint64_t code = 7) {
    return {kAcme, code, {1'767'000'000, 5}, {1}, OrderId(order)};
}

/// Ids, by the bytes. The keys of the embedded ledger cut some of them at the same place.
std::vector<std::string> listed_ids() {
    const std::string shared(450, 'x');
    return {"a", "b", shared, shared + "1", shared + "10", shared + "2", "y"};
}

std::vector<std::string> ids_back(LedgerReader& reader, const OrderByCode& before, KeyRange range) {
    std::vector<std::string> ids;
    paged(reader).scan_back(before, range, [&ids](const OrderByCode& row) {
        ids.push_back(row.order_id.str());
        return true;
    });
    return ids;
}

TEST_P(StoredRows, Q7_AListIsReadFromAnyRowOnInBothDirections) {
    std::vector<std::string> ids = listed_ids();
    {
        const auto txn = ledger->begin(Books::kNode);
        for (const std::string& id : ids) {
            txn->put(listed(id));
        }
        txn->put(listed("of another code", 6));
        txn->put(listed("of another code", 8));
        txn->commit();
    }
    const auto reader = ledger->snapshot(Books::kNode);
    if (dynamic_cast<PagedReads*>(reader.get()) == nullptr) {
        GTEST_SKIP() << "a ledger in memory has no pages";
    }
    for (std::size_t i = 0; i < ids.size(); ++i) {
        std::vector<std::string> from_here;
        reader->scan(listed(ids[i]), {2, 5}, [&](const OrderByCode& row) {
            from_here.push_back(row.order_id.str());
            return true;
        });
        const auto at = ids.begin() + static_cast<std::ptrdiff_t>(i);
        EXPECT_EQ(from_here, std::vector<std::string>(at, ids.end()));
        const std::vector<std::string> before(std::make_reverse_iterator(at), ids.rend());
        EXPECT_EQ(ids_back(*reader, listed(ids[i]), {2, 5}), before);
    }
    EXPECT_EQ(ids_back(*reader, listed(""), {2, 2}),
              std::vector<std::string>(ids.rbegin(), ids.rend()));
    OrderByCode later = listed("");
    later.ordered_at = {1'767'000'000, 6};
    EXPECT_EQ(ids_back(*reader, later, {2, 3}).size(), ids.size());
    EXPECT_TRUE(ids_back(*reader, listed(""), {2, 3}).empty());
}

/// LMDB keeps the rows of this list until the commit.
TEST_P(StoredRows, Z2_ARowOfAListThatChangesTwiceInATransactionIsAsItWasLast) {
    const auto ids = [](LedgerReader& reader) {
        std::vector<std::string> found;
        reader.scan(listed(""), {2, 2}, [&found](const OrderByCode& row) {
            found.push_back(row.order_id.str());
            return true;
        });
        return found;
    };
    auto txn = ledger->begin(Books::kNode);
    txn->put(listed("stored"));
    txn->put(listed("moved"));
    txn->commit();
    txn = ledger->begin(Books::kNode);
    txn->erase(listed("stored"));
    txn->put(listed("gone"));
    txn->erase(listed("gone"));
    txn->erase(listed("moved"));
    txn->put(listed("moved"));
    EXPECT_THAT(ids(*txn), ElementsAre("moved"));
    txn->put(listed("new"));
    txn->commit();
    EXPECT_THAT(ids(*ledger->snapshot(Books::kNode)), ElementsAre("moved", "new"));
}

TEST_P(StoredRows, Z10_AdditionsToARowAreWrittenTogetherAndAddUp) {
    const auto sum = [](const char* earned, std::uint32_t node) {
        MonthlySum row;
        row.account = kAcme;
        row.month = 202601;
        row.creator = CreatorId("ann");
        row.program = ProgramId("spring");
        row.currency = *Currency::parse("USD");
        row.node = node;
        row.earned = Decimal::parse_signed(earned).value();
        return row;
    };
    for (const char* earned : {"2.50", "-0.25"}) {
        const auto txn = ledger->begin(Books::kNode);
        txn->add_row(sum(earned, 1));
        txn->add_row(sum("1.00", 2));
        txn->add_row(sum(earned, 1));
        txn->commit();
    }
    ledger->begin(Books::kNode)->add_row(sum("7.00", 1));  // not committed
    std::vector<std::string> rows;
    ledger->snapshot(Books::kNode)->scan(MonthlySum{}, {}, [&rows](const MonthlySum& row) {
        rows.push_back(std::to_string(row.node) + " " + row.earned.to_string());
        return true;
    });
    EXPECT_EQ(rows, (std::vector<std::string>{"1 4.50", "2 2.00"}));
}

TEST_P(StoredRows, AnAddedSumOfZeroIsErased) {
    const auto add = [this](std::initializer_list<const char*> amounts) {
        const auto txn = ledger->begin(Books::kNode);
        for (const char* amount : amounts) {
            OpenHours row;
            row.account = kAcme;
            row.currency = Currency::parse("EUR").value();
            row.node = 1;
            append_hour(row.hours, {7, 0, Decimal::parse_signed(amount)->unscaled()});
            txn->add_row(row);
        }
        txn->commit();
        std::string sum = "none";
        ledger->snapshot(Books::kNode)->scan(OpenHours{}, {}, [&sum](const OpenHours& row) {
            HourSum one;
            EXPECT_TRUE(HourReader(row.hours).next(one));
            sum = Decimal(one.units, 2).to_string();
            return true;
        });
        return sum;
    };
    EXPECT_EQ(add({"2.50", "-2.50"}), "none");
    EXPECT_EQ(add({"2.50"}), "2.50");
    EXPECT_EQ(add({"-1.00", "-1.50"}), "none");
    EXPECT_EQ(add({"-1.00"}), "-1.00");
}

// ---- Journal and sums ---------------------------------------------------------------------------

Decimal dec(std::string_view text) {
    return Decimal::parse_signed(text).value();
}
Currency currency(std::string_view code) {
    return Currency::parse(code).value();
}

class StoredJournal : public StoredRows {
protected:
    /// A group of one posting and a memo entry, as the rules post it.
    void post(std::string_view node, const char* creator, Timestamp accounting_date,
              std::string_view amount, std::uint64_t refers_to = 0) {
        const auto txn = ledger->begin(node);
        JournalGroup group;
        group.node = node;
        group.first_entry = txn->mutable_head().next_entry;
        group.event_seq = {4};
        group.command_id = "C260131140509-7KQ4M9";
        group.account = kAcme;
        group.program = ProgramId("spring");
        group.creator = CreatorId(creator);
        group.payout_id = "P260131140509-7KQ4M9-0001";
        group.recorded_at = {1'770'000'000, 1};
        group.accounting_date = accounting_date;
        group.note = "why \"so\"";
        group.actor = "frank";
        group.entries.push_back(
            {LineItemId(), currency("USD"), dec(amount), JournalReason::kPayout, refers_to});
        group.entries.push_back(
            {LineItemId("memo"), {}, {}, JournalReason::kMemoClosed, refers_to});
        txn->mutable_head().next_entry += 2;
        txn->mutable_head().last_received = group.recorded_at;
        seal(group, txn->mutable_chain(kAcme));
        txn->append_journal(group);
        txn->add_to_balance({{-dec(amount), dec(amount), dec("0.00")},
                             {kAcme, group.program, group.creator, currency("USD")}});
        txn->commit();
    }
    [[nodiscard]] std::vector<std::string> of_account(Timestamp from, Timestamp to) const {
        std::vector<std::string> rows;
        ledger->snapshot(Books::kNode)
            ->scan_account_journal(kAcme, from, to, [&rows](const JournalGroup& group) {
                rows.push_back(group.creator.str() + " " +
                               std::to_string(group.accounting_date.seconds) + " " +
                               group.node.substr(0, 1) + std::to_string(group.first_entry));
                return true;
            });
        return rows;
    }
};

TEST_P(StoredJournal, S3_ByCreatorDateNodeAndEntry) {
    post(Books::kNode, "ben", {200, 0}, "1.00");  // this node's number is lower, its UUID higher
    post(kOther, "ann", {200, 0}, "2.00");
    post(kOther, "ben", {200, 0}, "3.00");
    post(Books::kNode, "ben", {100, 0}, "4.00");
    post(Books::kNode, "ben", {300, 0}, "5.00");
    EXPECT_THAT(of_account({100, 0}, {300, 0}),
                ElementsAre("ann 200 01", "ben 100 13", "ben 200 03", "ben 200 11"));
    EXPECT_THAT(of_account({300, 0}, {300, 1}), ElementsAre("ben 300 15"));
    std::vector<std::uint64_t> entries;
    ledger->snapshot(kOther)->scan_creator_journal(kAcme, CreatorId("ben"), {100, 1}, {200, 1},
                                                   [&entries](const JournalGroup& group) {
                                                       entries.push_back(group.first_entry);
                                                       return true;
                                                   });
    EXPECT_THAT(entries, ElementsAre(3, 1));
}

TEST_P(StoredJournal, J1_AGroupIsReadBackAsSealed) {
    post(Books::kNode, "ben", {100, 5}, "1.00");
    post(Books::kNode, "ben", {100, 6}, "2.00", 1);
    post(kOther, "ann", {100, 7}, "3.00");
    std::map<std::string, ChainHead> chains;
    std::vector<std::string> seen;
    const auto reader = ledger->snapshot(Books::kNode);
    reader->scan_journal(1, [&](const JournalGroup& group) {
        EXPECT_TRUE(verify_seal(group, chains[group.node])) << group.first_entry;
        EXPECT_EQ(group.entries.size(), 2U);
        seen.push_back(group.node.substr(0, 1) + std::to_string(group.first_entry) + " " +
                       std::to_string(group.entries.back().refers_to));
        return true;
    });
    EXPECT_THAT(seen, ElementsAre("01 0", "11 0", "13 1"));
    std::vector<std::string> heads;
    reader->scan_heads([&heads](const LedgerHead& head) {
        heads.push_back(head.node.substr(0, 1) + std::to_string(head.next_entry) + " " +
                        RowTexts::said(head.last_received));
        return true;
    });
    EXPECT_THAT(heads, ElementsAre("03 1770000000.1", "15 1770000000.1"));
    std::vector<std::string> found;
    reader->scan_chains([&](const NodeChain& chain) {
        EXPECT_EQ(chain.head.hash, chains[chain.node].hash);
        found.push_back(chain.node.substr(0, 1) + std::to_string(chain.head.entries));
        return true;
    });
    EXPECT_THAT(found, testing::UnorderedElementsAre("02", "14"));
}

/// A memo of an account, and its row in the list of places to begin at, as the rules write them.
void append_memo(LedgerTxn& txn, AccountNumber account) {
    JournalGroup group;
    group.node = txn.head().node;
    group.first_entry = txn.mutable_head().next_entry++;
    group.event_seq = {4};
    group.account = account;
    group.recorded_at = group.accounting_date = {1'770'000'000, 1};
    group.entries.push_back({LineItemId("memo"), {}, {}, JournalReason::kMemoHeld, 0});
    ChainHead& chain = txn.mutable_chain(account);
    const std::uint64_t before = chain.last_group;
    seal(group, chain);
    txn.append_journal(group);
    if (is_listed(group.first_entry, before)) {
        txn.put(ChainGroup{account, txn.head().number, group.last_change, group.first_entry});
    }
}

TEST_P(StoredJournal, Z1_TheGroupsOfAnAccountAreReadDownwardsFromAnyPlace) {
    const AccountNumber seldom{2};
    {
        const auto txn = ledger->begin(Books::kNode);
        constexpr int kGroups = 1500;
        for (int i = 0; i < kGroups; ++i) {
            append_memo(*txn, i % 700 < 2 ? seldom : kAcme);
        }
        txn->commit();
    }
    const auto reader = ledger->snapshot(Books::kNode);
    auto* const paged = dynamic_cast<PagedReads*>(reader.get());
    if (paged == nullptr) {
        GTEST_SKIP() << "a ledger in memory has no pages";
    }
    const std::uint32_t node = reader->head().number;
    for (const AccountNumber account : {kAcme, seldom, AccountNumber{3}}) {
        std::vector<std::uint64_t> expected;
        paged->scan_chain(account, node, 0, [&expected](const JournalGroup& group) {
            expected.push_back(group.first_entry);
            return true;
        });
        std::ranges::reverse(expected);
        EXPECT_EQ(expected.size(), account == kAcme ? 1494U : account == seldom ? 6U : 0U);
        for (const std::size_t slice : {5U, 256U, 2000U}) {
            std::vector<std::uint64_t> found;
            JournalPlace place;
            for (bool more = true; more;) {
                const auto groups = paged->chain_before(account, node, place, slice);
                more = groups.size() == slice;
                for (const JournalGroup& group : groups) {
                    found.push_back(group.first_entry);
                    place = {group.first_entry, group.last_change};
                }
            }
            EXPECT_EQ(found, expected) << account.value << " in slices of " << slice;
        }
    }
    std::vector<JournalGroup> last = paged->chain_before(seldom, node, {}, 1);
    ASSERT_EQ(last.size(), 1U);
    const JournalPlace within{last[0].first_entry + 1, last[0].last_change + 1};
    EXPECT_EQ(paged->chain_before(seldom, node, within, 1).at(0).hash, last[0].hash)
        << "a page that ends within a group goes on with it";
}

TEST_P(StoredJournal, J2_TheBooksOfEveryNodeAddUp) {
    post(Books::kNode, "ben", {100, 0}, "1.00");
    post(kOther, "ben", {100, 0}, "2.50");
    const BalanceKey key{kAcme, ProgramId("spring"), CreatorId("ben"), currency("USD")};
    const std::optional<Balance> sum = ledger->snapshot(Books::kNode)->balance(key);
    ASSERT_TRUE(sum.has_value());
    EXPECT_EQ(sum->owed, dec("-3.50"));
    EXPECT_EQ(sum->in_payout.to_string(), "3.50");
    EXPECT_EQ(sum->paid.to_string(), "0.00");
    std::size_t rows = 0;
    ledger->snapshot(kOther)->scan_balances([&rows](const Balance&) { return ++rows != 0; });
    EXPECT_EQ(rows, 1U);
}

SLUICE_FOR_EVERY_LEDGER(StoredRows);
SLUICE_FOR_EVERY_LEDGER(StoredJournal);

}  // namespace
}  // namespace sluice::test
