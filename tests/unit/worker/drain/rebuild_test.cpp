#include "worker/drain/rebuild.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>

#include "unit/worker/drain/fixture.hpp"

namespace sluice::worker {
namespace {

class RebuildTest : public testing::Test {
protected:
    std::unique_ptr<Rebuild> rebuild(const char* name = "rebuilt") {
        auto begun = Rebuild::begin({store_.paths().archive}, store_.paths().root / name, {});
        EXPECT_TRUE(begun.ok()) << begun.error().message;
        return begun ? std::move(*begun) : nullptr;
    }
    RebuildComparison compare(Rebuild& rebuilt) {
        const auto ledger = store_.ledger();
        const auto compared = rebuilt.compare(*ledger, store_.queue().uuid());
        EXPECT_TRUE(compared.ok()) << compared.error().message;
        return compared ? *compared : RebuildComparison{};
    }
    /// Every byte of every input in the archive.
    std::string archived_bytes() {
        std::string all;
        auto reader = store::ArchiveReader::open(store_.paths().archive);
        for (;;) {
            const auto place = (*reader)->next();
            EXPECT_TRUE(place.ok());
            if (!place || !*place) {
                return all;
            }
            all.append((*place)->input.record).append((*place)->input.bulk_body);
        }
    }

    DrainStore store_;
};

TEST_F(RebuildTest, IdenticalInputsGiveIdenticalBytes) {
    store_.orders(0, 200);
    store_.program_and_creator();
    store_.orders(100, 200);
    store_.order("o7", 3, "30.00");
    store_.append(Topic::kOrderUpdate, "dead");
    store_.drain_all();
    const auto rebuilt = rebuild();
    ASSERT_TRUE(rebuilt->replay().ok());
    EXPECT_EQ(rebuilt->inputs_count(), 404U);
    const RebuildComparison compared = compare(*rebuilt);
    EXPECT_TRUE(compared.equal) << compared.text;
    EXPECT_TRUE(rebuilt->ledger().verify(store_.queue().uuid(), 5).empty());
}

TEST_F(RebuildTest, ContinuesWithInputsAppliedMeanwhile) {
    store_.orders(0, 20);
    store_.drain_all();
    const auto rebuilt = rebuild();
    ASSERT_TRUE(rebuilt->replay().ok());
    store_.orders(20, 20);
    store_.drain_all();
    const RebuildComparison compared = compare(*rebuilt);
    EXPECT_TRUE(compared.equal) << compared.text;
    EXPECT_EQ(rebuilt->inputs_count(), 40U);
}

TEST_F(RebuildTest, AForgottenCustomerIsOutOfTheArchiveAndTheRebuildIsTheSame) {
    store_.program_and_creator();
    store_.order("a", 1);
    store_.append_bulk(Topic::kOrderUpdate, order_body("b", 1) + std::string(300'000, ' '));
    std::string dead = order_body("c", 1);
    dead.replace(dead.find("100.00"), 6, "-00.00");  // an amount that the rules refuse
    store_.append(Topic::kOrderUpdate, dead);
    store_.drain_all();
    EXPECT_NE(archived_bytes().find("ann@example.com"), std::string::npos);
    store_.command(Forget{ForgetBy::kCustomer, "c-1", sha256("R")});
    store_.order("a", 1);  // still recognised as a duplicate, also by the rebuild
    store_.drain_all();
    EXPECT_EQ(store_.head().totals.duplicate, 1U);
    EXPECT_EQ(store_.head().totals.dead, 1U);
    const auto rebuilt = rebuild();
    ASSERT_TRUE(rebuilt->replay().ok());
    const RebuildComparison compared = compare(*rebuilt);
    EXPECT_TRUE(compared.equal) << compared.text;
    // Data after the command is new; data before it is erased.
    const std::string all = archived_bytes();
    EXPECT_EQ(all.find("ann@example.com"), all.rfind("ann@example.com"));
    EXPECT_EQ(all.find("c-1"), all.rfind("c-1"));
}

TEST_F(RebuildTest, AnotherLedgerIsDetected) {
    store_.program_and_creator();
    store_.orders(0, 50);
    store_.drain_all();
    const auto rebuilt = rebuild();
    ASSERT_TRUE(rebuilt->replay().ok());
    {
        const auto ledger = store_.ledger();
        auto txn = ledger->begin(store_.queue().uuid());
        OrderState state;
        ASSERT_TRUE(txn->load_order({{1}, {1}, OrderId("o7")}, state));
        state.shipping = "0.01";
        txn->put_order(state);
        txn->commit();
    }
    const RebuildComparison compared = compare(*rebuilt);
    EXPECT_FALSE(compared.equal);
    EXPECT_NE(compared.text.find("orders"), std::string::npos) << compared.text;
}

TEST_F(RebuildTest, OnlyAWholeArchiveWillDo) {
    DrainOptions options;
    options.archive->segment_bytes_max = 1;
    options.archive->block_bytes = 1;
    store_.orders(0, 5);
    store_.drain_all(options);
    std::filesystem::remove(store_.paths().archive / "000000000001.sla");
    const Status replayed = rebuild()->replay();
    ASSERT_FALSE(replayed.ok());
    EXPECT_EQ(replayed.error().code, ErrorCode::kConflict);
    EXPECT_NE(replayed.error().message.find("input 2"), std::string::npos)
        << replayed.error().message;
}

TEST_F(RebuildTest, AKilledOneIsRefusedAndAFailedOneIsNot) {
    using Mode = store::EmbeddedLedger::Mode;
    DrainOptions options;
    options.archive->segment_bytes_max = 1;
    options.archive->block_bytes = 1;
    store_.orders(0, 5);
    store_.drain_all(options);
    const auto folder = store_.paths().root / "rebuilt";
    rebuild().reset();  // as a kill would leave it
    const auto refused = store::EmbeddedLedger::open(folder, Mode::kReadOnly);
    ASSERT_FALSE(refused.ok());
    EXPECT_EQ(refused.error().code, ErrorCode::kConflict);
    std::filesystem::remove_all(folder);
    std::filesystem::remove(store_.paths().archive / "000000000004.sla");
    EXPECT_FALSE(rebuild()->replay().ok());
    const auto kept = store::EmbeddedLedger::open(folder, Mode::kReadOnly);
    EXPECT_TRUE(kept.ok()) << kept.error().message;
}

TEST_F(RebuildTest, AFolderThatIsNotEmptyIsRefused) {
    const auto begun = Rebuild::begin({store_.paths().archive}, store_.paths().ledger, {});
    ASSERT_FALSE(begun.ok());
    EXPECT_EQ(begun.error().code, ErrorCode::kConflict);
}

TEST_F(RebuildTest, J1_AnAlteredJournalIsFound) {
    store_.program_and_creator();
    store_.orders(0, 20);
    store_.drain_all();
    const auto path = store_.paths().ledger / "data.mdb";
    std::string bytes;
    {
        std::ifstream file(path, std::ios::binary);
        bytes.assign(std::istreambuf_iterator<char>(file), {});
    }
    const std::string theirs =
        "o7\x06spring\x04"
        "anna";  // order, program, creator of an entry
    std::size_t altered = 0;
    for (auto at = bytes.find(theirs); at != std::string::npos; at = bytes.find(theirs, at + 1)) {
        bytes[at + 1] = '8';
        ++altered;
    }
    ASSERT_GT(altered, 0U);
    std::ofstream(path, std::ios::binary) << bytes;
    const std::vector<std::string> problems = store_.ledger()->verify(store_.queue().uuid(), 10);
    ASSERT_FALSE(problems.empty());
    EXPECT_NE(problems.front().find("not those that were written"), std::string::npos)
        << problems.front();
}

}  // namespace
}  // namespace sluice::worker
