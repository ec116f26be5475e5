// The archive while each system call fails in turn: durable inputs can be read, in order and
// without a gap, and the writer continues.
#include <gtest/gtest.h>

#include <cerrno>

#include "lmdb_store/archive/archive.hpp"
#include "os/files/file_io.hpp"
#include "unit/lmdb_store/failing_calls.hpp"
#include "unit/lmdb_store/temp_store.hpp"

namespace sluice::store {
namespace {

namespace fs = std::filesystem;

constexpr const char* kQueueId = "11111111-2222-3333-4444-555555555555";
constexpr Timestamp kNextDay{1'700'000'000 + 90'000, 0};

std::string record_of(std::uint64_t seq) {
    return "record " + std::to_string(seq) + std::string(400, static_cast<char>('a' + seq % 26));
}

class ArchiveCallsTest : public testing::Test {
protected:
    std::unique_ptr<ArchiveWriter> writer() {
        auto opened = ArchiveWriter::open(folder_, kQueueId, options_);
        EXPECT_TRUE(opened.ok()) << opened.error().message;
        return std::move(*opened);
    }
    /// As the worker does it: adds what is behind last_seq(), then flushes.
    static Status write_upto(ArchiveWriter& to, std::uint64_t last, Timestamp now = kNow) {
        for (std::uint64_t seq = to.last_seq().value + 1; seq <= last; ++seq) {
            const std::string record = record_of(seq);
            if (Status added = to.add({{seq}, record, ArchivedBody::kInRecord, {}, {}, {}}, now);
                !added) {
                return added;
            }
        }
        return to.flush();
    }
    /// How many inputs can be read, from 1 on and in order.
    std::uint64_t readable() {
        auto reader = ArchiveReader::open(folder_);
        EXPECT_TRUE(reader.ok());
        for (std::uint64_t seq = 1;; ++seq) {
            const auto place = (*reader)->next();
            EXPECT_TRUE(place.ok()) << place.error().message;
            if (!place.ok() || !*place) {
                return seq - 1;
            }
            EXPECT_EQ((*place)->input.seq.value, seq);
            EXPECT_EQ((*place)->input.record, record_of(seq));
        }
    }
    void clear() {
        fs::remove_all(folder_);
        fs::create_directory(folder_);
    }

