// The embedded ledger when a call to LMDB fails, each call in turn: LedgerFailure, never half a
// transaction, and the next one succeeds.
#include <gtest/gtest.h>

#include <cerrno>
#include <functional>

#include "lmdb_store/environment/environment.hpp"
#include "lmdb_store/ledger/ledger.hpp"
#include "unit/ledger_digest.hpp"
#include "unit/lmdb_store/failing_calls.hpp"
#include "unit/lmdb_store/ledger/scene.hpp"
#include "unit/lmdb_store/temp_store.hpp"

namespace sluice::store {
namespace {

constexpr std::uint64_t kMapBytes = 1U << 24;

class LedgerCallsTest : public testing::Test, protected LedgerScene {
protected:
    LedgerCallsTest() {
        const Status made = EmbeddedLedger::create(folder_.path());
        EXPECT_TRUE(made.ok()) << made.error().message;
        ledger_ = open();
    }
    std::unique_ptr<EmbeddedLedger> open() {
        auto opened =
            EmbeddedLedger::open(folder_.path(), EmbeddedLedger::Mode::kReadWrite, kMapBytes);
        EXPECT_TRUE(opened.ok()) << opened.error().message;
        return opened.ok() ? std::move(*opened) : nullptr;
    }
    /// Returns the error that `action` threw, if any.
    static std::optional<Error> failure_of(const std::function<void()>& action) {
        try {
            action();
        } catch (const LedgerFailure& failure) {
            EXPECT_FALSE(failure.error().message.empty());
            return failure.error();
        }
        return std::nullopt;
    }
    Digest256 digest() { return ledger_digest(*ledger_->rows(kNode)); }

    TempFolder folder_;
    std::unique_ptr<EmbeddedLedger> ledger_;
};

TEST_F(LedgerCallsTest, ATransactionIsWholeOrNothing) {
    int number = 0;
    for (const int error : {EIO, ENOSPC, MDB_MAP_FULL, MDB_CORRUPTED}) {
        ++number;
        const auto write = [&](const std::function<void(LedgerTxn&)>& rows) {
            EXPECT_GE(fail_each([&](int nth) {
                          const Digest256 before = digest();
                          FailingCall call(kLmdb, nth, error);
                          const auto failure = failure_of([&] {
                              auto txn = ledger_->begin(kNode);
                              rows(*txn);
                              txn->commit();
                          });
                          call.disarm();
                          // Or the map would double each time; or there is none any more.
                          if (error == MDB_MAP_FULL || call.name() == "mdb_env_set_mapsize") {
                              ledger_.reset();
                              ledger_ = open();
                          }
                          EXPECT_EQ(failure.has_value(), call.struck())
                              << call.name() << (failure ? failure->message : "");
                          EXPECT_EQ(digest() == before, call.struck()) << call.name();
                          return call.struck();
                      }),
                      8);
        };
        write([&](LedgerTxn& txn) { write_rows(txn, number); });
        write([&](LedgerTxn& txn) { delete_rows(txn, number); });
    }
}

TEST_F(LedgerCallsTest, AReadIsRightOrThrows) {
    {
        auto txn = ledger_->begin(kNode);
        write_rows(*txn, 1);
        txn->commit();
    }
    const int rows = read_rows(*ledger_->snapshot(kNode), 1);
    EXPECT_GE(rows, 30);
    EXPECT_GE(fail_each([&](int nth) {
                  FailingCall call(kLmdb, nth, EIO);
                  int found = 0;
                  const auto failure =
                      failure_of([&] { found = read_rows(*ledger_->snapshot(kNode), 1); });
                  EXPECT_TRUE(failure || found == rows) << call.name();
                  EXPECT_EQ(failure.has_value(), call.struck()) << call.name();
                  return call.struck();
              }),
              40);
}

TEST_F(LedgerCallsTest, ADumpOrACheckIsCompleteOrThrows) {
    {
        auto txn = ledger_->begin(kNode);
        write_rows(*txn, 1);
        txn->commit();
    }
    const Digest256 whole = digest();
    EXPECT_GE(fail_each([&](int nth) {
                  FailingCall call(kLmdb, nth, EIO);
                  const auto failure = failure_of([&] { EXPECT_EQ(digest(), whole); });
                  EXPECT_EQ(failure.has_value(), call.struck()) << call.name();
                  return call.struck();
              }),
              20);
    const auto problems = ledger_->verify(kNode, 100);
    EXPECT_GE(fail_each([&](int nth) {
                  FailingCall call(kLmdb, nth, EIO);
                  std::vector<std::string> found;
                  const auto failure = failure_of([&] { found = ledger_->verify(kNode, 100); });
                  EXPECT_TRUE(failure || call.struck() == (found != problems)) << call.name();
                  return call.struck();
              }),
              20);
}

TEST_F(LedgerCallsTest, ALedgerThatCouldNotBeOpenedOrMadeCanBeLater) {
    const Digest256 before = digest();
    ledger_.reset();
    for (const std::string_view family : {kLmdb, kSystem}) {
        EXPECT_GE(fail_each([&](int nth) {
                      FailingCall call(family, nth, EIO);
                      const auto opened =
                          EmbeddedLedger::open(folder_.path(), EmbeddedLedger::Mode::kReadOnly);
                      EXPECT_TRUE(opened.ok() || call.struck());
                      return call.struck();
                  }),
                  5);
        EXPECT_GE(fail_each([&](int nth) {
                      const TempFolder second;
                      FailingCall call(family, nth, EIO);
                      const Status made = EmbeddedLedger::create(second.path());
                      call.disarm();
                      EXPECT_EQ(made.ok(), !call.struck()) << call.name();
                      return call.struck();
                  }),
                  4);
    }
    ledger_ = open();
    EXPECT_EQ(digest(), before);
}

TEST_F(LedgerCallsTest, AnUnfinishedLedgerIsRefusedUntilItIsDurable) {
    EXPECT_EQ(fail_each([&](int nth) {
                  const TempFolder second;
                  EXPECT_TRUE(EmbeddedLedger::create(second.path(), "/archive").ok());
                  auto unfinished =
                      EmbeddedLedger::open(second.path(), EmbeddedLedger::Mode::kUnfinished);
                  EXPECT_TRUE(unfinished.ok());
                  FailingCall call(kLmdb, nth, EIO);
                  const auto failure = failure_of([&] { (*unfinished)->finish(); });
                  call.disarm();
                  EXPECT_EQ(failure.has_value(), call.struck()) << call.name();
                  unfinished->reset();
                  const auto opened =
                      EmbeddedLedger::open(second.path(), EmbeddedLedger::Mode::kReadOnly);
                  EXPECT_EQ(opened.ok(), !call.struck()) << call.name();
                  EXPECT_TRUE(opened.ok() || opened.error().message.ends_with(
                                                 "is an unfinished rebuild of /archive: remove the "
                                                 "folder, and run the same `sluice ledger rebuild` "
                                                 "again"));
                  return call.struck();
              }),
              6);
}

}  // namespace
}  // namespace sluice::store
