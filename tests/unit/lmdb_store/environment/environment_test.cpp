#include "lmdb_store/environment/environment.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include <array>
#include <csignal>
#include <deque>
#include <string>
#include <thread>
#include <vector>

#include "unit/lmdb_store/temp_store.hpp"

namespace sluice::store {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

constexpr std::size_t kEnvironmentBytes = 16U << 20;

class EnvironmentTest : public testing::Test {
protected:
    void SetUp() override {
        ASSERT_TRUE(Environment::create(folder_.path(), {}, {}, [](MDB_txn* txn) {
                        MDB_dbi table = 0;
                        return mdb_dbi_open(txn, "rows", MDB_CREATE, &table);
                    }).ok());
    }

    std::shared_ptr<Environment> open(std::size_t map_bytes = kEnvironmentBytes,
                                      bool read_only = false) {
        auto opened = Environment::open({folder_.path(), map_bytes, 4, read_only, true});
        EXPECT_TRUE(opened.ok()) << opened.error().message;
        auto environment = std::move(*opened);
        EXPECT_TRUE(environment->open_databases(names_, {&rows_, 1}, false).ok());
        return environment;
    }

    Error refused() {
        auto opened = Environment::open({folder_.path(), kEnvironmentBytes, 4, false, true});
        EXPECT_FALSE(opened.ok());
        return opened.ok() ? Error{} : opened.error();
    }

    int put(Environment& environment, std::string_view key, std::string_view value) {
        WriteTxn txn;
        if (const int rc = txn.begin(environment); rc != 0) {
            return rc;
        }
        MDB_val key_val = to_val(key);
        MDB_val value_val = to_val(value);
        const int rc = mdb_put(txn.get(), rows_, &key_val, &value_val, 0);
        return rc == 0 ? txn.commit() : rc;
    }

    std::string get(const Txn& txn, std::string_view key) {
        MDB_val key_val = to_val(key);
        MDB_val value{};
        return mdb_get(txn.get(), rows_, &key_val, &value) == 0 ? std::string(to_view(value)) : "-";
    }

    fs::path data() const { return folder_.path() / "data.mdb"; }
    fs::path locks() const { return folder_.path() / "lock.mdb"; }

