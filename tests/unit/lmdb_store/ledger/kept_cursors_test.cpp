// A write transaction keeps its cursors where they stand, and what it has read of codes and
// creators: rows that it writes, replaces and erases in any order are nevertheless read as they
// are.
#include <gtest/gtest.h>

#include <map>
#include <random>
#include <string>
#include <utility>

#include "unit/lmdb_store/ledger/fixture.hpp"

namespace sluice::store {
namespace {

class KeptCursorsTest : public LedgerTest {
protected:
    /// Long ones, so that a page holds few rows: it splits and merges often.
    std::string id() {
        return std::to_string(random_() % 700) + std::string(random_() % 2 == 0 ? 5 : 300, 'x');
    }
    static RefundOwner owner_of(const std::string& id, const std::string& line = {}) {
        return {kAccount, kShop, RefundLineItemId(id), OrderId("o-" + line), LineItemId(line)};
    }
    void expect_rows(LedgerReader& reader, const std::map<std::string, std::string>& rows) {
        auto next = rows.begin();
        reader.scan(RefundOwner{kAccount, kShop, {}, {}, {}}, {2, 2}, [&](const RefundOwner& row) {
            EXPECT_TRUE(next != rows.end() && row.refund_id.str() == next->first &&
                        row.line.str() == next->second);
            return next != rows.end() && next++ != rows.end();
        });
        EXPECT_TRUE(next == rows.end());
    }

    std::mt19937 random_{15};
};

TEST_F(KeptCursorsTest, RowsAreAsTheyWereWritten) {
    open(1U << 24);
    std::map<std::string, std::string> rows;
    for (int batch = 0; batch < 30; ++batch) {
        const auto txn = ledger_->begin(kNode);
        std::map<std::string, std::string> after = rows;
        const bool grows = batch % 10 < 6;
        for (int step = 0; step < 1000; ++step) {
            const std::string key = id();
            const auto known = after.find(key);
            const unsigned what = random_() % 8;
            if (what < 3 || (what < 6 && known == after.end())) {
                RefundOwner row = owner_of(key);
                ASSERT_EQ(txn->load(row), known != after.end()) << batch << ", " << step;
                ASSERT_TRUE(known == after.end() || row.line.str() == known->second);
            }
            if (what == 6 && step % 100 == 0) {
                expect_rows(*txn, after);
            } else if (what == 7 || (what >= 3 && !grows)) {
                txn->erase(owner_of(key));
                after.erase(key);
            } else if (what >= 3) {
                const std::string line(1 + random_() % 400, 'l');
                txn->put(owner_of(key, line));
                after[key] = line;
            }
        }
        if (batch % 7 == 3) {
            continue;  // it was not committed: nothing of it is there
        }
        txn->commit();
        rows = std::move(after);
        expect_rows(*ledger_->snapshot(kNode), rows);
    }
}

/// Five rows fit a page. Ids that grow, as platforms give them, leave no page with fewer.
TEST_F(KeptCursorsTest, RowsThatAreAppendedFillTheirPages) {
    constexpr int kRows = 4000;
    constexpr std::uint64_t kPageBytes = 4096;
    open(1U << 24);
    const std::uint64_t before = ledger_->size().bytes_to_last_page;
    const auto txn = ledger_->begin(kNode);
    for (int i = 0; i < kRows; ++i) {
        txn->put(owner_of(std::to_string(100'000 + i), std::string(350, 'l')));
        if (i % 50 == 49) {  // sometimes a key that is not the last
            txn->put(owner_of(std::to_string(100'000 + i / 2), std::string(350, 'l')));
        }
    }
    txn->commit();
    const std::uint64_t pages = (ledger_->size().bytes_to_last_page - before) / kPageBytes;
    EXPECT_LT(pages, kRows / 5 * 11 / 10) << "four a page take " << kRows / 4;
}

TEST_F(KeptCursorsTest, CodesAndCreatorsAreReadAsTheyAreNow) {
    const Digest256 code = sha256("spring");
    CodeRow owner{kAccount, ProgramId("spring"), code, {1, 0}, "SPRING", CreatorId("anna"), {}};
    Membership member;
    member.account = kAccount;
    member.program = ProgramId("spring");
    member.creator = CreatorId("anna");
    const auto txn = ledger_->begin(kNode);
    const auto is_member = [&] {
        const auto found = txn->membership(kAccount, member.program, member.creator);
        return found && !found->removed;
    };
    EXPECT_TRUE(txn->code_owners(kAccount, code).empty());
    EXPECT_FALSE(is_member());
    txn->put(owner);
    txn->put(member);
    ASSERT_EQ(txn->code_owners(kAccount, code).size(), 1U);
    EXPECT_TRUE(txn->code_owners({kAccount.value + 1}, code).empty());
    EXPECT_TRUE(is_member());
    EXPECT_FALSE(txn->membership(kAccount, member.program, CreatorId("anna2")));
    owner.creator = CreatorId("ben");
    txn->put(owner);
    member.removed = true;
    txn->put(member);
    EXPECT_EQ(txn->code_owners(kAccount, code).front().creator.str(), "ben");
    EXPECT_FALSE(is_member());
    EXPECT_TRUE(txn->membership(kAccount, member.program, member.creator));
    txn->erase(owner);
    txn->erase(member);
    EXPECT_TRUE(txn->code_owners(kAccount, code).empty());
    EXPECT_FALSE(txn->membership(kAccount, member.program, member.creator));
}

}  // namespace
}  // namespace sluice::store
