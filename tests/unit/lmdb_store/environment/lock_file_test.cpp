#include "lmdb_store/environment/lock_file.hpp"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <linux/futex.h>
#include <lmdb.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <fstream>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "lmdb_store/environment/environment.hpp"
#include "lmdb_store/environment/lock_wait.hpp"
#include "unit/lmdb_store/temp_store.hpp"

namespace sluice::store {
namespace {

using ::testing::HasSubstr;

constexpr std::uint64_t kReadersAt = 56;
constexpr std::array<std::uint64_t, 2> kKindsAt{24, 80};

/// The lock file of a store that another process has open.
class LockFileInUse : public ::testing::Test {
protected:
    void SetUp() override {
        start_user([this] {
            MDB_env* env = nullptr;
            const std::string folder = store_.paths().queue;
            return mdb_env_create(&env) == 0 &&
                   mdb_env_open(env, folder.c_str(), MDB_RDONLY, 0600) == 0;
        });
    }
    /// Starts a process that does `begin`, and `then` after this has returned.
    template <class Begin, class Then = int (*)()>
    void start_user(Begin begin, Then then = ::pause) {
        std::array<int, 2> ready{};
        ASSERT_EQ(::pipe(ready.data()), 0);
        child_ = ::fork();
        if (child_ == 0) {
            const char begun = begin() ? 'y' : 'n';
            ::_exit(::write(ready[1], &begun, 1) == 1 ? then() : 1);
        }
        char begun = 'n';
        ASSERT_EQ(::read(ready[0], &begun, 1), 1);
        ASSERT_EQ(begun, 'y');
        ::close(ready[0]);
        ::close(ready[1]);
    }
    void TearDown() override { end_user(); }
    void end_user() {
        if (child_ > 0) {
            ::kill(child_, SIGKILL);
            ::waitpid(child_, nullptr, 0);
            child_ = 0;
        }
    }
    template <class Number>
    void damage(std::uint64_t at, Number value) const {
        const int fd = ::open(path_.c_str(), O_WRONLY);
        ASSERT_EQ(::pwrite(fd, &value, sizeof(value), static_cast<off_t>(at)),
                  static_cast<ssize_t>(sizeof(value)));
        ::close(fd);
    }

