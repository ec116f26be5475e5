// The queue when the disk fails: the n-th write or sync of a commit, for every n.
//
// liblmdb is a shared library, so the calls that it makes come here first.
#include <dlfcn.h>
#include <fcntl.h>
#include <gmock/gmock.h>
#include <sys/uio.h>
#include <unistd.h>

#include <cerrno>
#include <map>

#include "unit/lmdb_store/queue/fixture.hpp"

namespace {

enum class Call { kNone, kWrite, kPreallocation, kSync };

struct Fault {
    Call call = Call::kNone;
    int error = 0;       ///< 0 means a short write.
    int countdown = -1;  ///< The fault is at 0.
    int injected = 0;
};
Fault fault;

bool is_struck(Call call) {
    if (fault.call != call || fault.countdown-- != 0) {
        return false;
    }
    ++fault.injected;
    return true;
}

template <class Function>
Function* real(const char* name) {
    return reinterpret_cast<Function*>(::dlsym(RTLD_NEXT, name));
}

/// LMDB never bypasses the page cache; the zeros behind the file's end do.
Call kind_of_write(int fd) {
    return (::fcntl(fd, F_GETFL) & O_DIRECT) != 0 ? Call::kPreallocation : Call::kWrite;
}

template <class Write>
ssize_t faulty_write(int fd, std::size_t bytes, Write&& write) {
    if (!is_struck(kind_of_write(fd))) {
        return write(bytes);
    }
    if (fault.error == 0) {
        return write(bytes / 2);
    }
    errno = fault.error;
    return -1;
}

}  // namespace

extern "C" {
[[gnu::visibility("default")]] ssize_t pwrite(int fd, const void* from, std::size_t bytes,
                                              off_t at) {
    static auto* const next = real<ssize_t(int, const void*, std::size_t, off_t)>("pwrite");
    return faulty_write(fd, bytes, [&](std::size_t count) { return next(fd, from, count, at); });
}
[[gnu::visibility("default")]] ssize_t pwrite64(int fd, const void* from, std::size_t bytes,
                                                off64_t at) {
    static auto* const next = real<ssize_t(int, const void*, std::size_t, off64_t)>("pwrite64");
    return faulty_write(fd, bytes, [&](std::size_t count) { return next(fd, from, count, at); });
}
[[gnu::visibility("default")]] ssize_t writev(int fd, const iovec* parts, int count) {
    static auto* const next = real<ssize_t(int, const iovec*, int)>("writev");
    return faulty_write(fd, 1, [&](std::size_t whole) {
        return next(fd, parts, whole == 1 ? count : (count + 1) / 2);
    });
}
[[gnu::visibility("default")]] int fdatasync(int fd) {
    static auto* const next = real<int(int)>("fdatasync");
    if (is_struck(Call::kSync)) {
        errno = fault.error;
        return -1;
    }
    return next(fd);
}
}

namespace sluice::store {
namespace {

class QueueFaultTest : public QueueTest {
protected:
    ~QueueFaultTest() override { fault = {}; }

    struct Run {
        bool struck = false;
        AppendOutcome outcome = AppendOutcome::kPending;  ///< For the batch that met the fault.
        std::optional<AppendOutcome> closed;
        bool latched = false;                           ///< In all processes.
        AppendOutcome after = AppendOutcome::kPending;  ///< For the next batch.
        /// Once a person ended the latch that all processes share.
        std::optional<AppendOutcome> closed_unlatched;
        bool in_place_unlatched = true;  ///< False asks for the queue to be opened again.
    };

