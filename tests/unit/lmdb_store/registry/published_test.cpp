#include "lmdb_store/registry/published.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <string_view>
#include <thread>

#include "core/intake/registry_view.hpp"
#include "lmdb_store/environment/store_failure.hpp"
#include "lmdb_store/registry/reader.hpp"
#include "lmdb_store/registry/registry.hpp"
#include "lmdb_store/registry/tables.hpp"
#include "os/files/file_io.hpp"
#include "unit/lmdb_store/failing_calls.hpp"
#include "unit/lmdb_store/ledger/raw_rows.hpp"
#include "unit/lmdb_store/temp_store.hpp"

namespace sluice::store {
namespace {

using testing::HasSubstr;
namespace fs = std::filesystem;

class PublishedTest : public testing::Test {
protected:
    [[nodiscard]] std::unique_ptr<Registry> open(Registry::Mode mode) const {
        auto opened = Registry::open(store_.paths(), mode);
        EXPECT_TRUE(opened.ok()) << opened.error().message;
        return std::move(*opened);
    }
    void create_account(const char* id) const {
        ASSERT_TRUE(open(Registry::Mode::kReadWrite)
                        ->create_account(AccountId(id), std::nullopt, kNow)
                        .ok());
    }
    /// Accounts that a process of nginx's group sees, which reads the copy as it is.
    [[nodiscard]] std::size_t accounts_seen() const {
        const auto copy = RegistryTables::open_published(store_.paths(), generation());
        EXPECT_TRUE(copy.ok()) << copy.error().message;
        ReadTxn txn;
        MDB_stat stat{};
        EXPECT_EQ(txn.begin(*copy->environment), 0);
        EXPECT_EQ(mdb_stat(txn.get(), copy->accounts, &stat), 0);
        return stat.ms_entries;
    }
    [[nodiscard]] std::unique_ptr<RegistryReader> open_reader() const {
        auto reader =
            RegistryReader::open(store_.paths(), *MasterKey::load(store_.paths().master_key));
        EXPECT_TRUE(reader.ok()) << reader.error().message;
        return std::move(*reader);
    }
    /// A shop whose token is revoked by change 2, and the copy before that.
    void revoke_between_copies(std::string& older) const {
        const auto registry = open(Registry::Mode::kReadWrite);
        ASSERT_TRUE(registry->create_account(AccountId("a"), std::nullopt, kNow).ok());
        ASSERT_TRUE(registry->create_shop(ShopId("s"), AccountId("a"), kNow).ok());
        const auto token =
            registry->create_token({AccountId("a"), kWriteOrders, {}, {}},
                                   *MasterKey::load(store_.paths().master_key), kNow);
        older = read_text(published_file(store_.paths()));
        ASSERT_TRUE(registry->revoke_token(token->token_id, kNow).ok());
    }
    [[nodiscard]] std::uint64_t generation() const {
        return PublishedGeneration::open(store_.paths())->current();
    }

