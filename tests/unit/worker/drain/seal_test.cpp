// K5: a command that sluice did not write, or wrote once before, is not applied.
#include <gtest/gtest.h>

#include "lmdb_store/store/command_key.hpp"
#include "unit/worker/drain/fixture.hpp"
#include "worker/drain/rebuild.hpp"
#include "worker/drain/store_seals.hpp"

namespace sluice::worker {
namespace {

class SealTest : public testing::Test {
protected:
    static std::string body() {
        return encode_request({"k-1", "as agreed", ProgramApply{{spring_program()}}});
    }
    static RecordMeta meta() { return DrainStore::meta_of(Topic::kProgramApply); }
    RecordMeta sealed() {
        RecordMeta made = meta();
        made.seal = store_.seal_of(made, body());
        return made;
    }
    bool is_applied() {
        store_.drain_all();
        return store_.ledger()->snapshot(store_.queue().uuid())->program(ProgramId("spring")) !=
               std::nullopt;
    }
    std::string dead_reason(SequenceNumber seq) {
        const auto letter = store_.ledger()->snapshot(store_.queue().uuid())->dead_letter(seq);
        return letter ? letter->reason : "not dead";
    }
    void expect_dead(const RecordMeta& record, const std::string& body, const std::string& words) {
        const SequenceNumber seq = store_.append(record, body);
        EXPECT_FALSE(is_applied());
        EXPECT_EQ(dead_reason(seq), "COMMAND_NOT_SEALED: " + words);
    }
    Status rotate() {
        return store::rotate_command_key(
            store_.paths().command_key, {},
            [this]() -> Result<SequenceNumber> { return store_.queue().fill()->last_seq; });
    }