    /// Appends batches, with the fault at the n-th call. Then compares the acknowledged records
    /// with those that a process finds after reopening the queue.
    Run run(Call call, int error, int nth) {
        Run result;
        std::map<std::uint64_t, std::string> acknowledged;
        const auto append_three = [&] {
            const std::string body = "body " + std::to_string(++bodies_);
            const auto items = append({body, body + std::string(2500, 'x'), body});
            for (const AppendItem& item : items) {
                EXPECT_EQ(item.outcome, items[0].outcome) << "a batch stands or falls as one";
            }
            if (items[0].outcome == AppendOutcome::kStored) {
                acknowledged[items[0].seq.value] = body;
                queue_->control().publish_applied({items[0].seq.value / 2});
            }
            return items[0].outcome;
        };
        open({});
        append_three();
        fault = {call, error, nth, 0};
        for (int batch = 0; batch < 3 && fault.injected == 0; ++batch) {
            result.outcome = append_three();
        }
        result.struck = fault.injected > 0;
        fault.call = Call::kNone;
        result.closed = queue_->closed_reason();
        result.latched = queue_->latched().has_value();
        result.after = append_three();
        queue_->control().clear_latch();
        result.closed_unlatched = queue_->closed_reason();
        result.in_place_unlatched = queue_->still_in_place();
        open({});
        const auto records = *queue_->read({1}, 100'000, 1U << 30);
        std::uint64_t expected = queue_->fill()->first_seq.value;
        std::map<std::uint64_t, std::string> found;
        for (const QueuedRecord& record : records) {
            EXPECT_EQ(record.seq.value, expected++) << "numbers are dense";
            found[record.seq.value] = decode_record(record.bytes)->body;
        }
        for (const auto& [seq, body] : acknowledged) {
            if (seq >= queue_->fill()->first_seq.value) {
                EXPECT_EQ(found[seq], body) << "what was acknowledged is there";
            }
        }
        EXPECT_EQ(append_three(), AppendOutcome::kStored) << "a restart serves again";
        return result;
    }

    /// run() with the fault at one call after the other. How often it struck.
    template <class Look>
    int strike_each(Call call, int error, Look&& look) {
        for (int nth = 0; nth < 1000; ++nth) {
            const Run result = run(call, error, nth);
            if (!result.struck) {
                return nth;
            }
            SCOPED_TRACE(nth);
            look(result);
        }
        return 0;
    }

    int bodies_ = 0;
};

TEST_F(QueueFaultTest, AnIoErrorIsInDoubtAndLatchesAdmissionUntilARestart) {
    for (const Call call : {Call::kWrite, Call::kSync}) {
        const int struck = strike_each(call, EIO, [](const Run& result) {
            EXPECT_EQ(result.outcome, AppendOutcome::kInDoubt);
            EXPECT_EQ(result.closed, AppendOutcome::kInDoubt);
            EXPECT_EQ(result.after, AppendOutcome::kUnavailable);
            EXPECT_TRUE(result.latched);
        });
        EXPECT_GE(struck, 3) << "no fault was injected";
    }
}

/// LMDB in this process does not know what its last page is on the disk; it refuses everything.
TEST_F(QueueFaultTest, AProcessWithAFailedMetaPageOpensTheQueueAgainAfterUnlatch) {
    int closed = 0;
    const int struck = strike_each(Call::kWrite, EIO, [&](const Run& result) {
        const bool failed = result.closed_unlatched == AppendOutcome::kInDoubt;
        closed += failed ? 1 : 0;
        EXPECT_EQ(result.in_place_unlatched, !failed);
    });
    EXPECT_GE(closed, 1);
    EXPECT_LT(closed, struck) << "after a failed write of data it goes on";
}

TEST_F(QueueFaultTest, AShortWriteOnADiskWithRoomIsAnIoError) {
    const int struck = strike_each(Call::kWrite, 0, [](const Run& result) {
        EXPECT_EQ(result.outcome, AppendOutcome::kInDoubt);
    });
    EXPECT_GE(struck, 3);
}

TEST_F(QueueFaultTest, L10NoSpaceIsReportedAndNeverLatches) {
    int resumed = 0;
    int reopened = 0;
    const int struck = strike_each(Call::kWrite, ENOSPC, [&](const Run& result) {
        EXPECT_FALSE(result.latched);
        EXPECT_EQ(result.closed, AppendOutcome::kNoSpace);
        if (result.in_place_unlatched) {
            EXPECT_EQ(result.outcome, AppendOutcome::kNoSpace);
            EXPECT_EQ(result.after, AppendOutcome::kStored);
            ++resumed;
        } else {  // LMDB gives up at its meta page, and the process opens the queue again
            EXPECT_EQ(result.outcome, AppendOutcome::kInDoubt);
            EXPECT_EQ(result.after, AppendOutcome::kUnavailable);
            ++reopened;
        }
    });
    EXPECT_EQ(struck, resumed + reopened);
    EXPECT_GE(resumed, 2);
    EXPECT_GE(reopened, 1);
}

TEST_F(QueueFaultTest, L10AFailedTrimLatchesExceptForALackOfRoom) {
    for (const int error : {EIO, ENOSPC}) {
        int failed = 0;
        int reopened = 0;
        for (int nth = 0;; ++nth) {
            open({});
            ASSERT_EQ(append({"a", "b", "c"})[0].outcome, AppendOutcome::kStored);
            const SequenceNumber last = queue_->fill()->last_seq;
            fault = {Call::kWrite, error, nth, 0};
            const Result<std::uint64_t> trimmed = queue_->trim(last, 100);
            const bool struck = fault.injected > 0;
            fault = {};
            EXPECT_EQ(trimmed.ok(), !struck);
            EXPECT_EQ(queue_->latched().has_value(), struck && error == EIO);
            queue_->control().clear_latch();
            failed += struck ? 1 : 0;
            reopened += queue_->still_in_place() ? 0 : 1;
            open({});
            EXPECT_EQ(queue_->fill()->rows, struck ? 3U : 0U);
            ASSERT_TRUE(queue_->trim(last, 100).ok());
            if (!struck) {
                break;
            }
        }
        EXPECT_GE(failed, 2) << error;
        EXPECT_EQ(reopened, 1) << "the meta page, " << error;
    }
}

TEST_F(QueueFaultTest, AnInterruptedWriteIsContinued) {
    const Run result = run(Call::kWrite, EINTR, 0);
    EXPECT_TRUE(result.struck);
    EXPECT_EQ(result.outcome, AppendOutcome::kStored);
}

TEST_F(QueueFaultTest, WritingZerosAheadMayFailInAnyWay) {
    for (const int error : {EIO, ENOSPC, EINVAL, EINTR, 0}) {
        open({});
        fault = {Call::kPreallocation, error, 0, 0};
        for (int batch = 0; batch < 100 && fault.injected == 0; ++batch) {
            EXPECT_EQ(append({std::string(100'000, 'x')})[0].outcome, AppendOutcome::kStored);
        }
        if (fault.injected == 0) {
            GTEST_SKIP() << "nothing is written ahead on this file system";
        }
        EXPECT_EQ(queue_->closed_reason(), std::nullopt) << error;
        EXPECT_EQ(append({"next"})[0].outcome, AppendOutcome::kStored) << error;
        EXPECT_EQ(bodies_from(queue_->fill()->last_seq.value), std::vector<std::string>{"next"});
    }
}

TEST_F(QueueFaultTest, AnInterruptedSyncIsNotStoredAndTheNextBatchIs) {
    const Run result = run(Call::kSync, EINTR, 0);
    EXPECT_TRUE(result.struck);
    EXPECT_EQ(result.outcome, AppendOutcome::kUnavailable);
    EXPECT_EQ(result.closed, std::nullopt);
    EXPECT_EQ(result.after, AppendOutcome::kStored);
}

TEST_F(QueueFaultTest, ReplaysAndConflictsOfAFailedBatchFailWithIt) {
    open({.idempotency_ttl_seconds = 60});
    append({"old"}, {claim("old", "old")});
    fault = {Call::kSync, EIO, 0, 0};
    const auto items = append({"a", "a", "b", "old"}, {claim("k", "a"), claim("k", "a"),
                                                       claim("k", "b"), claim("old", "old")});
    ASSERT_EQ(fault.injected, 1);
    EXPECT_EQ(items[0].outcome, AppendOutcome::kInDoubt);
    EXPECT_EQ(items[1].outcome, AppendOutcome::kInDoubt) << "it waited for that commit";
    EXPECT_EQ(items[2].outcome, AppendOutcome::kInDoubt) << "there is nothing to conflict with";
    EXPECT_EQ(items[3].outcome, AppendOutcome::kReplayed) << "stored long before";
    EXPECT_EQ(append({"old"}, {claim("old", "old")})[0].outcome, AppendOutcome::kReplayed)
        << "also while admission is latched";
    EXPECT_EQ(append({"new"})[0].outcome, AppendOutcome::kUnavailable);
}

}  // namespace
}  // namespace sluice::store
