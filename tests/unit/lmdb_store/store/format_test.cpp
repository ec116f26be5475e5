#include "lmdb_store/store/format.hpp"

#include <gmock/gmock.h>
#include <grp.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include "lmdb_store/queue/queue.hpp"
#include "lmdb_store/registry/published.hpp"
#include "lmdb_store/store/control_page.hpp"
#include "unit/lmdb_store/temp_store.hpp"

namespace sluice::store {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;
using ::testing::MatchesRegex;

unsigned mode_of(const fs::path& path) {
    struct stat info {};
    EXPECT_EQ(::stat(path.c_str(), &info), 0) << path;
    return info.st_mode & 07777U;
}

gid_t group_of(const fs::path& path) {
    struct stat info {};
    EXPECT_EQ(::stat(path.c_str(), &info), 0) << path;
    return info.st_gid;
}

TEST(StoreFormatRules, AFreshStoreHasItsFormat) {
    const TempStore store({std::nullopt, 1234});
    const Result<StoreFormat> format = read_store_format(store.paths());
    ASSERT_TRUE(format.ok()) << format.error().message;
    EXPECT_THAT(
        format->uuid,
        MatchesRegex("[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}"));
    EXPECT_EQ(format->format, kStoreFormat);
    EXPECT_EQ(format->max_accounts, 1234U);
}

TEST(StoreFormatRules, WithoutAGroupOnlyTheOwnerGetsIn) {
    const TempStore store;
    const StorePaths& paths = store.paths();
    for (const fs::path& folder :
         {paths.root, paths.registry, paths.queue, paths.bulk, paths.ledger, paths.archive}) {
        EXPECT_EQ(mode_of(folder), 0700U) << folder;
    }
    for (const fs::path& file :
         {paths.format, paths.registry / "data.mdb", paths.registry / "lock.mdb",
          paths.queue / "data.mdb", paths.queue / "lock.mdb", paths.control, paths.worker_lock,
          paths.ledger / "data.mdb", paths.ledger / "lock.mdb"}) {
        EXPECT_EQ(mode_of(file), 0600U) << file;
    }
    EXPECT_EQ(mode_of(paths.master_key), 0400U);
}

TEST(StoreFormatRules, AGroupMayAppendAndReadTheRegistryButNotTheLedger) {
    if (::geteuid() != 0) {
        GTEST_SKIP() << "only root may give files to another group";
    }
    const group* daemon = ::getgrnam("daemon");
    ASSERT_NE(daemon, nullptr);
    const gid_t gid = daemon->gr_gid;
    const TempStore store({"daemon"});
    const StorePaths& paths = store.paths();
    EXPECT_EQ(mode_of(paths.root), 0750U);
    EXPECT_EQ(mode_of(paths.registry), 0750U);
    EXPECT_EQ(mode_of(paths.registry / "data.mdb"), 0600U);
    EXPECT_EQ(mode_of(paths.registry / "lock.mdb"), 0600U);
    for (const fs::path& file : {published_file(paths), generation_file(paths)}) {
        EXPECT_EQ(mode_of(file), 0640U) << file;
        EXPECT_EQ(group_of(file), gid) << file;
    }
    EXPECT_EQ(mode_of(paths.queue), 0750U);
    EXPECT_EQ(mode_of(paths.bulk), 03770U);
    EXPECT_EQ(mode_of(paths.lanes), 03770U);
    for (const fs::path& file :
         {paths.queue / "data.mdb", paths.queue / "lock.mdb", paths.control}) {
        EXPECT_EQ(mode_of(file), 0660U) << file;
        EXPECT_EQ(group_of(file), gid) << file;
    }
    EXPECT_EQ(mode_of(paths.ledger), 0700U);
    EXPECT_EQ(mode_of(paths.archive), 0700U);
    EXPECT_EQ(mode_of(paths.master_key), 0400U);
    EXPECT_NE(group_of(paths.master_key), gid);
    EXPECT_EQ(group_of(paths.registry / "data.mdb"), gid);
}

TEST(StoreFormatRules, AnUnknownGroupIsNamed) {
    const TempFolder folder;
    const Status made = init_store(StorePaths(folder.path() / "s"), {"no-such-group-here"});
    ASSERT_FALSE(made.ok());
    EXPECT_THAT(made.error().message, HasSubstr("no-such-group-here"));
    EXPECT_FALSE(fs::exists(folder.path() / "s"));
}

TEST(StoreFormatRules, AStoreIsNeverMadeOverAnother) {
    const TempStore store;
    const std::string before = read_text(store.paths().format);
    const Status again = init_store(store.paths(), {});
    ASSERT_FALSE(again.ok());
    EXPECT_EQ(again.error().code, ErrorCode::kConflict);
    EXPECT_THAT(again.error().message, HasSubstr(store.paths().root.string()));
    EXPECT_EQ(read_text(store.paths().format), before);
}

TEST(StoreFormatRules, AFolderWithSomethingElseInItIsLeftAlone) {
    const TempFolder folder;
    write_text(folder.path() / "letter", "dear");
    const Status made = init_store(StorePaths(folder.path()), {});
    ASSERT_FALSE(made.ok());
    EXPECT_EQ(made.error().code, ErrorCode::kConflict);
    EXPECT_EQ(read_text(folder.path() / "letter"), "dear");
}

TEST(StoreFormatRules, AnEmptyFolderBecomesTheStore) {
    const TempFolder folder;
    EXPECT_TRUE(init_store(StorePaths(folder.path()), {}).ok());
    EXPECT_TRUE(read_store_format(StorePaths(folder.path())).ok());
}

TEST(StoreFormatRules, AStoreThatIsRestoredIsNoneUntilItsFormatFileIsThere) {
    const TempFolder folder;
    InitOptions options;
    options.is_complete = false;
    EXPECT_TRUE(init_store(StorePaths(folder.path()), options).ok());
    const auto format = read_store_format(StorePaths(folder.path()));
    ASSERT_FALSE(format.ok());
    EXPECT_EQ(format.error().code, ErrorCode::kNotFound);
    EXPECT_THAT(format.error().message, HasSubstr("\"sluice restore\" was interrupted"));
    EXPECT_FALSE(Queue::open(StorePaths(folder.path()), {}).ok());
}

TEST(StoreFormatRules, AMissingStoreSaysHowToMakeOne) {
    const TempFolder folder;
    const auto format = read_store_format(StorePaths(folder.path() / "nowhere"));
    ASSERT_FALSE(format.ok());
    EXPECT_EQ(format.error().code, ErrorCode::kNotFound);
    EXPECT_THAT(format.error().message, HasSubstr("sluice init"));
}

TEST(StoreFormatRules, DamageOfTheFormatFileIsAnErrorWithItsPath) {
    const TempStore store;
    const std::string good = read_text(store.paths().format);
    for (const std::string& bad : {std::string(), std::string("garbage"),
                                   good.substr(0, good.size() - 1), good.substr(0, good.size() / 2),
                                   std::string("sluice store\n"), good + "max_accounts many\n"}) {
        write_text(store.paths().format, bad);
        const auto format = read_store_format(store.paths());
        ASSERT_FALSE(format.ok()) << bad;
        EXPECT_EQ(format.error().code, ErrorCode::kCorrupt) << bad;
        EXPECT_THAT(format.error().message, HasSubstr(store.paths().format.string()));
    }
}

TEST(StoreFormatRules, EveryLineOfTheFormatFileIsNeededAndUnknownOnesAreNot) {
    const TempStore store;
    const std::string good = read_text(store.paths().format);
    const auto code_with = [&](const std::string& text) {
        write_text(store.paths().format, text);
        const auto format = read_store_format(store.paths());
        return format.ok() ? std::optional<ErrorCode>() : format.error().code;
    };
    EXPECT_EQ(code_with(good + "a_later_thing 5\n"), std::nullopt);
    EXPECT_EQ(code_with(good + "nothing\n"), ErrorCode::kCorrupt);
    EXPECT_EQ(code_with(good + "max_accounts 5x\n"), ErrorCode::kCorrupt);
    EXPECT_EQ(code_with(good + "uuid short\n"), ErrorCode::kCorrupt);
    for (const char* name : {"format", "min_reader", "min_writer", "max_accounts"}) {
        EXPECT_EQ(code_with(good + name + " 0\n"), ErrorCode::kCorrupt) << name;
    }
    EXPECT_EQ(code_with(good.substr(0, good.find("uuid")) + good.substr(good.find("format "))),
              ErrorCode::kCorrupt)
        << "without the line of the UUID";
}

TEST(StoreFormatRules, AStoreHasAtLeastOneAccountAndNotTooMany) {
    const TempFolder folder;
    const StorePaths paths(folder.path() / "s");
    for (const std::uint32_t accounts : {0U, kAccountsMaxLimit + 1}) {
        EXPECT_EQ(init_store(paths, {std::nullopt, accounts}).error().code, ErrorCode::kInvalid);
        EXPECT_FALSE(fs::exists(paths.root));
    }
    EXPECT_TRUE(init_store(paths, {std::nullopt, kAccountsMaxLimit}).ok());
}

TEST(StoreFormatRules, AStoreIsNotMadeBelowAFile) {
    const TempFolder folder;
    write_text(folder.path() / "file", "dear");
    const Status made = init_store(StorePaths(folder.path() / "file" / "store"), {});
    ASSERT_FALSE(made.ok());
    EXPECT_THAT(made.error().message, HasSubstr("file"));
    EXPECT_EQ(read_text(folder.path() / "file"), "dear");
}

TEST(StoreFormatRules, ANewerStoreOrNoneIsNotChanged) {
    const TempStore store;
    StoreFormat format = *read_store_format(store.paths());
    format.format = format.min_writer = kStoreFormat + 1;
    ASSERT_TRUE(write_store_format(store.paths(), format).ok());
    const std::string before = read_text(store.paths().format);
    EXPECT_EQ(set_max_accounts(store.paths(), 2'000'000).error().code, ErrorCode::kUnsupported);
    EXPECT_EQ(read_text(store.paths().format), before);
    fs::remove(store.paths().format);
    EXPECT_EQ(set_max_accounts(store.paths(), 2'000'000).error().code, ErrorCode::kNotFound);
    EXPECT_FALSE(fs::exists(store.paths().format));
}

TEST(StoreFormatRules, AnOlderStoreIsRefusedWithItsFormatAndARemedy) {
    const TempStore store;
    StoreFormat format = *read_store_format(store.paths());
    format.format = format.min_reader = format.min_writer = kStoreFormat - 1;
    ASSERT_TRUE(write_store_format(store.paths(), format).ok());
    const std::string before = read_text(store.paths().format);
    const Result<StoreFormat> refused = read_store_format(store.paths());
    ASSERT_FALSE(refused.ok());
    EXPECT_EQ(refused.error().code, ErrorCode::kUnsupported);
    EXPECT_THAT(refused.error().message, HasSubstr("format " + std::to_string(kStoreFormat - 1)));
    EXPECT_THAT(refused.error().message, HasSubstr("sluice init"));
    EXPECT_EQ(set_max_accounts(store.paths(), 2'000'000).error().code, ErrorCode::kUnsupported);
    EXPECT_EQ(read_text(store.paths().format), before);
}

TEST(StoreFormatRules, ANewerFormatIsRefusedUnlessItSaysThatThisReleaseMayRead) {
    const TempStore store;
    StoreFormat format = *read_store_format(store.paths());
    format.format = kStoreFormat + 1;
    format.min_writer = kStoreFormat + 1;
    ASSERT_TRUE(write_store_format(store.paths(), format).ok());
    const auto readable = read_store_format(store.paths());
    ASSERT_TRUE(readable.ok());
    EXPECT_EQ(check_writable_format(*readable).error().code, ErrorCode::kUnsupported);
    format.min_reader = kStoreFormat + 1;
    ASSERT_TRUE(write_store_format(store.paths(), format).ok());
    EXPECT_EQ(read_store_format(store.paths()).error().code, ErrorCode::kUnsupported);
}

TEST(StoreFormatRules, MaxAccountsCanOnlyBeRaised) {
    const TempStore store({std::nullopt, 100});
    EXPECT_TRUE(set_max_accounts(store.paths(), 200).ok());
    EXPECT_EQ(read_store_format(store.paths())->max_accounts, 200U);
    EXPECT_EQ(set_max_accounts(store.paths(), 199).error().code, ErrorCode::kInvalid);
    EXPECT_EQ(set_max_accounts(store.paths(), kAccountsMaxLimit + 1).error().code,
              ErrorCode::kInvalid);
    EXPECT_EQ(read_store_format(store.paths())->max_accounts, 200U);
    EXPECT_EQ(mode_of(store.paths().format), 0600U) << "the mode stays";
}

}  // namespace
}  // namespace sluice::store