    TempFolder temp_;
    fs::path folder_ = temp_.path() / "archive";
    ArchiveOptions options_{.segment_bytes_max = 900, .block_bytes = 1000};
};

TEST_F(ArchiveCallsTest, DurableInputsStayReadableAndTheWriterContinues) {
    for (const int error : {EIO, ENOSPC, EDQUOT, EACCES, EMFILE, EINTR}) {
        const int struck = fail_each([&](int nth) {
            clear();
            FailingCall call(kSystem, nth, error);
            auto opened = ArchiveWriter::open(folder_, kQueueId, options_);
            std::uint64_t durable = 0;
            bool failed = !opened.ok();
            for (std::uint64_t upto = 4; opened.ok() && upto <= 12; upto += 4) {
                const Status written = write_upto(**opened, upto);
                failed = failed || !written.ok();
                EXPECT_TRUE(written.ok() || !written.error().message.empty());
                EXPECT_TRUE(!written.ok() || (*opened)->durable_seq().value == upto);
                durable = (*opened)->durable_seq().value;
            }
            call.disarm();
            EXPECT_TRUE(!failed || call.struck());
            EXPECT_GE(readable(), durable) << call.name();
            if (opened.ok()) {
                EXPECT_TRUE(write_upto(**opened, 13).ok()) << call.name();
                EXPECT_EQ(readable(), 13U) << call.name();
            }
            EXPECT_TRUE(write_upto(*writer(), 14).ok()) << call.name();
            EXPECT_EQ(readable(), 14U) << call.name();
            return call.struck();
        });
        EXPECT_GE(struck, 15) << error;
    }
}

TEST_F(ArchiveCallsTest, AReaderThatFailsSaysSoAndLosesNothing) {
    clear();
    ASSERT_TRUE(write_upto(*writer(), 12).ok());
    for (const int error : {EIO, EACCES, ENOENT}) {
        EXPECT_GE(fail_each([&](int nth) {
                      FailingCall call(kSystem, nth, error);
                      bool failed = false;
                      auto reader = ArchiveReader::open(folder_);
                      if (reader.ok()) {
                          for (;;) {
                              const auto place = (*reader)->next();
                              failed = !place.ok();
                              if (!place.ok() || !*place) {
                                  break;
                              }
                          }
                          const auto found = (*reader)->find(kQueueId, {7});
                          EXPECT_TRUE(!found.ok() || (*found)->input.record == record_of(7));
                          failed = failed || !found.ok();
                      }
                      EXPECT_EQ(failed || !reader.ok(), call.struck()) << call.name();
                      return call.struck();
                  }),
                  10);
    }
    EXPECT_EQ(readable(), 12U);
}

TEST_F(ArchiveCallsTest, ADiskThatStaysBrokenTakesNothingThatWasDurable) {
    const int struck = fail_each([&](int nth) {
        clear();
        auto to = writer();
        EXPECT_TRUE(write_upto(*to, 4).ok());
        FailingCall call(kSystem, nth, EIO, kForGood);
        for (std::uint64_t upto = 5; upto <= 12; ++upto) {
            const Status written = write_upto(*to, upto);
            EXPECT_EQ(written.ok(), !call.struck()) << call.name();
        }
        call.disarm();
        const std::uint64_t durable = to->durable_seq().value;
        EXPECT_TRUE(write_upto(*to, 12).ok()) << call.name() << ": it is mended";
        EXPECT_EQ(to->durable_seq().value, 12U);
        EXPECT_EQ(readable(), 12U) << call.name() << ", durable was " << durable;
        return call.struck();
    });
    EXPECT_GE(struck, 20);
}

TEST_F(ArchiveCallsTest, FilesOfAnInterruptedWriterAreRemoved) {
    clear();
    ASSERT_TRUE(write_upto(*writer(), 4).ok());
    // As replace_file() does now, and as earlier releases did.
    const fs::path left = folder_ / "000000000009.sla.new.4711";
    const fs::path before = folder_ / "000000000008.sla.new";
    const fs::path order = folder_ / (std::string("order.") + kQueueId + ".new.4711");
    const fs::path kept = folder_ / (std::string("order.") + kQueueId);
    for (const fs::path& path : {left, before, order, kept}) {
        write_text(path, "half of it");
    }
    {
        const FailingCall call("sys_unlink", 0, EACCES);
        const auto refused = ArchiveWriter::open(folder_, kQueueId, options_);
        ASSERT_FALSE(refused.ok());
        EXPECT_EQ(refused.error().code, ErrorCode::kPermission);
    }
    {
        const FailingCall call("sys_unlink", 0, ENOENT);  // another removed it
        EXPECT_EQ(writer()->last_seq().value, 4U);
    }
    EXPECT_EQ(writer()->last_seq().value, 4U);
    EXPECT_FALSE(fs::exists(left) || fs::exists(before) || fs::exists(order));
    EXPECT_TRUE(fs::exists(kept));
}

TEST_F(ArchiveCallsTest, AWriterThatCannotReadTheArchiveDoesNotBegin) {
    clear();
    ASSERT_TRUE(write_upto(*writer(), 12).ok());
    EXPECT_GE(fail_each([&](int nth) {
                  FailingCall call(kSystem, nth, EIO);
                  const auto opened = ArchiveWriter::open(folder_, kQueueId, options_);
                  call.disarm();
                  EXPECT_EQ(opened.ok(), !call.struck()) << call.name();
                  return call.struck();
              }),
              5);
    // Nor where the newest segment is another queue's.
    const auto other = ArchiveWriter::open(folder_, std::string(36, 'f'), options_);
    ASSERT_TRUE(other.ok());
    ASSERT_TRUE(write_upto(**other, 2).ok());
    EXPECT_GE(fail_each([&](int nth) {
                  FailingCall call(kSystem, nth, EIO);
                  const auto opened = ArchiveWriter::open(folder_, kQueueId, options_);
                  call.disarm();
                  EXPECT_EQ(opened.ok(), !call.struck()) << call.name();
                  EXPECT_TRUE(!opened.ok() || (*opened)->durable_seq().value == 12);
                  return call.struck();
              }),
              8);
}

TEST_F(ArchiveCallsTest, AnEditIsMadeInAWholeSegmentOrNot) {
    for (const int error : {EIO, ENOSPC}) {
        EXPECT_GE(fail_each([&](int nth) {
                      clear();
                      EXPECT_TRUE(write_upto(*writer(), 12).ok());
                      std::string replaced;
                      FailingCall call(kSystem, nth, error);
                      const auto edited = edit_archive(
                          folder_,
                          [&](std::string_view, const ArchivedInput& input) {
                              replaced = record_of(input.seq.value);
                              std::optional<ArchivedInput> same = input;
                              same->record = replaced;
                              return same;
                          },
                          options_);
                      call.disarm();
                      EXPECT_EQ(edited.ok(), !call.struck()) << call.name();
                      EXPECT_TRUE(!edited.ok() || *edited == 12);
                      EXPECT_EQ(readable(), 12U) << call.name();
                      return call.struck();
                  }),
                  15);
    }
}

TEST_F(ArchiveCallsTest, RetentionThatFailsLeavesASoundArchive) {
    options_.keep_days = 1;
    EXPECT_GE(
        fail_each([&](int nth) {
            clear();
            auto to = writer();
            EXPECT_TRUE(write_upto(*to, 8, kNow).ok());
            EXPECT_TRUE(write_upto(*to, 9, kNextDay).ok());
            const std::size_t before = names_in(folder_)->size();
            FailingCall call(kSystem, nth, EIO);
            const auto removed = to->apply_retention({kNextDay.seconds + 86'400, 0});
            call.disarm();
            EXPECT_EQ(removed.ok(), !call.struck()) << call.name();
            const std::size_t after = names_in(folder_)->size();
            EXPECT_TRUE(removed.ok() ? after == 1 : after == before || call.name() != "sys_pread");
            EXPECT_TRUE(write_upto(*to, 10, kNextDay).ok()) << call.name();
            return call.struck();
        }),
        5);
}

}  // namespace
}  // namespace sluice::store