    TempFolder folder_;
    const std::array<const char*, 1> names_{"rows"};
    MDB_dbi rows_ = 0;
};

/// Old and new workers of nginx, and the threads of all programs, hold a slot each.
TEST_F(EnvironmentTest, AThousandReadersHaveASlot) {
    const auto environment = open(kEnvironmentBytes, true);
    std::deque<ReadTxn> readers(1000);
    for (ReadTxn& reader : readers) {
        ASSERT_EQ(reader.begin(*environment), 0);
    }
}

TEST_F(EnvironmentTest, CommittedRowsAreThereAfterReopening) {
    {
        const auto environment = open();
        ASSERT_EQ(put(*environment, "a", "1"), 0);
    }
    const auto environment = open();
    ReadTxn txn;
    ASSERT_EQ(txn.begin(*environment), 0);
    EXPECT_EQ(get(txn, "a"), "1");
}

TEST_F(EnvironmentTest, AProcessOpensAFolderOnceAndSharesIt) {
    const auto first = open();
    const auto second = open();
    EXPECT_EQ(first.get(), second.get());
    fs::create_directory_symlink(folder_.path(), folder_.path() / "other-name");
    const auto third =
        Environment::open({folder_.path() / "other-name", kEnvironmentBytes, 4, true, true});
    ASSERT_TRUE(third.ok());
    EXPECT_EQ(third->get(), first.get());
}

TEST_F(EnvironmentTest, OpeningAndClosingOnManyThreadsNeverOpensTwice) {
    std::vector<std::thread> threads;
    for (int i = 0; i < 4; ++i) {
        threads.emplace_back([this] {
            for (int j = 0; j < 50; ++j) {
                const auto opened =
                    Environment::open({folder_.path(), kEnvironmentBytes, 4, false, true});
                ASSERT_TRUE(opened.ok()) << opened.error().message;
                ReadTxn txn;
                ASSERT_EQ(txn.begin(**opened), 0);
            }
        });
    }
    for (std::thread& thread : threads) {
        thread.join();
    }
}

TEST_F(EnvironmentTest, MissingEmptyAndGarbageFilesAreErrorsThatNameThePath) {
    const auto damage = [this](const fs::path& path, const std::string& content, bool remove) {
        const std::string good = read_text(path);
        if (remove) {
            fs::remove(path);
        } else {
            write_text(path, content);
        }
        const Error error = refused();
        EXPECT_EQ(error.code, ErrorCode::kCorrupt) << path << " " << content.size();
        EXPECT_THAT(error.message, HasSubstr(folder_.path().string()));
        EXPECT_EQ(fs::exists(path), !remove) << "nothing is made anew";
        write_text(path, good);
    };
    damage(data(), "", true);
    damage(data(), "", false);
    damage(data(), "short", false);
    damage(data(), std::string(64 << 10, 'x'), false);
    damage(locks(), "", true);
    damage(locks(), "", false);
    EXPECT_NE(open(), nullptr) << "the files that were put back are good";
}

TEST_F(EnvironmentTest, AMissingFolderIsNotFound) {
    const auto opened =
        Environment::open({folder_.path() / "nowhere", kEnvironmentBytes, 4, false, true});
    ASSERT_FALSE(opened.ok());
    EXPECT_EQ(opened.error().code, ErrorCode::kNotFound);
}

TEST_F(EnvironmentTest, AFileThatWasCutOffIsRefusedBeforeItIsTouched) {
    {
        const auto environment = open();
        for (int i = 0; i < 200; ++i) {
            ASSERT_EQ(put(*environment, std::to_string(i), std::string(1500, 'v')), 0);
        }
    }
    const auto whole = fs::file_size(data());
    for (const std::uintmax_t bytes : {whole / 2, std::uintmax_t{8192}, whole - 4096}) {
        fs::resize_file(data(), bytes);
        const Error error = refused();
        EXPECT_EQ(error.code, ErrorCode::kCorrupt) << bytes;
        EXPECT_THAT(error.message, HasSubstr(data().string()));
        EXPECT_EQ(fs::file_size(data()), bytes) << "the damaged file stays as it is";
    }
}

// LMDB does not write pages at the end of the file that a transaction took and gave back.
TEST_F(EnvironmentTest, AFileThatEndsBeforeFreePagesIsWhole) {
    bool shorter = false;
    for (int round = 0; round < 300 && !shorter; ++round) {
        const auto environment = open();
        WriteTxn txn;
        ASSERT_EQ(txn.begin(*environment), 0);
        for (int i = 0; i < 30 + round; ++i) {
            std::string key = std::to_string(round) + "." + std::to_string(i);
            const std::string value(1900, 'v');
            MDB_val key_val = to_val(key);
            MDB_val value_val = to_val(value);
            ASSERT_EQ(mdb_put(txn.get(), rows_, &key_val, &value_val, 0), 0);
        }
        for (int i = 0; i < 30 + round; ++i) {
            std::string key = std::to_string(round) + "." + std::to_string(i);
            MDB_val key_val = to_val(key);
            ASSERT_EQ(mdb_del(txn.get(), rows_, &key_val, nullptr), 0);
        }
        ASSERT_EQ(txn.commit(), 0);
        MDB_envinfo info{};
        ASSERT_EQ(mdb_env_info(environment->get(), &info), 0);
        shorter = fs::file_size(data()) < (info.me_last_pgno + 1) * environment->page_bytes();
    }
    ASSERT_TRUE(shorter) << "the test no longer makes such a file";
    EXPECT_NE(open(), nullptr);
}

TEST_F(EnvironmentTest, ASmallerMapThanTheFileIsNoError) {
    {
        const auto environment = open();
        for (int i = 0; i < 600; ++i) {
            ASSERT_EQ(put(*environment, std::to_string(i), std::string(3000, 'v')), 0);
        }
    }
    const auto environment = open(64 << 10);
    ReadTxn txn;
    ASSERT_EQ(txn.begin(*environment), 0);
    EXPECT_EQ(get(txn, "599"), std::string(3000, 'v'));
}

TEST_F(EnvironmentTest, FollowsAnotherProcessThatWroteBeyondThisMap) {
    const auto environment = open(64 << 10);
    ASSERT_EQ(put(*environment, "mine", "1"), 0);
    const pid_t child = ::fork();
    if (child == 0) {
        const auto own = open();
        bool ok = true;
        for (int i = 0; ok && i < 200; ++i) {
            ok = put(*own, std::to_string(i), std::string(3000, 'v')) == 0;
        }
        ::_exit(ok ? 0 : 1);
    }
    int status = 0;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    ASSERT_EQ(status, 0);
    ReadTxn txn;
    ASSERT_EQ(txn.renew(*environment), 0);
    EXPECT_EQ(get(txn, "199"), std::string(3000, 'v'));
}

TEST_F(EnvironmentTest, AProcessThatDiesWithTheWriterLockBlocksNoOther) {
    const auto environment = open();
    ASSERT_EQ(put(*environment, "before", "1"), 0);
    const pid_t child = ::fork();
    if (child == 0) {
        const auto own = open();
        WriteTxn txn;
        if (txn.begin(*own) != 0) {
            ::_exit(1);
        }
        MDB_val key = to_val(std::string_view("lost"));
        MDB_val value = to_val(std::string_view("1"));
        if (mdb_put(txn.get(), rows_, &key, &value, 0) != 0) {
            ::_exit(1);
        }
        ::raise(SIGKILL);
    }
    int status = 0;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    ASSERT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
    ASSERT_EQ(put(*environment, "after", "1"), 0);
    ReadTxn txn;
    ASSERT_EQ(txn.begin(*environment), 0);
    EXPECT_EQ(get(txn, "before"), "1");
    EXPECT_EQ(get(txn, "lost"), "-");
    EXPECT_EQ(get(txn, "after"), "1");
}

TEST_F(EnvironmentTest, ReadersThatDiedAreCleared) {
    const auto environment = open();
    const pid_t child = ::fork();
    if (child == 0) {
        auto opened = Environment::open({folder_.path(), kEnvironmentBytes, 4, false, true});
        ReadTxn txn;
        if (!opened.ok() || txn.begin(**opened) != 0) {
            ::_exit(1);
        }
        ::raise(SIGKILL);
    }
    int status = 0;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    ASSERT_TRUE(WIFSIGNALED(status));
    EXPECT_EQ(environment->clear_stale_readers(), 1);
    EXPECT_EQ(environment->clear_stale_readers(), 0);
}

TEST_F(EnvironmentTest, AChildLetsItsParentsEnvironmentAlone) {
    auto environment = open();
    ReadTxn txn;
    ASSERT_EQ(txn.begin(*environment), 0);
    const pid_t child = ::fork();
    if (child == 0) {
        txn.abort();          // must not give back the slot, which is the parent's
        environment.reset();  // must not close: the locks are the parent's
        const auto own = open();
        ::_exit(put(*own, "child", "1") == 0 ? 0 : 1);
    }
    int status = 0;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    EXPECT_EQ(status, 0);
    EXPECT_EQ(get(txn, "child"), "-") << "the snapshot of the parent still stands";
    EXPECT_EQ(environment->clear_stale_readers(), 0);
    mdb_txn_reset(txn.get());
    EXPECT_EQ(mdb_txn_renew(txn.get()), 0) << "the slot is still its own";
}

TEST_F(EnvironmentTest, NoticesThatItsFilesWereRemovedOrReplaced) {
    const auto environment = open();
    EXPECT_TRUE(environment->still_in_place());
    fs::rename(data(), folder_.path() / "moved.mdb");
    EXPECT_FALSE(environment->still_in_place());
    fs::copy_file(folder_.path() / "moved.mdb", data());
    EXPECT_FALSE(environment->still_in_place()) << "another file by the same name";
    fs::rename(folder_.path() / "moved.mdb", data());
    EXPECT_TRUE(environment->still_in_place());
    fs::remove(locks());
    EXPECT_FALSE(environment->still_in_place());
}

TEST_F(EnvironmentTest, AReaderMayNotOpenForWritingInTheSameProcess) {
    const auto reader = open(kEnvironmentBytes, true);
    const auto writer = Environment::open({folder_.path(), kEnvironmentBytes, 4, false, true});
    ASSERT_FALSE(writer.ok());
    EXPECT_EQ(writer.error().code, ErrorCode::kBusy);
}

TEST_F(EnvironmentTest, AMissingTableIsDamage) {
    const auto environment = open();
    MDB_dbi handle = 0;
    const std::array<const char*, 1> names{"other"};
    const Status opened = environment->open_databases(names, {&handle, 1}, false);
    ASSERT_FALSE(opened.ok());
    EXPECT_EQ(opened.error().code, ErrorCode::kCorrupt);
    EXPECT_THAT(opened.error().message, HasSubstr("other"));
}

}  // namespace
}  // namespace sluice::store
