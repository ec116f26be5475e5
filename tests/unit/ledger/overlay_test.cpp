// Overlay and dry run (rule A4): the same code over a reader, with changes in memory alone.
#include "core/ledger/overlay.hpp"

#include <gtest/gtest.h>

#include "core/apply/command.hpp"
#include "core/apply/dry_run.hpp"
#include "core/apply/work.hpp"
#include "core/audit/audit.hpp"
#include "core/commands/ids.hpp"
#include "core/orders/order.hpp"
#include "unit/ledger/books.hpp"
#include "unit/ledger/memory_ledger.hpp"

namespace sluice::test {
namespace {

constexpr std::string_view kMoved = "2026-02-10T00:00:00Z";

/// Orders o1 (ann), o2 (ben), o3 (unattributed, code LATE); o1 is in a payout.
class OverlayTest : public testing::Test {
protected:
    OverlayTest() {
        Program spring = program();
        spring.late_days = 366;
        books_.apply({spring});
        books_.creator("ann", "spring", "ANN");
        books_.creator("ben", "spring", "BEN");
        for (const auto& [id, code] :
             {std::pair("o1", "ANN"), std::pair("o2", "BEN"), std::pair("o3", "LATE")}) {
            OrderText order;
            order.id = id;
            order.codes = {code};
            books_.create(order);
        }
        books_.receive_at("2026-02-05T00:00:00Z");
        PayoutClose close{instant("2026-02-05T00:00:00Z")};
        close.creators = {CreatorId("ann")};
        EXPECT_FALSE(books_.command(close).failed);
        books_.receive_at(kMoved);
    }

    [[nodiscard]] CommandContext context(const Command& command) {
        CommandContext made;
        const SequenceNumber seq{books_.last_seq().value + 1};
        made.source = {seq,
                       topic_of(command),
                       instant(kMoved),
                       command_id(Books::kNode, seq, instant(kMoved)),
                       books_.reason,
                       books_.actor};
        made.account = {1};
        made.shop = {1};
        made.account_id = AccountId("acme");
        made.shop_id = ShopId("shop-1");
        return made;
    }

    /// Runs the command in memory, with the work that it leaves.
    CommandRow try_out(const Command& command, LedgerTxn& txn) {
        ProgramCache programs;
        OrderApplier orders(programs);
        const Replay none = [](const DeadReplay&) -> Result<Reply> { return Reply{}; };
        const CommandRow row = apply_command({{}, books_.reason, command}, context(command), none,
                                             nullptr, programs, txn);
        while (do_work(orders, txn, 100)) {
        }
        return row;
    }

