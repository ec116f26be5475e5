// Files of a store when a call of the system fails, each call in turn.
#include <gtest/gtest.h>

#include <cerrno>

#include "lmdb_store/archive/archive.hpp"
#include "lmdb_store/ledger/ledger.hpp"
#include "lmdb_store/queue/bulk_file.hpp"
#include "lmdb_store/queue/queue.hpp"
#include "lmdb_store/registry/registry.hpp"
#include "lmdb_store/store/control_page.hpp"
#include "lmdb_store/store/master_key.hpp"
#include "os/files/file_io.hpp"
#include "unit/lmdb_store/failing_calls.hpp"
#include "unit/lmdb_store/temp_store.hpp"
#include "unit/lmdb_store/whole_sweep.hpp"
#include "unit/whole_form.hpp"

namespace sluice::store {
namespace {

namespace fs = std::filesystem;

std::size_t files_in(const fs::path& folder) {
    return names_in(folder)->size();
}

bool opens(const StorePaths& paths) {
    return Queue::open(paths, {}).ok() && Registry::open(paths, Registry::Mode::kReadWrite).ok() &&
           EmbeddedLedger::open(paths.ledger, EmbeddedLedger::Mode::kReadWrite).ok() &&
           MasterKey::load(paths.master_key).ok();
}

TEST(StoreCallsTest, AStoreThatCouldNotBeMadeLeavesNothingBehind) {
    for (const std::string_view family : {kLmdb, kSystem}) {
        const int other = family == kLmdb ? EIO : ENOSPC;
        for (const int error : whole_or_short(std::vector{EIO, ENOSPC}, std::vector{other})) {
            const TempFolder folder;
            const StorePaths paths(folder.path() / "store");
            const int struck = fail_each([&](int nth) {
                FailingCall call(family, nth, error);
                const Status made = init_store(paths, {});
                call.disarm();
                if (!made.ok()) {
                    EXPECT_TRUE(call.struck());
                    EXPECT_FALSE(made.error().message.empty());
                    EXPECT_FALSE(fs::exists(paths.root)) << call.name();
                    return true;
                }
                EXPECT_TRUE(opens(paths)) << call.name();
                fs::remove_all(paths.root);
                return call.struck();
            });
            EXPECT_GE(struck, 10);
        }
    }
}

TEST(StoreCallsTest, TheFormatIsTheOldOneOrTheNewOne) {
    const TempStore store;
    std::uint32_t before = kAccountsMaxDefault;
    for (const int error : {EIO, ENOSPC, EACCES, EINTR}) {
        const int struck = fail_each([&](int nth) {
            FailingCall call(kSystem, nth, error);
            const Status done = set_max_accounts(store.paths(), before + 1);
            call.disarm();
            const auto now = read_store_format(store.paths());
            EXPECT_TRUE(now.ok()) << call.name();
            EXPECT_TRUE(now->max_accounts == before || now->max_accounts == before + 1);
            EXPECT_TRUE(!done.ok() || now->max_accounts == before + 1) << call.name();
            EXPECT_EQ(files_in(store.paths().root), 9U)
                << "nothing temporary stays: " << call.name();
            before = now->max_accounts;
            return call.struck();
        });
        EXPECT_GE(struck, 4);
    }
}

TEST(StoreCallsTest, ABulkFileIsWrittenOrGone) {
    const TempStore store;
    const std::string body(3U << 20, 'x');
    for (const int error : {EIO, ENOSPC, EACCES}) {
        const int struck = fail_each([&](int nth) {
            const std::size_t before = files_in(store.paths().bulk);
            FailingCall call(kSystem, nth, error);
            auto file = BulkFile::write(store.paths(), body, sha256(body));
            call.disarm();
            EXPECT_EQ(file.ok(), !call.struck()) << call.name();
            EXPECT_EQ(files_in(store.paths().bulk), before + (file.ok() ? 1 : 0)) << call.name();
            if (file.ok()) {
                EXPECT_EQ(*read_bulk(store.paths(), file->ref()), body);
            }
            return call.struck();
        });
        EXPECT_GE(struck, 8);
    }
}

TEST(StoreCallsTest, AnUnreadableBulkFileIsNotReportedAsDamage) {
    const TempStore store;
    auto file = BulkFile::write(store.paths(), "body", sha256("body"));
    ASSERT_TRUE(file.ok());
    for (const auto& [error, code] :
         {std::pair{EIO, ErrorCode::kIo}, std::pair{EACCES, ErrorCode::kPermission}}) {
        EXPECT_GE(fail_each([&, why = error, expected = code](int nth) {
                      FailingCall call(kSystem, nth, why);
                      const auto body = read_bulk(store.paths(), file->ref());
                      call.disarm();
                      EXPECT_EQ(body.ok(), !call.struck()) << call.name();
                      EXPECT_TRUE(body.ok() || body.error().code == expected) << call.name();
                      return call.struck();
                  }),
                  3);
    }
}

TEST(StoreCallsTest, ASweepThatCannotLookRemovesNothing) {
    const TempStore store;
    const auto queue = Queue::open(store.paths(), {});
    ASSERT_TRUE(queue.ok());
    const fs::path orphan = store.paths().bulk / (std::string(32, 'a') + ".bulk");
    write_text(orphan, "orphan");
    make_old(orphan);
    for (const std::string_view family : {kLmdb, kSystem}) {
        EXPECT_GE(fail_each([&](int nth) {
                      FailingCall call(family, nth, EIO);
                      const auto swept = sweep_bulk(store.paths(), **queue, 3600);
                      call.disarm();
                      if (!call.struck()) {
                          EXPECT_EQ(*swept, 1U);
                          EXPECT_EQ(files_in(store.paths().bulk), 0U);
                          write_text(orphan, "again");
                          make_old(orphan);
                          return false;
                      }
                      EXPECT_EQ(files_in(store.paths().bulk), 1U) << call.name();
                      return true;
                  }),
                  2);
    }
}

TEST(StoreCallsTest, AMasterKeyIsReadOrRefusedAndNeverAnother) {
    const TempStore store;
    const auto& path = store.paths().master_key;
    const MasterKey key = *MasterKey::load(path);
    const std::string sealed = key.seal("a secret of a token", "id");
    EXPECT_GE(fail_each([&](int nth) {
                  FailingCall call(kSystem, nth, EIO);
                  const auto loaded = MasterKey::load(path);
                  call.disarm();
                  EXPECT_EQ(loaded.ok(), !call.struck()) << call.name();
                  return call.struck();
              }),
              3);
    for (const bool overwrites : {false, true}) {
        EXPECT_GE(fail_each([&](int nth) {
                      const MasterKey other = MasterKey::random();
                      FailingCall call(kSystem, nth, EIO);
                      const Status saved = overwrites ? other.overwrite(path) : other.save(path);
                      call.disarm();
                      EXPECT_TRUE(saved.ok() || call.struck());
                      EXPECT_TRUE(key.save(path).ok()) << call.name();
                      EXPECT_EQ(*MasterKey::load(path)->open(sealed, "id"), "a secret of a token");
                      return call.struck();
                  }),
                  5);
    }
}

/// OpenSSL fails without memory; the error must not say that the key is wrong.
TEST(StoreCallsTest, ACipherThatFailsIsNotAWrongKey) {
    const MasterKey key = MasterKey::random();
    const std::string sealed = key.seal("a secret", "id");
    EXPECT_GE(fail_each([&](int nth) {
                  FailingCall call("ssl_", nth, 0);
                  bool thrown = false;
                  try {
                      EXPECT_EQ(*key.open(sealed, "id"), "a secret");
                  } catch (const std::bad_alloc&) {
                      thrown = true;
                  }
                  EXPECT_EQ(thrown, call.struck()) << call.name();
                  return call.struck();
              }),
              5);
    EXPECT_GE(fail_each([&](int nth) {
                  FailingCall call("ssl_", nth, 0);
                  std::string made;
                  try {
                      made = key.seal("a secret", "id");
                  } catch (const std::bad_alloc&) {
                  }
                  EXPECT_EQ(made.empty(), call.struck()) << call.name();
                  return call.struck();
              }),
              6);
    EXPECT_EQ(key.open(sealed, "another").error().code, ErrorCode::kCorrupt);
}

TEST(StoreCallsTest, AControlPageIsMappedOrRefused) {
    const TempStore store;
    for (const auto& [error, word] : {std::pair{EIO, "control"}, std::pair{ENOENT, "missing"}}) {
        FailingCall call("sys_open", 0, error);
        const auto opened = ControlFile::open(store.paths());
        ASSERT_FALSE(opened.ok());
        EXPECT_NE(opened.error().message.find(word), std::string::npos) << opened.error().message;
    }
    EXPECT_EQ(fail_each([&](int nth) {
                  FailingCall call(kSystem, nth, ENOMEM);
                  const auto opened = ControlFile::open(store.paths());
                  EXPECT_EQ(opened.ok(), !call.struck()) << call.name();
                  return call.struck();
              }),
              4);
}

}  // namespace
}  // namespace sluice::store
