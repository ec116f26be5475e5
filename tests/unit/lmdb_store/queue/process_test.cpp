// The queue with several processes on it, some of which die.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <pwd.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include <atomic>
#include <csignal>
#include <random>
#include <set>
#include <thread>

#include "lmdb_store/environment/environment.hpp"
#include "lmdb_store/queue/tables.hpp"
#include "unit/lmdb_store/queue/fixture.hpp"

namespace sluice::store {
namespace {

namespace fs = std::filesystem;

/// A child process. Its body must not return; it is killed and waited for at the end.
class Child {
public:
    template <class Body>
    explicit Child(Body&& body) : pid_(::fork()) {
        if (pid_ == 0) {
            body();
            ::_exit(0);
        }
    }
    Child(Child&& other) noexcept : pid_(std::exchange(other.pid_, 0)) {}
    Child& operator=(Child&& other) noexcept {
        std::swap(pid_, other.pid_);
        return *this;
    }
    Child(const Child&) = delete;
    Child& operator=(const Child&) = delete;
    ~Child() {
        if (pid_ > 0) {
            kill(SIGKILL);
            wait();
        }
    }
    void kill(int signal) const { ::kill(pid_, signal); }
    int wait() {
        int status = 0;
        EXPECT_EQ(::waitpid(pid_, &status, 0), pid_);
        pid_ = 0;
        return status;
    }

private:
    pid_t pid_;
};

/// Appends batches until it is killed; writes `seq body` lines to `acks` once append() reported
/// them as
[[noreturn]] void append_and_journal(const StorePaths& paths, const fs::path& acks, unsigned name,
                                     unsigned seed) {
    auto queue = Queue::open(paths, {});
    const int journal = ::open(acks.c_str(), O_WRONLY | O_APPEND | O_CREAT, 0600);
    if (!queue.ok() || journal < 0) {
        ::_exit(1);
    }
    std::mt19937 random(seed);
    for (unsigned number = 0;;) {
        std::vector<std::string> bodies(1 + random() % 8);
        for (std::string& body : bodies) {
            body = std::to_string(name) + "-" + std::to_string(number++) + "-";
            body.append(random() % 3000, 'x');
        }
        TestBatch batch(bodies);
        (*queue)->append(batch.items(), kNow);
        std::string lines;
        for (std::size_t i = 0; i < bodies.size(); ++i) {
            if (batch.items()[i].outcome == AppendOutcome::kStored) {
                lines += std::to_string(batch.items()[i].seq.value) + " " + bodies[i] + "\n";
            }
        }
        if (::write(journal, lines.data(), lines.size()) < 0) {
            ::_exit(1);
        }
    }
}

std::vector<std::pair<std::uint64_t, std::string>> acknowledged(const fs::path& acks) {
    std::vector<std::pair<std::uint64_t, std::string>> found;
    std::ifstream in(acks);
    std::uint64_t seq = 0;
    std::string body;
    while (in >> seq >> body && in.peek() == '\n') {
        found.emplace_back(seq, body);
    }
    return found;
}

class QueueProcessTest : public QueueTest {
protected:
    fs::path acks(unsigned name) const { return paths_.root / ("acks" + std::to_string(name)); }
};

// After kill -9 at any instant, each acknowledged record is there once, and the numbers have no
// gap.
TEST_F(QueueProcessTest, KilledAppendersLoseNothingThatTheyAcknowledged) {
    constexpr unsigned kKills = 25;
    std::mt19937 random(20'261);
    queue_.reset();
    unsigned name = 0;
    std::vector<Child> children;
    const auto start = [&] {
        const unsigned own = name++;
        children.emplace_back([&, own] { append_and_journal(paths_, acks(own), own, own); });
    };
    start();
    start();
    for (unsigned kill = 0; kill < kKills; ++kill) {
        ::usleep(static_cast<unsigned>(5'000 + random() % 40'000));
        children.erase(children.begin());
        start();
    }
    children.clear();

    open({});
    const std::vector<std::string> bodies = bodies_from(1);
    EXPECT_EQ(queue_->fill()->last_seq.value, bodies.size()) << "numbers are dense";
    std::size_t acknowledged_count = 0;
    for (unsigned own = 0; own < name; ++own) {
        for (const auto& [seq, body] : acknowledged(acks(own))) {
            ASSERT_LE(seq, bodies.size());
            ASSERT_EQ(bodies[seq - 1], body) << "number " << seq;
            ++acknowledged_count;
        }
    }
    std::set<std::string> unique(bodies.begin(), bodies.end());
    EXPECT_EQ(unique.size(), bodies.size()) << "nothing is there twice";
    EXPECT_GT(acknowledged_count, kKills) << "the test did not test much";
    RecordProperty("acknowledged", static_cast<int>(acknowledged_count));
    EXPECT_EQ(append({"after"})[0].outcome, AppendOutcome::kStored);
}

TEST_F(QueueProcessTest, AnAppenderThatDiesInsideItsTransactionBlocksNoOther) {
    append({"one"});
    Child child([&] {
        auto env = Environment::open({.folder = paths_.queue, .map_bytes = 16U << 20});
        WriteTxn txn;
        MDB_dbi records = 0;
        const std::array<const char*, 1> names{"records"};
        if (!env.ok() || !(*env)->open_databases(names, {&records, 1}, false).ok() ||
            txn.begin(**env) != 0) {
            ::_exit(1);
        }
        KeyBytes<8> key = seq_key(2);
        MDB_val key_val = to_val(key);
        MDB_val value = to_val(std::string_view("half a batch"));
        if (mdb_put(txn.get(), records, &key_val, &value, MDB_APPEND) != 0) {
            ::_exit(1);
        }
        ::raise(SIGKILL);
    });
    EXPECT_TRUE(WIFSIGNALED(child.wait()));
    EXPECT_EQ(append({"two"})[0].seq.value, 2U);
    EXPECT_THAT(bodies_from(1), testing::ElementsAre("one", "two"));
}

TEST_F(QueueProcessTest, TwoProcessesRacingOnOneKeyStoreItOnce) {
    constexpr int kKeys = 40;
    open({.idempotency_ttl_seconds = 3600});
    const auto race = [&](Queue& queue, int& stored, int& replayed) {
        for (int i = 0; i < kKeys; ++i) {
            const std::string key = "key" + std::to_string(i);
            TestBatch batch({"body"}, {claim(key, "body")});
            queue.append(batch.items(), kNow);
            stored += batch.items()[0].outcome == AppendOutcome::kStored ? 1 : 0;
            replayed += batch.items()[0].outcome == AppendOutcome::kReplayed ? 1 : 0;
        }
    };
    Child child([&] {
        auto own = Queue::open(paths_, {.idempotency_ttl_seconds = 3600});
        int stored = 0;
        int replayed = 0;
        if (own.ok()) {
            race(**own, stored, replayed);
        }
        ::_exit(stored + replayed == kKeys ? stored : 255);
    });
    int stored = 0;
    int replayed = 0;
    race(*queue_, stored, replayed);
    const int status = child.wait();
    ASSERT_TRUE(WIFEXITED(status));
    ASSERT_NE(WEXITSTATUS(status), 255);
    EXPECT_EQ(stored + replayed, kKeys);
    EXPECT_EQ(stored + WEXITSTATUS(status), kKeys);
    EXPECT_THAT(bodies_from(1), testing::SizeIs(kKeys));
}

TEST_F(QueueProcessTest, AReaderThatIsStoppedClosesAdmissionBeforeTheMapIsFull) {
    open({.map_bytes = 8U << 20, .sync = false});
    const std::string body(2000, 'x');
    append({body});
    int ready[2];
    ASSERT_EQ(::pipe(ready), 0);
    Child reader([&] {
        auto env = Environment::open({.folder = paths_.queue, .map_bytes = 8U << 20});
        ReadTxn txn;
        if (!env.ok() || txn.begin(**env) != 0 || ::write(ready[1], "r", 1) != 1) {
            ::_exit(1);
        }
        ::raise(SIGSTOP);
        ::_exit(0);
    });
    char byte = 0;
    ASSERT_EQ(::read(ready[0], &byte, 1), 1);
    // The reader pins deleted pages, so even a queue that is always drained grows.
    std::uint64_t last = 0;
    AppendOutcome outcome = AppendOutcome::kStored;
    for (int i = 0; i < 100'000 && outcome == AppendOutcome::kStored; ++i) {
        const AppendItem item = append({body})[0];
        outcome = item.outcome;
        last = outcome == AppendOutcome::kStored ? item.seq.value : last;
        queue_->control().publish_applied({last});
    }
    EXPECT_EQ(outcome, AppendOutcome::kFull);
    EXPECT_EQ(queue_->closed_reason(), AppendOutcome::kFull);
    const QueueFill fill = *queue_->fill();
    EXPECT_LE(fill.bytes_used, fill.bytes_high_water);
    ASSERT_TRUE(queue_->trim({last}, 1000).ok()) << "the reserve keeps the drain alive";
    reader.kill(SIGKILL);
    EXPECT_TRUE(WIFSIGNALED(reader.wait()));
    for (int tries = 0; tries < 5000 && outcome != AppendOutcome::kStored; ++tries) {
        outcome = append({body})[0].outcome;
        ::usleep(1000);
    }
    EXPECT_EQ(outcome, AppendOutcome::kStored) << "the dead reader's pages come back";
}

TEST_F(QueueProcessTest, ASleepingWorkerIsWokenByAnotherProcess) {
    ControlPage& page = queue_->control();
    const std::uint32_t seen = page.words().wake.load();
    Child child([&] {
        auto own = Queue::open(paths_, {});
        TestBatch batch({"wake up"});
        if (own.ok()) {
            (*own)->append(batch.items(), kNow);
        }
    });
    for (int turns = 0; turns < 100 && page.words().wake.load() == seen; ++turns) {
        page.wait_for_append(seen, 1000);
    }
    EXPECT_NE(page.words().wake.load(), seen);
    EXPECT_EQ(child.wait(), 0);
    EXPECT_THAT(bodies_from(1), testing::ElementsAre("wake up"));
}

TEST_F(QueueProcessTest, BeginDrainLowersTheHintForAppendersInFlight) {
    queue_.reset();
    Child appender([&] { append_and_journal(paths_, acks(0), 0, 1); });
    open({});
    for (int tries = 0; tries < 10'000 && queue_->fill()->last_seq.value < 50; ++tries) {
        ::usleep(1000);
    }
    queue_->control().publish_applied({10});
    ASSERT_TRUE(queue_->begin_drain({5}).ok());
    const std::uint64_t first = queue_->fill()->first_seq.value;
    const std::uint64_t last = queue_->fill()->last_seq.value;
    for (int tries = 0; tries < 10'000 && queue_->fill()->last_seq.value < last + 50; ++tries) {
        ::usleep(1000);
    }
    EXPECT_LE(first, 11U);
    EXPECT_EQ(queue_->fill()->first_seq.value, std::max<std::uint64_t>(first, 6))
        << "nothing behind the lowered hint is deleted any more";
}

TEST_F(QueueProcessTest, AProcessWithoutTheRightLearnsTheOwnerOfTheFile) {
    if (::geteuid() != 0) {
        GTEST_SKIP() << "only root can become another user";
    }
    queue_.reset();
    fs::permissions(paths_.root.parent_path(), fs::perms::all);
    fs::permissions(paths_.root, fs::perms::all);
    fs::permissions(paths_.queue, fs::perms::all);
    fs::permissions(paths_.format, fs::perms::all);
    fs::permissions(paths_.control, fs::perms::all);
    constexpr uid_t kNobody = 65534;
    struct stat info {};
    ASSERT_EQ(::stat((paths_.queue / "data.mdb").c_str(), &info), 0);
    const std::string owner = std::string("user ") + ::getpwuid(info.st_uid)->pw_name;
    Child child([&] {
        auto opened = ::setuid(kNobody) == 0 ? Queue::open(paths_, {}) : Error{};
        const bool right = !opened.ok() && opened.error().code == ErrorCode::kPermission &&
                           opened.error().message.find(owner) != std::string::npos &&
                           opened.error().message.find("data.mdb") != std::string::npos;
        ::_exit(right ? 0 : 1);
    });
    EXPECT_EQ(child.wait(), 0);
}

}  // namespace
}  // namespace sluice::store