    TempStore store_;
};

TEST_F(PublishedTest, EachChangeIsANewFileAndANewGeneration) {
    struct stat before {};
    struct stat after {};
    ASSERT_EQ(::stat(published_file(store_.paths()).c_str(), &before), 0);
    const std::uint64_t first = generation();
    EXPECT_GT(first, 0U);
    create_account("a");
    EXPECT_EQ(generation(), first + 1);
    ASSERT_EQ(::stat(published_file(store_.paths()).c_str(), &after), 0);
    EXPECT_NE(before.st_ino, after.st_ino);
    EXPECT_EQ(before.st_mode, after.st_mode);
    EXPECT_EQ(accounts_seen(), 1U);
    EXPECT_EQ(generation(), first + 1) << "reading publishes nothing";
}

TEST_F(PublishedTest, AReaderFollowsManyChanges) {
    const auto reader = open_reader();
    for (std::uint64_t count = 1; count <= 50; ++count) {
        create_account(("a" + std::to_string(count)).c_str());
        EXPECT_EQ(reader->slots_used(), count);
    }
}

TEST_F(PublishedTest, AChangeThatWasNotPublishedIsPublishedByTheNextCommand) {
    create_account("a");
    const std::uint64_t before = generation();
    RawRows(store_.paths().registry, "").put("history/never-published", "x");  // killed after that
    EXPECT_EQ(generation(), before);
    static_cast<void>(open(Registry::Mode::kReadOnly));
    EXPECT_EQ(generation(), before + 1);
    EXPECT_EQ(accounts_seen(), 1U);
}

TEST_F(PublishedTest, ARestoredRegistryWithTheSameTransactionNumberIsPublished) {
    const fs::path data = store_.paths().registry / "data.mdb";
    create_account("a");
    const std::string restored = read_text(data);
    const TempStore other;
    ASSERT_TRUE((*Registry::open(other.paths(), Registry::Mode::kReadWrite))
                    ->create_account(AccountId("b"), std::nullopt, kNow)
                    .ok());
    fs::copy_file(data, other.paths().registry / "data.mdb", fs::copy_options::overwrite_existing);
    const auto opened = Registry::open(other.paths(), Registry::Mode::kReadOnly);
    ASSERT_TRUE(opened.ok()) << opened.error().message;
    const auto accounts = (*opened)->accounts();
    ASSERT_EQ(accounts->size(), 1U);
    EXPECT_EQ(accounts->front().account_id.str(), "a");
    EXPECT_TRUE(read_text(published_file(other.paths())).starts_with(restored));
}

TEST_F(PublishedTest, ACopyThatAKilledProcessLeftIsReplaced) {
    write_text(published_file(store_.paths()).string() + ".new", "half a copy");
    create_account("a");
    EXPECT_EQ(accounts_seen(), 1U);
}

/// Bytes that this process has asked the system for.
std::uint64_t bytes_asked_for() {
    const auto io = read_proc("/proc/self/io");
    EXPECT_TRUE(io.ok());
    return std::strtoull(io->c_str() + std::string_view("rchar: ").size(), nullptr, 10);
}

TEST_F(PublishedTest, AnUnusableCopyIsNotReadByEachRequestAndIsReadAgainLater) {
    constexpr std::uint64_t kRequests = 1000;
    create_account("a");
    const auto reader = open_reader();
    create_account("b");
    const fs::path path = published_file(store_.paths());
    const std::string sound = read_text(path);
    std::string damaged = sound;
    damaged[sound.size() / 2] ^= 1;
    write_text(path, damaged);
    const std::uint64_t before = bytes_asked_for();
    for (std::uint64_t i = 0; i < kRequests; ++i) {
        EXPECT_THROW(static_cast<void>(reader->slots_used()), StoreFailure);
    }
    EXPECT_LT(bytes_asked_for() - before, kRequests * sound.size() / 10);
    write_text(path, sound);
    const auto follows = [&] {
        try {
            return reader->slots_used() == 2;
        } catch (const StoreFailure&) {
            return false;
        }
    };
    for (int tries = 0; tries < 1000 && !follows(); ++tries) {
        std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    EXPECT_TRUE(follows());
}

/// Every byte counts: of the pages, the seal and the length.
TEST_F(PublishedTest, ADamagedOrCutCopyIsRefusedAndWrittenAgain) {
    create_account("a");
    const fs::path path = published_file(store_.paths());
    const std::string sound = read_text(path);
    const auto refused = [&](const std::string& bytes) {
        fs::remove(path);  // a new file, as a disk or a person leaves it
        write_text(path, bytes);
        const auto reader =
            RegistryReader::open(store_.paths(), *MasterKey::load(store_.paths().master_key));
        return !reader.ok() && reader.error().code == ErrorCode::kCorrupt &&
               reader.error().message.find(path.string()) != std::string::npos;
    };
    for (std::size_t at = 0; at < sound.size(); at += at < sound.size() - 40 ? 509U : 1U) {
        std::string damaged = sound;
        damaged[at] = static_cast<char>(damaged[at] ^ 0x10);
        EXPECT_TRUE(refused(damaged)) << at;
    }
    for (const std::size_t bytes : {std::size_t{0}, std::size_t{1}, std::size_t{8191},
                                    std::size_t{8192}, std::size_t{12288}, sound.size() - 1}) {
        EXPECT_TRUE(refused(sound.substr(0, bytes))) << bytes;
    }
    EXPECT_TRUE(refused(sound + "x"));
    static_cast<void>(open(Registry::Mode::kReadOnly));
    EXPECT_EQ(accounts_seen(), 1U);
}

TEST_F(PublishedTest, AnOlderCopyLetsNoRevokedTokenIn) {
    std::string older;
    revoke_between_copies(older);
    const auto reader = open_reader();
    EXPECT_TRUE(reader->find_shop("s")->account->tokens.empty());
    fs::remove(published_file(store_.paths()));
    write_text(published_file(store_.paths()), older);
    EXPECT_TRUE(reader->find_shop("s")->account->tokens.empty()) << "it has the copy open";
    const auto opened =
        RegistryReader::open(store_.paths(), *MasterKey::load(store_.paths().master_key));
    ASSERT_FALSE(opened.ok());
    EXPECT_THAT(opened.error().message, HasSubstr("is older than the last change"));
    EXPECT_THAT(opened.error().message, HasSubstr("sluice registry publish"));
    ASSERT_TRUE(open(Registry::Mode::kReadWrite)->publish().ok());
    EXPECT_TRUE(open_reader()->find_shop("s")->account->tokens.empty());
}

TEST_F(PublishedTest, ARunningReaderThrowsWhileTheNewCopyIsDamaged) {
    std::string older;
    revoke_between_copies(older);
    const auto reader = open_reader();
    ASSERT_NE(reader->find_shop("s"), nullptr);
    create_account("b");
    const std::string sound = read_text(published_file(store_.paths()));
    fs::remove(published_file(store_.paths()));
    write_text(published_file(store_.paths()), sound.substr(0, sound.size() / 2));
    EXPECT_THROW(static_cast<void>(reader->find_shop("s")), StoreFailure);
    EXPECT_THROW(static_cast<void>(reader->find_bearer("secret")), StoreFailure);
    EXPECT_EQ(open(Registry::Mode::kReadOnly)->accounts()->size(), 2U);
    EXPECT_EQ(reader->slots_used(), 2U) << "the command published the registry";
}

TEST_F(PublishedTest, AGenerationThatIsMissingOrCutIsMadeAgainAndNeverFallsBack) {
    create_account("a");
    for (const std::size_t bytes : {std::size_t{0}, std::size_t{8}}) {
        const auto reader = open_reader();
        const std::uint64_t before = generation();
        fs::remove(generation_file(store_.paths()));
        EXPECT_FALSE(reader->still_in_place());
        if (bytes > 0) {
            write_text(generation_file(store_.paths()), std::string(bytes, '\0'));
        }
        EXPECT_FALSE(
            RegistryReader::open(store_.paths(), *MasterKey::load(store_.paths().master_key)).ok());
        static_cast<void>(open(Registry::Mode::kReadOnly));
        EXPECT_GT(generation(), before);
        EXPECT_EQ(accounts_seen(), 1U);
        EXPECT_TRUE(open_reader()->still_in_place());
    }
}

/// Each call of the publication fails once, after the change was stored.
TEST_F(PublishedTest, AChangeThatCannotBePublishedIsAnErrorAndIsPublishedLater) {
    int stored_only = 0;
    for (int nth = 0, struck = 1; struck != 0; ++nth) {
        const AccountId account("a" + std::to_string(nth));
        const auto registry = open(Registry::Mode::kReadWrite);
        FailingCall call("sys_", nth, EIO);
        const Status created = registry->create_account(account, std::nullopt, kNow);
        call.disarm();
        struck = call.struck() ? 1 : 0;
        const bool is_there = registry->account(account)->has_value();
        EXPECT_TRUE(created.ok() || struck != 0);
        if (!created.ok() && is_there) {
            ++stored_only;
            EXPECT_THAT(created.error().message, HasSubstr("the change is stored"));
            EXPECT_THAT(created.error().message, HasSubstr("sluice registry publish"));
        }
        const std::size_t accounts = open(Registry::Mode::kReadOnly)->accounts()->size();
        EXPECT_EQ(accounts_seen(), accounts) << call.name();
    }
    EXPECT_GE(stored_only, 6);
}

TEST_F(PublishedTest, ATokenThatCannotBePublishedIsStillShownWithItsSecret) {
    create_account("a");
    const MasterKey key = *MasterKey::load(store_.paths().master_key);
    const auto registry = open(Registry::Mode::kReadWrite);
    FailingCall call("sys_rename", 0, EIO);
    const auto token = registry->create_token({AccountId("a"), kWriteOrders, {}, {}}, key, kNow);
    call.disarm();
    ASSERT_TRUE(token.ok()) << token.error().message;
    EXPECT_FALSE(token->published.ok());
    EXPECT_FALSE(token->secret.empty());
    EXPECT_EQ(registry->tokens(std::nullopt)->size(), 1U);
}

}  // namespace
}  // namespace sluice::store