    MemoryLedger ledger_;
    Books books_{ledger_};
};

/// Each can be done to the ledger of the test, and after those before it.
std::vector<Command> commands() {
    CreatorImport import;
    import.rows.push_back({2, CreatorId("ben"), ProgramId("spring"), "LATE"});
    return {Attribute{OrderId("o1"), CreatorId("ben"), ProgramId("spring"), true},
            Adjust{OrderId("o2"), Decimal(250, 2)},
            Credit{CreatorId("ann"), ProgramId("spring"), *parse_money("12.00 USD")},
            PayoutClose{instant(kMoved)},
            Hold{{OrderId("o2"), {}, {}}},
            Reject{OrderId("o1")},
            import,
            Detach{OrderId("o2"), {}, false}};
}

TEST_F(OverlayTest, ACommandOnItGivesALedgerThatTheAuditFindsWhole) {
    for (const Command& command : commands()) {
        SCOPED_TRACE(to_string(topic_of(command)));
        const auto reader = books_.read();
        Overlay overlay(*reader);
        const CommandRow row = try_out(command, overlay);
        EXPECT_EQ(row.outcome, CommandOutcome::kDone) << row.result;
        for (const AuditFinding& finding : audit_ledger(overlay, 10)) {
            ADD_FAILURE() << to_string(finding);
        }
    }
}

TEST_F(OverlayTest, ItsChainIsThatOfTheCommandApplied) {
    for (const Command& command : commands()) {
        SCOPED_TRACE(to_string(topic_of(command)));
        const auto reader = books_.read();
        Overlay overlay(*reader);
        (void)try_out(command, overlay);
        const ChainHead tried = overlay.chain({1});
        EXPECT_FALSE(books_.command(command).failed);
        const ChainHead applied = books_.read()->chain({1});
        EXPECT_EQ(tried.entries, applied.entries);
        EXPECT_EQ(tried.hash, applied.hash);
    }
}

TEST_F(OverlayTest, NothingBelowChanges) {
    const std::string before = books_.dump();
    for (const Command& command : commands()) {
        const auto reader = books_.read();
        Overlay overlay(*reader);
        (void)try_out(command, overlay);
        EXPECT_THROW(overlay.commit(), LedgerFailure);
    }
    EXPECT_EQ(books_.dump(), before);
    EXPECT_EQ(books_.broken_invariant(), "");
}

TEST_F(OverlayTest, AScanHasRowsOfBothInTheOrderOfTheirKeys) {
    const auto reader = books_.read();
    Overlay lower(*reader);
    const auto member = [](std::string_view creator, std::string_view group) {
        return Membership{
            {1}, ProgramId("spring"), CreatorId(creator), false, {}, std::string(group), {}};
    };
    lower.put(member("aaa", "new"));
    lower.put(member("ann", "changed"));
    lower.put(member("zoe", "new"));
    LedgerReader& start = lower;
    Overlay upper(start);
    upper.erase(member("ben", ""));
    upper.put(member("bea", "upper"));
    const auto groups = [](LedgerReader& ledger) {
        std::string text;
        ledger.scan_memberships({1}, ProgramId("spring"), [&text](const Membership& row) {
            text += row.creator.str() + "=" + row.group + " ";
            return true;
        });
        return text;
    };
    EXPECT_EQ(groups(*reader), "ann= ben= ");
    EXPECT_EQ(groups(lower), "aaa=new ann=changed ben= zoe=new ");
    EXPECT_EQ(groups(upper), "aaa=new ann=changed bea=upper zoe=new ");
    Membership gone = member("ben", "");
    EXPECT_FALSE(upper.load(gone));
    EXPECT_TRUE(lower.load(gone));
    std::string first;
    upper.scan(member("ann", ""), {2, 3}, [&first](const Membership& row) {
        first += row.creator.str();
        return false;
    });
    EXPECT_EQ(first, "ann");
}

TEST_F(OverlayTest, ADryRunNamesTheCreatorsOfChangedCommissions) {
    const Attribute attribute{OrderId("o1"), CreatorId("ben"), ProgramId("spring"), true};
    const auto reader = books_.read();
    const auto tried = dry_run(attribute, context(attribute), *reader);
    ASSERT_TRUE(tried.ok()) << tried.error().message;
    ASSERT_EQ(tried->rows.size(), 2U);
    EXPECT_EQ(tried->rows[0].creator.str() + " " + tried->rows[0].difference.to_string(),
              "ann -10.00");
    EXPECT_EQ(tried->rows[1].creator.str() + " " + tried->rows[1].after.to_string(), "ben 10.00");
    EXPECT_EQ(tried->rows[1].orders, 1U);
}

TEST_F(OverlayTest, ADryRunIsRefusedWithTheWordsOfItsCommand) {
    const Attribute attribute{OrderId("o1"), CreatorId("eve"), ProgramId("spring"), true};
    const auto reader = books_.read();
    const auto tried = dry_run(attribute, context(attribute), *reader);
    ASSERT_FALSE(tried.ok());
    EXPECT_EQ(tried.error().message, books_.command(attribute).text);
}

TEST_F(OverlayTest, ADryRunOfAnImportTriesEveryOrderThatWaits) {
    CreatorImport import;
    import.rows.push_back({2, CreatorId("ben"), ProgramId("spring"), "LATE"});
    const auto reader = books_.read();
    const auto tried = dry_run(import, context(import), *reader);
    ASSERT_TRUE(tried.ok()) << tried.error().message;
    ASSERT_EQ(tried->rows.size(), 1U);
    EXPECT_EQ(tried->rows[0].after.to_string(), "10.00");
    EXPECT_EQ(tried->text, "1 row imported");
}

}  // namespace
}  // namespace sluice::test