    DrainStore store_;
};

TEST_F(SealTest, K5_ASealedCommandIsApplied) {
    store_.append(sealed(), body());
    EXPECT_TRUE(is_applied());
}

TEST_F(SealTest, K5_ACommandWithoutASealIsADeadLetter) {
    expect_dead(meta(), body(), "the command has no seal; it was not written by sluice");
    EXPECT_EQ(store_.queue().control().words().dead_open.load(), 1U);
}

TEST_F(SealTest, K5_ASealOfAnythingElseIsADeadLetter) {
    const std::string wrong = "the seal is not that of this command at this place of this queue";
    RecordMeta record = sealed();
    record.actor = "mallory";
    expect_dead(record, body(), wrong);
    record = sealed();
    ++record.received_at.nanos;
    expect_dead(record, body(), wrong);
    record = sealed();
    record.account_number = {2};
    expect_dead(record, body(), wrong);
    record = sealed();
    record.seal->mac[31] ^= 1;
    expect_dead(record, body(), wrong);
    Program other = spring_program();
    other.default_rate = *parse_rate("90%");
    expect_dead(sealed(), encode_request({"k-1", "as agreed", ProgramApply{{other}}}), wrong);
    record = sealed();
    record.seal->key ^= 1;
    expect_dead(record, body(), "the command was sealed with a key that this store never had");
}

TEST_F(SealTest, K5_ASealOfAnotherQueueIsADeadLetter) {
    DrainStore other;
    std::filesystem::copy_file(store_.paths().command_key, other.paths().command_key,
                               std::filesystem::copy_options::overwrite_existing);
    RecordMeta record = meta();
    record.seal = other.seal_of(record, body());
    expect_dead(record, body(), "the seal is not that of this command at this place of this queue");
}

TEST_F(SealTest, K5_ACapturedCommandIsNotAppliedAgain) {
    const RecordMeta record = sealed();
    store_.append(record, body());
    EXPECT_TRUE(is_applied());
    const SequenceNumber copy = store_.append(record, body());
    store_.drain_all();
    const std::string elsewhere =
        "COMMAND_NOT_SEALED: the seal is not that of this command at this place of this queue";
    EXPECT_EQ(dead_reason(copy), elsewhere);
    // A command that was refused has not used up its key, but its place.
    const std::string refused = encode_request({"k-2", "as agreed", Reverse{"C0"}});
    RecordMeta reverse = DrainStore::meta_of(Topic::kReverse);
    reverse.seal = store_.seal_of(reverse, refused);
    store_.append(reverse, refused);
    const SequenceNumber again = store_.append(reverse, refused);
    store_.drain_all();
    EXPECT_EQ(dead_reason(again), elsewhere);
}

/// Its person repeats it, as the message says.
TEST_F(SealTest, K14_ACommandThatWasTakenOutOfTheQueueIsNotAppliedLater) {
    const RecordMeta taken = sealed();
    store_.order("in its place", 1);
    store_.drain_all();
    const SequenceNumber late = store_.append(taken, body());
    EXPECT_FALSE(is_applied());
    EXPECT_EQ(dead_reason(late),
              "COMMAND_NOT_SEALED: the seal is not that of this command at this place of this "
              "queue");
    store_.command(DeadReplay{});
    EXPECT_FALSE(is_applied()) << "a replay judges no seal again";
}

/// Without the keys a rebuild cannot judge the seal of a dead letter.
TEST_F(SealTest, K14_ARebuildAppliesNoUnsealedCommandThatWasReplayed) {
    store_.append(meta(), body());
    store_.command(DeadReplay{});
    store_.drain_all();
    auto rebuild = Rebuild::begin({store_.paths().archive}, store_.paths().root / "again", {});
    ASSERT_TRUE((*rebuild)->replay().ok());
    const auto ledger = store_.ledger();
    EXPECT_EQ((*rebuild)->compare(*ledger, store_.queue().uuid())->text,
              "after 2 inputs the ledgers are equal");
}

TEST_F(SealTest, K5_AfterARotationTheOldKeySealsNothingNew) {
    const RecordMeta before = sealed();
    store_.append(before, body());
    RecordMeta late = meta();
    late.received_at.nanos = 7;
    late.seal = store_.seal_of(late, body());
    ASSERT_TRUE(rotate().ok());
    EXPECT_TRUE(is_applied()) << "it was in the queue before the rotation";
    const SequenceNumber seq = store_.append(late, body());
    store_.drain_all();
    EXPECT_EQ(dead_reason(seq),
              "COMMAND_NOT_SEALED: the command was sealed with a key that had been replaced by "
              "then");
    store_.program_and_creator();  // sealed with the new key
    store_.drain_all();
    EXPECT_EQ(store_.head().totals.dead, 1U);
}

TEST_F(SealTest, K5_ARunningWorkerNoticesARotation) {
    const auto drain = store_.drain();
    ASSERT_NE(drain, nullptr);
    ASSERT_TRUE(rotate().ok());
    store_.append(sealed(), body());
    ASSERT_TRUE(drain->run_until_empty(store_.stop_).ok());
    EXPECT_EQ(drain->ledger().snapshot(store_.queue().uuid())->head().totals.dead, 0U);
}

TEST_F(SealTest, K5_AReplayJudgesAgain) {
    store_.append(sealed(), body());
    store_.append(meta(), body());
    store_.drain_all();
    const auto replay = [&](SealCheck* seals, const char* name) {
        RebuildOptions options;
        options.seals = seals;
        auto rebuild =
            Rebuild::begin({store_.paths().archive}, store_.paths().root / name, options);
        EXPECT_TRUE((*rebuild)->replay().ok());
        const auto ledger = store_.ledger();
        return (*rebuild)->compare(*ledger, store_.queue().uuid())->text;
    };
    EXPECT_EQ(replay(nullptr, "trusted"), "after 2 inputs the ledgers are equal");
    ArchiveSeals own;
    ASSERT_TRUE(own.add(store_.paths().command_key, store_.queue().uuid()).ok());
    EXPECT_EQ(replay(&own, "judged"), "after 2 inputs the ledgers are equal");
    // Without the key of its own queue no command is one.
    const DrainStore other;
    ArchiveSeals wrong;
    ASSERT_TRUE(wrong.add(other.paths().command_key, store_.queue().uuid()).ok());
    EXPECT_NE(replay(&wrong, "wrong").find("the ledgers differ"), std::string::npos);
    EXPECT_TRUE(wrong.unknown_queues().empty());
    ArchiveSeals foreign;
    ASSERT_TRUE(foreign.add(other.paths().command_key, other.paths().root.string()).ok());
    EXPECT_EQ(replay(&foreign, "foreign").substr(0, 7), "after 2");
    EXPECT_EQ(foreign.unknown_queues(), std::set<std::string>{store_.queue().uuid()});
}

TEST_F(SealTest, K5_AWorkerWithoutTheKeyDoesNotStart) {
    std::filesystem::remove(store_.paths().command_key);
    EXPECT_EQ(store_.drain(), nullptr);
    EXPECT_NE(store_.refused().message.find("command.key"), std::string::npos);
}

TEST_F(SealTest, K5_AKeyThatOthersMayReadIsRefused) {
    std::filesystem::permissions(store_.paths().command_key, std::filesystem::perms::group_read,
                                 std::filesystem::perm_options::add);
    EXPECT_EQ(store_.drain(), nullptr);
    EXPECT_NE(store_.refused().message.find("chmod 0400"), std::string::npos);
}

}  // namespace
}  // namespace sluice::worker