    TempStore store_;
    std::string path_ = store_.paths().queue / "lock.mdb";
    pid_t child_ = 0;
};

TEST_F(LockFileInUse, IsSoundAsLmdbWroteIt) {
    const auto file = LockFile::open(path_);
    ASSERT_TRUE(file.ok()) << file.error().message;
    EXPECT_TRUE(file->is_sound());
}

TEST_F(LockFileInUse, IsRefusedWithTooManyReaders) {
    damage(kReadersAt, std::uint32_t{4097});
    const auto file = LockFile::open(path_);
    ASSERT_FALSE(file.ok());
    EXPECT_EQ(file.error().code, ErrorCode::kCorrupt);
    EXPECT_THAT(file.error().message, HasSubstr(path_));
    damage(kReadersAt, std::uint32_t{4096});
    EXPECT_TRUE(LockFile::open(path_).ok());
}

TEST_F(LockFileInUse, IsRefusedWithAnotherKindOfMutex) {
    for (const std::uint64_t at : kKindsAt) {
        damage(at, std::uint32_t{0x20});  // priority inheritance: glibc follows its pointers
        EXPECT_FALSE(LockFile::open(path_).ok()) << at;
        damage(at, std::uint32_t{0x90});
        EXPECT_TRUE(LockFile::open(path_).ok()) << at;
    }
}

TEST_F(LockFileInUse, IsRefusedIfItIsTooShortForAReader) {
    ASSERT_EQ(::truncate(path_.c_str(), 128), 0);
    EXPECT_FALSE(LockFile::open(path_).ok());
}

TEST_F(LockFileInUse, MayHoldAnythingOnceNoProcessUsesIt) {
    damage(kReadersAt, ~std::uint32_t{0});
    damage(kKindsAt[0], ~std::uint64_t{0});
    EXPECT_FALSE(Environment::open({.folder = store_.paths().queue}).ok());
    end_user();
    const auto opened = Environment::open({.folder = store_.paths().queue});
    ASSERT_TRUE(opened.ok()) << opened.error().message;
    EXPECT_EQ((*opened)->check_lock_file(), 0);
}

/// Waits until a process waits for a lock of the file, ten seconds at most.
bool is_awaited(ino_t file) {
    const std::string inode = ":" + std::to_string(file) + " ";
    for (int tries = 0; tries < 1000; ++tries) {
        std::ifstream locks("/proc/locks");
        for (std::string line; std::getline(locks, line);) {
            if (line.find("-> POSIX") != std::string::npos &&
                line.find(inode) != std::string::npos) {
                return true;
            }
        }
        std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    return false;
}

// LMDB 0.9.27 to 0.9.31 (ITS#10095): the last process destroys the mutexes while it holds the lock
// for itself, and one that waits for the lock then believes that they are initialized.
TEST_F(LockFileInUse, IsInitializedAgainIfItsLastUserDestroyedItMeanwhile) {
    end_user();
    struct stat info {};
    ASSERT_EQ(::stat(path_.c_str(), &info), 0);
    { ASSERT_TRUE(Environment::open({.folder = store_.paths().queue}).ok()); }
    for (const std::uint64_t at : kKindsAt) {
        damage(at, std::uint32_t{0x90});  // as before the last user destroyed them
    }
    const int fd = ::open(path_.c_str(), O_RDWR);
    const auto take_lock = [fd] {
        struct flock lock {};
        lock.l_type = F_WRLCK;
        lock.l_len = 1;
        return ::fcntl(fd, F_SETLK, &lock) == 0;
    };
    start_user(take_lock, [&] {
        constexpr std::uint32_t kDestroyed = ~std::uint32_t{0};
        bool done = is_awaited(info.st_ino);
        for (const std::uint64_t at : kKindsAt) {  // by this fd: damage() would drop the lock
            done =
                ::pwrite(fd, &kDestroyed, sizeof(kDestroyed), static_cast<off_t>(at)) > 0 && done;
        }
        return done ? 0 : 1;
    });
    ::close(fd);
    const LockLimit none;  // LMDB waits
    const auto opened = Environment::open({.folder = store_.paths().queue});
    int status = -1;
    ::waitpid(child_, &status, 0);
    child_ = 0;
    EXPECT_EQ(status, 0) << "the environment did not wait for the lock";
    ASSERT_TRUE(opened.ok()) << opened.error().message;
    WriteTxn writer;
    EXPECT_EQ(writer.begin(**opened), 0);
}

TEST_F(LockFileInUse, IsNotUsedAfterItWasDamaged) {
    end_user();
    const auto opened = Environment::open({.folder = store_.paths().queue});
    ASSERT_TRUE(opened.ok());
    damage(kReadersAt, std::uint32_t{0x7FFF'FFFF});
    ReadTxn reader;
    WriteTxn writer;
    EXPECT_EQ(reader.begin(**opened), kLockFileDamaged);
    EXPECT_EQ(writer.begin(**opened), kLockFileDamaged);
    EXPECT_EQ((*opened)->clear_stale_readers(), 0);
    const Error error = (*opened)->error(kLockFileDamaged, "read");
    EXPECT_EQ(error.code, ErrorCode::kCorrupt);
    EXPECT_THAT(error.message, HasSubstr("lock.mdb"));
    damage(kReadersAt, std::uint32_t{0});
    EXPECT_EQ(reader.begin(**opened), 0);
}

// -- Waiting for locks ----------------------------------------------------------------------------

using std::chrono::milliseconds;

/// Another process with a lock of the queue's environment, and this one with the environment open.
class LockFileHeld : public LockFileInUse {
protected:
    void SetUp() override {}
    /// Starts a process that has the writer lock for that time, or until it is killed.
    void hold_writer_lock(int seconds = 0) {
        start_user(
            [this] {
                held_ = *Environment::open({.folder = store_.paths().queue});
                return writer_.begin(*held_) == 0;
            },
            [this, seconds] {
                if (seconds == 0) {
                    return ::pause();
                }
                ::sleep(static_cast<unsigned>(seconds));
                writer_.abort();
                return ::pause();
            });
    }
    std::shared_ptr<Environment> open() {
        auto opened = Environment::open({.folder = store_.paths().queue});
        EXPECT_TRUE(opened.ok()) << opened.error().message;
        return opened.ok() ? *opened : nullptr;
    }
    [[nodiscard]] std::string name_of_child() const {
        return "process " + std::to_string(child_) + " (";
    }

    std::shared_ptr<Environment> held_;
    WriteTxn writer_;
};

TEST_F(LockFileHeld, AWriterThatWaitedGoesOnAfterTheUnlock) {
    hold_writer_lock(1);
    const auto environment = open();
    const Clock::time_point began = steady_now();
    WriteTxn writer;
    EXPECT_EQ(writer.begin(*environment), 0);
    EXPECT_LT(steady_now() - began, std::chrono::seconds(5));
}

TEST_F(LockFileHeld, AWriterGivesUpAtItsLimitAndNamesTheHolder) {
    hold_writer_lock();
    const auto environment = open();
    const LockLimit limit(milliseconds(200));
    const Clock::time_point began = steady_now();
    WriteTxn writer;
    EXPECT_EQ(writer.begin(*environment), kLockHeld);
    EXPECT_GE(steady_now() - began, milliseconds(200));
    EXPECT_LT(steady_now() - began, std::chrono::seconds(5));
    const Error error = environment->error(kLockHeld, "write");
    EXPECT_EQ(error.code, ErrorCode::kBusy);
    EXPECT_THAT(error.message, HasSubstr("writer lock"));
    EXPECT_THAT(error.message, HasSubstr(name_of_child()));
    end_user();
    EXPECT_EQ(writer.begin(*environment), 0) << "the holder's death frees the lock";
}

TEST_F(LockFileHeld, AForgedWordKeepsNoOneLongerThanTheLimit) {
    const auto environment = open();
    constexpr std::array<std::uint64_t, 2> kWordsAt{8, 64};  // readers, writer
    for (const std::uint64_t at : kWordsAt) {
        for (const pid_t thread : {pid_t{1}, pid_t{0x3FFF'FFFF}, ::getpid()}) {
            damage(at, thread);
            const LockLimit limit(milliseconds(20));
            ReadTxn reader;
            WriteTxn writer;
            EXPECT_EQ(at == 8 ? reader.begin(*environment) : writer.begin(*environment), kLockHeld);
            EXPECT_FALSE(environment->error(kLockHeld, "read").message.empty());
            damage(at, std::uint32_t{0});
        }
    }
    const std::string shown = [&] {
        damage(kWordsAt[1], std::uint32_t{0x3FFF'FFFF});
        return environment->error(kLockHeld, "write").message;
    }();
    damage(kWordsAt[1], std::uint32_t{0});
    EXPECT_THAT(shown, HasSubstr("no process"));
}

TEST_F(LockFileHeld, AStrangersLockOfTheFileEndsTheOpeningAtItsLimit) {
    start_user([this] {
        const int fd = ::open(path_.c_str(), O_RDWR);
        struct flock lock {};
        lock.l_type = F_WRLCK;
        return ::fcntl(fd, F_SETLK, &lock) == 0;
    });
    const LockLimit limit(milliseconds(50));
    const auto opened = Environment::open({.folder = store_.paths().queue});
    ASSERT_FALSE(opened.ok());
    EXPECT_EQ(opened.error().code, ErrorCode::kBusy);
    EXPECT_THAT(opened.error().message, HasSubstr(name_of_child()));
}

TEST_F(LockFileHeld, AnErrorOfFullReaderSlotsNamesTheProcessWithMost) {
    start_user([this] {
        held_ = *Environment::open({.folder = store_.paths().queue});
        MDB_txn* txn = nullptr;
        for (int i = 0; i < 20; ++i) {
            if (mdb_txn_begin(held_->get(), nullptr, MDB_RDONLY, &txn) != 0) {
                return false;
            }
        }
        return true;
    });
    const auto environment = open();
    EXPECT_THAT(environment->error(MDB_READERS_FULL, "read").message, HasSubstr(name_of_child()));
    EXPECT_THAT(environment->error(MDB_READERS_FULL, "read").message, HasSubstr("20 of 4096"));
}

// A thread that was woken and did not say that others wait would leave them asleep for ever.
TEST_F(LockFileHeld, NoThreadSleepsOnWhileTheLockIsFree) {
    const auto environment = open();
    std::vector<std::thread> threads;
    std::atomic<int> begun{0};
    constexpr int kThreads = 6;
    constexpr int kTurns = 300;
    for (int number = 0; number < kThreads; ++number) {
        threads.emplace_back([&, number] {
            std::optional<LockLimit> none;
            if (number % 3 == 0) {
                none.emplace();  // waits within LMDB
            }
            for (int turn = 0; turn < kTurns; ++turn) {
                WriteTxn writer;
                begun += writer.begin(*environment) == 0 ? 1 : 0;
                std::this_thread::sleep_for(std::chrono::microseconds(turn % 7 * 20));
            }
        });
    }
    for (std::thread& thread : threads) {
        thread.join();
    }
    EXPECT_EQ(begun, kThreads * kTurns);
}

// LMDB releases the readers' mutex before it returns. A note of waiters that was written to it then
// looked like an owner: every reader of the store, nginx's workers among them, waited for ever.
TEST_F(LockFileHeld, AReaderThatWaitedLeavesTheMutexFree) {
    const auto environment = open();
    const int fd = ::open(path_.c_str(), O_RDWR);
    void* const page = ::mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    ASSERT_NE(page, MAP_FAILED);
    std::atomic_ref<int> word(*(static_cast<int*>(page) + 2));  // of the readers' mutex
    word = ::gettid();
    std::atomic<int> begun{kLockHeld};
    std::thread reader([&] {
        ReadTxn txn;
        begun = txn.begin(*environment);
    });
    while (word == ::gettid()) {
        std::this_thread::yield();  // until it notes that it waits
    }
    std::this_thread::sleep_for(milliseconds(20));  // it sleeps in the kernel, nearly always
    // As an unlock does, until the thread was woken, which may not sleep yet.
    word = 0;
    while (::syscall(SYS_futex, static_cast<int*>(page) + 2, FUTEX_WAKE, 1, nullptr, nullptr, 0) ==
               0 &&
           begun != 0) {
        std::this_thread::yield();
    }
    reader.join();
    EXPECT_EQ(begun, 0);
    EXPECT_EQ(word, 0);
    ::munmap(page, 4096);
    ::close(fd);
}

// An unlock wakes one thread. If that one has reached its limit, the next one is woken.
TEST_F(LockFileHeld, AReaderThatGivesUpWakesTheNext) {
    const auto environment = open();
    const int fd = ::open(path_.c_str(), O_RDWR);
    void* const page = ::mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    ASSERT_NE(page, MAP_FAILED);
    int* const word = static_cast<int*>(page) + 2;  // of the readers' mutex
    const auto held = static_cast<int>(static_cast<unsigned>(::getpid()) | FUTEX_WAITERS);
    const std::atomic_ref<int> lock(*word);
    lock.store(held);
    std::thread first([&] {
        const LockLimit limit(milliseconds(500));
        ReadTxn txn;
        EXPECT_EQ(txn.begin(*environment), kLockHeld);
    });
    std::this_thread::sleep_for(milliseconds(100));  // the first one sleeps before the next
    std::atomic<bool> woken{false};
    std::thread next([&] {
        const timespec limit{5, 0};
        woken = ::syscall(SYS_futex, word, FUTEX_WAIT, held, &limit, nullptr, 0) == 0;
    });
    std::this_thread::sleep_for(milliseconds(100));
    EXPECT_EQ(::syscall(SYS_futex, word, FUTEX_WAKE, 1, nullptr, nullptr, 0), 1);
    first.join();
    next.join();
    EXPECT_TRUE(woken);
    lock.store(0);
    ::munmap(page, 4096);
    ::close(fd);
}

TEST_F(LockFileHeld, ReadersOfManyThreadsAllBegin) {
    const auto environment = open();
    std::vector<std::thread> threads;
    std::atomic<int> begun{0};
    constexpr int kThreads = 6;
    constexpr int kTurns = 300;
    for (int number = 0; number < kThreads; ++number) {
        threads.emplace_back([&] {
            for (int turn = 0; turn < kTurns; ++turn) {
                ReadTxn reader;
                begun += reader.begin(*environment) == 0 ? 1 : 0;
            }
        });
    }
    for (std::thread& thread : threads) {
        thread.join();
    }
    EXPECT_EQ(begun, kThreads * kTurns);
}

}  // namespace
}  // namespace sluice::store
