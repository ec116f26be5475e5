#include "worker/drain/archive_merge.hpp"

#include <gtest/gtest.h>

#include "unit/worker/drain/fixture.hpp"
#include "worker/drain/rebuild.hpp"

namespace sluice::worker {
namespace {

Timestamp second(int number) {
    return {kReceived.seconds + number, 0};
}

/// An archive of one node; each input has a time of receipt.
class NodeArchive {
public:
    explicit NodeArchive(const std::string& name)
        : name_(name), folder_(store_.paths().root / name) {
        std::filesystem::create_directory(folder_);
    }

    void add(const std::vector<int>& received) {
        auto writer = store::ArchiveWriter::open(folder_, name_, {});
        ASSERT_TRUE(writer.ok()) << writer.error().message;
        for (const int at : received) {
            RecordMeta meta = DrainStore::meta_of(Topic::kOrderCreate);
            meta.received_at = second(at);
            const std::string body = order_body(name_ + std::to_string(at), 1);
            RecordEnvelope envelope;
            envelope.encode(meta, body);
            const std::string record = std::string(envelope.prefix()) + body;
            store::ArchivedInput input;
            input.seq = {++last_};
            input.record = record;
            ASSERT_TRUE((*writer)->add(input, second(at)).ok());
        }
        ASSERT_TRUE((*writer)->flush().ok());
    }
    struct Batch {
        std::uint64_t number, first, last;
        std::optional<std::uint64_t> slices;
    };
    void order(const std::vector<Batch>& batches) {
        auto writer = store::OrderWriter::open(folder_, name_);
        ASSERT_TRUE(writer.ok()) << writer.error().message;
        for (const Batch& batch : batches) {
            ASSERT_TRUE(
                writer->put({batch.number, name_, {batch.first}, {batch.last}, batch.slices}).ok());
        }
        ASSERT_TRUE(writer->flush().ok());
    }
    [[nodiscard]] const std::filesystem::path& folder() const { return folder_; }

private:
    store::TempStore store_;
    std::string name_;
    std::filesystem::path folder_;
    std::uint64_t last_ = 0;
};

/// `a1:1 b1:2 a2:3 ...`: node, sequence number and batch. `+2` is work in two slices.
std::string order_of(const std::vector<std::filesystem::path>& folders,
                     const Positions& applied = {}, std::uint64_t batch = 0) {
    auto merge = ArchiveMerge::open(folders, applied, batch);
    EXPECT_TRUE(merge.ok());
    std::string order;
    for (;;) {
        const auto step = (*merge)->next();
        EXPECT_TRUE(step.ok()) << step.error().message;
        if (!step || !*step) {
            return order;
        }
        order += (order.empty() ? "" : " ") + std::string((*step)->queue_uuid) +
                 ((*step)->input == nullptr ? "work" : std::to_string((*step)->input->seq.value));
        order += ":" + std::to_string((*step)->batch);
        order += (*step)->slices ? "+" + std::to_string(*(*step)->slices) : "";
    }
}

TEST(ArchiveMerge, K9_InputsComeInTheOrderOfTheirBatches) {
    NodeArchive a("a"), b("b");
    a.add({1, 4, 5});
    b.add({2, 3, 9});
    a.order({{1, 1, 1, {}}, {4, 2, 3, {}}});
    b.order({{2, 1, 1, {}}, {3, 2, 2, {}}, {5, 3, 3, {}}});
    EXPECT_EQ(order_of({a.folder(), b.folder()}), "a1:1 b1:2 b2:3 a2:4 a3:4 b3:5");
    EXPECT_EQ(order_of({b.folder(), a.folder()}), "a1:1 b1:2 b2:3 a2:4 a3:4 b3:5");
    // The rest for a ledger that has the first three batches, and a part of the fourth.
    EXPECT_EQ(order_of({a.folder(), b.folder()}, {{"a", {2}}, {"b", {2}}}, 4), "a3:4 b3:5");
}

TEST(ArchiveMerge, K9_WorkIsDoneWhereItWasDone) {
    NodeArchive a("a"), b("b");
    a.add({1, 4});
    b.add({2, 3});
    a.order({{1, 1, 1, 2}, {3, 2, 1, 1}, {5, 2, 1, {}}, {7, 2, 2, {}}});
    b.order({{2, 1, 1, {}}, {4, 2, 1, {}}, {6, 2, 2, {}}});
    EXPECT_EQ(order_of({a.folder(), b.folder()}),
              "a1:1+2 b1:2 awork:3+1 bwork:4 awork:5 b2:6 a2:7");
}

TEST(ArchiveMerge, K9_AnOrderThatLacksABatchIsRefused) {
    NodeArchive a("a"), b("b");
    a.add({1, 4, 5});
    b.add({2});
    a.order({{1, 1, 1, {}}, {4, 3, 3, {}}});  // that of input 2 is missing
    b.order({{2, 1, 1, {}}});
    auto merge = ArchiveMerge::open({a.folder(), b.folder()});
    auto step = (*merge)->next();
    while (step && *step) {
        step = (*merge)->next();
    }
    ASSERT_FALSE(step.ok());
    EXPECT_EQ(step.error().code, ErrorCode::kConflict);
    EXPECT_NE(step.error().message.find("order.a lacks input 2"), std::string::npos)
        << step.error().message;
}

TEST(ArchiveMerge, K9_AnArchiveAloneNeedsNoOrder) {
    NodeArchive a("a"), b("b"), c("c");
    a.add({5, 1, 6});
    EXPECT_EQ(order_of({a.folder()}), "a1:0 a2:0 a3:0");
    EXPECT_EQ(order_of({c.folder()}), "");
    b.add({2});
    auto merge = ArchiveMerge::open({a.folder(), b.folder()});
    const auto step = (*merge)->next();
    ASSERT_FALSE(step.ok());
    EXPECT_EQ(step.error().code, ErrorCode::kConflict);
    EXPECT_NE(step.error().message.find("its file order.a is missing"), std::string::npos)
        << step.error().message;
}

TEST(ArchiveMerge, AFolderThatIsNoArchiveIsNamed) {
    NodeArchive a("a");
    const auto merge = ArchiveMerge::open({a.folder(), "/nowhere/archive"});
    ASSERT_FALSE(merge.ok());
    EXPECT_NE(merge.error().message.find("/nowhere/archive"), std::string::npos);
}

TEST(ArchiveMerge, ARebuildOfAFleetAppliesTheInputsOfEachNode) {
    NodeArchive a("a"), b("b");
    a.add({1, 3});
    b.add({2, 4, 5});
    a.order({{1, 1, 1, {}}, {3, 2, 2, {}}});
    b.order({{2, 1, 1, {}}, {4, 2, 3, {}}});
    store::TempStore store;
    auto rebuild =
        Rebuild::begin({a.folder(), b.folder()}, store.paths().root / "fleet", RebuildOptions{});
    ASSERT_TRUE(rebuild.ok()) << rebuild.error().message;
    ASSERT_TRUE((*rebuild)->replay().ok());
    EXPECT_EQ((*rebuild)->inputs_count(), 5U);
    const auto ledger = (*rebuild)->ledger().snapshot("a");
    EXPECT_EQ(ledger->head().applied_seq.value, 2U);
    std::string orders;
    ledger->scan_orders({1}, {1}, [&orders](const OrderState& order) {
        orders += order.key.order_id.str() + " ";
        return true;
    });
    EXPECT_EQ(orders, "a1 a3 b2 b4 b5 ");
    // The rebuilt ledger has the same batches.
    std::string batches;
    ledger->scan(AppliedBatch{}, {}, [&batches](const AppliedBatch& row) {
        batches += row.node + std::to_string(row.first_seq.value) + "-" +
                   std::to_string(row.last_seq.value) + " ";
        return true;
    });
    EXPECT_EQ(batches, "a1-1 b1-1 a2-2 b2-3 ");
}

}  // namespace
}  // namespace sluice::worker
