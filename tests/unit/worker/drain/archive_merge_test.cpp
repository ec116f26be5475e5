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
    void add_damaged() {
        auto writer = store::ArchiveWriter::open(folder_, name_, {});
        store::ArchivedInput input;
        input.seq = {++last_};
        input.record = "no record";
        input.dead_reason = "damaged";
        ASSERT_TRUE((*writer)->add(input, second(0)).ok());
        ASSERT_TRUE((*writer)->flush().ok());
    }
    [[nodiscard]] const std::filesystem::path& folder() const { return folder_; }

private:
    store::TempStore store_;
    std::string name_;
    std::filesystem::path folder_;
    std::uint64_t last_ = 0;
};

/// `a1 b1 a2 ...`: node and sequence number.
std::string order_of(const std::vector<std::filesystem::path>& folders) {
    auto merge = ArchiveMerge::open(folders);
    EXPECT_TRUE(merge.ok());
    std::string order;
    for (;;) {
        const auto place = (*merge)->next();
        EXPECT_TRUE(place.ok());
        if (!place || !*place) {
            return order;
        }
        order += (order.empty() ? "" : " ") + std::string((*place)->queue_uuid) +
                 std::to_string((*place)->input.seq.value);
    }
}

TEST(ArchiveMerge, TheEarlierReceiptComesFirst) {
    NodeArchive a("a"), b("b"), c("c");
    a.add({1, 4, 5});
    b.add({2, 3, 9});
    EXPECT_EQ(order_of({a.folder(), b.folder()}), "a1 b1 b2 a2 a3 b3");
    EXPECT_EQ(order_of({b.folder(), a.folder()}), "a1 b1 b2 a2 a3 b3");
    EXPECT_EQ(order_of({a.folder(), c.folder()}), "a1 a2 a3");
}

TEST(ArchiveMerge, AtOneInstantTheArchiveThatWasNamedFirstComesFirst) {
    NodeArchive a("a"), b("b");
    a.add({1, 1});
    b.add({1, 2});
    EXPECT_EQ(order_of({a.folder(), b.folder()}), "a1 a2 b1 b2");
    EXPECT_EQ(order_of({b.folder(), a.folder()}), "b1 a1 a2 b2");
}

TEST(ArchiveMerge, InputsOfOneNodeKeepTheirOrderWhateverItsClockSaid) {
    NodeArchive a("a"), b("b");
    a.add({5, 1, 6});
    b.add({2, 7});
    EXPECT_EQ(order_of({a.folder(), b.folder()}), "b1 a1 a2 a3 b2");
    a.add_damaged();
    a.add({8});
    EXPECT_EQ(order_of({a.folder(), b.folder()}), "b1 a1 a2 a3 a4 b2 a5");
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
}

}  // namespace
}  // namespace sluice::worker
