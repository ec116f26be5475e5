// The registry when a call below it fails, each call in turn: a change is made as a whole or not at
// all, the caller gets an error, and the next change succeeds. A change that was stored, but not
// published to nginx, is an error that says so, and is published when the registry is opened again.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cerrno>
#include <functional>
#include <sstream>

#include "core/intake/registry_view.hpp"
#include "lmdb_store/environment/environment.hpp"
#include "lmdb_store/environment/store_failure.hpp"
#include "lmdb_store/registry/exchange.hpp"
#include "lmdb_store/registry/published.hpp"
#include "lmdb_store/registry/reader.hpp"
#include "lmdb_store/registry/registry.hpp"
#include "lmdb_store/registry/tables.hpp"
#include "unit/lmdb_store/failing_calls.hpp"
#include "unit/lmdb_store/temp_store.hpp"

namespace sluice::store {
namespace {

std::unique_ptr<Registry> open_registry(const StorePaths& paths) {
    auto opened = Registry::open(paths, Registry::Mode::kReadWrite);
    EXPECT_TRUE(opened.ok()) << opened.error().message;
    return std::move(*opened);
}

bool is_stored_only(const Status& status) {
    return !status.ok() && status.error().message.find("the change is stored") != std::string::npos;
}

/// Everything that a registry holds, as text.
std::string picture(Registry& registry) {
    std::ostringstream text;
    const auto accounts = registry.accounts();
    const auto shops = registry.shops(std::nullopt);
    const auto tokens = registry.tokens(std::nullopt);
    EXPECT_TRUE(accounts.ok() && shops.ok() && tokens.ok());
    for (const RegisteredAccount& row : *accounts) {
        text << row.account_id.str() << row.number.value << row.suspended
             << (row.rate_limit ? row.rate_limit->requests : 0) << '\n';
    }
    for (const RegisteredShop& row : *shops) {
        text << row.shop_id.str() << row.number.value << row.suspended << '\n';
    }
    for (const TokenRow& row : *tokens) {
        text << row.token_id.str() << row.revoked_at.has_value() << '\n';
    }
    return text.str();
}

class RegistryCallsTest : public testing::Test {
protected:
    void SetUp() override {
        registry_ = open_registry(store_.paths());
        key_ = *MasterKey::load(store_.paths().master_key);
        ASSERT_TRUE(registry_->create_account(acme_, std::nullopt, kNow).ok());
        ASSERT_TRUE(registry_->create_shop(shop_, acme_, kNow).ok());
        token_ = registry_->create_token(request(), key_, kNow)->token_id;
    }

    TokenRequest request() const { return {acme_, kWriteOrders, {}, {}}; }

    /// `change` must fail without a trace when any of its calls does, and succeed in the end. Its
    /// last call is that of the publication: by then the change is stored.
    void expect_all_or_nothing(const char* what, int error, const std::function<Status()>& change) {
        const int struck = fail_each([&](int nth) {
            const std::string before = picture(*registry_);
            FailingCall call(kLmdb, nth, error);
            const Status done = change();
            call.disarm();
            if (!call.struck()) {
                EXPECT_TRUE(done.ok()) << what << ": " << done.error().message;
                EXPECT_NE(picture(*registry_), before) << what;
                return false;
            }
            EXPECT_FALSE(done.ok()) << what << " did not see that " << call.name() << " failed";
            EXPECT_FALSE(done.ok() || done.error().message.empty()) << what;
            EXPECT_EQ(picture(*registry_) == before, !is_stored_only(done))
                << what << ": " << call.name();
            if (is_stored_only(done)) {
                EXPECT_THAT(done.error().message, testing::HasSubstr("sluice registry publish"));
                expect_published_by_opening();
            }
            return !is_stored_only(done);
        });
        EXPECT_GE(struck, 3) << what << ": no fault was injected";
    }

    /// Opens the registry again, and compares it with the copy of nginx.
    void expect_published_by_opening() {
        const StorePaths paths = paths_;
        registry_.reset();
        const std::uint64_t before = PublishedGeneration::open(paths)->current();
        registry_ = open_registry(paths);
        const std::uint64_t now = PublishedGeneration::open(paths)->current();
        EXPECT_EQ(now, before + 1);
        const auto copy = RegistryTables::open_published(paths, now);
        ASSERT_TRUE(copy.ok()) << copy.error().message;
        const auto data = RegistryTables::open(paths);
        EXPECT_EQ(copy->environment->info().me_last_txnid, data->environment->info().me_last_txnid);
    }

    const AccountId acme_{"acme"};
    const ShopId shop_{"shop-1"};
    TempStore store_;
    StorePaths paths_ = store_.paths();
    std::unique_ptr<Registry> registry_;
    MasterKey key_;
    TokenId token_;
};

TEST_F(RegistryCallsTest, AChangeIsMadeAsAWholeOrNotAtAll) {
    int round = 0;
    for (const int error : {EIO, ENOSPC, ENOMEM, MDB_MAP_FULL, MDB_CORRUPTED}) {
        const std::string name = "n" + std::to_string(++round);
        const bool on = round % 2 == 1;
        const RateLimit limit{static_cast<std::uint32_t>(round), 60};
        expect_all_or_nothing("create account", error, [&] {
            return registry_->create_account(AccountId(name), std::nullopt, kNow);
        });
        expect_all_or_nothing("rate limit", error,
                              [&] { return registry_->set_rate_limit(acme_, limit); });
        expect_all_or_nothing("suspend account", error,
                              [&] { return registry_->suspend_account(acme_, on); });
        expect_all_or_nothing("create shop", error,
                              [&] { return registry_->create_shop(ShopId(name), acme_, kNow); });
        expect_all_or_nothing("suspend shop", error,
                              [&] { return registry_->suspend_shop(shop_, on); });
        expect_all_or_nothing("create token", error, [&]() -> Status {
            const auto made = registry_->create_token(request(), key_, kNow);
            token_ = made.ok() ? made->token_id : token_;
            return made.ok() ? made->published : Status(made.error());
        });
        expect_all_or_nothing("revoke token", error,
                              [&] { return registry_->revoke_token(token_, kNow); });
    }
}

TEST_F(RegistryCallsTest, AReadThatFailsSaysSoAndTheNextOneDoesNot) {
    const std::vector<std::function<bool()>> reads = {
        [&] { return registry_->accounts().ok(); },
        [&] { return registry_->shops(acme_).ok(); },
        [&] { return registry_->tokens(acme_).ok(); },
        [&] { return registry_->account(acme_).ok(); },
        [&] { return registry_->shop(shop_).ok(); },
        [&] { return registry_->snapshot(kNow).ok(); },
        [&] { return registry_->followed().ok(); },
        [&] { return registry_->check_key(key_).ok(); },
    };
    for (std::size_t i = 0; i < reads.size(); ++i) {
        EXPECT_GE(fail_each([&](int nth) {
                      FailingCall call(kLmdb, nth, EIO);
                      const bool done = reads[i]();
                      call.disarm();
                      EXPECT_EQ(done, !call.struck()) << i << ": " << call.name();
                      return call.struck();
                  }),
                  2)
            << i;
    }
}

TEST_F(RegistryCallsTest, ARegistryThatCouldNotBeOpenedCanBeOpenedLater) {
    registry_.reset();
    for (const std::string_view family : {kLmdb, kSystem}) {
        for (const int error : {EIO, ENOMEM, EACCES}) {
            EXPECT_GE(
                fail_each([&](int nth) {
                    FailingCall call(family, nth, error);
                    const auto opened = Registry::open(store_.paths(), Registry::Mode::kReadWrite);
                    call.disarm();
                    EXPECT_TRUE(opened.ok() || (call.struck() && !opened.error().message.empty()));
                    const auto generation = PublishedGeneration::open(store_.paths());
                    EXPECT_TRUE(generation.ok());
                    EXPECT_TRUE(
                        RegistryTables::open_published(store_.paths(), generation->current()).ok())
                        << call.name();
                    return call.struck();
                }),
                5);
        }
    }
    EXPECT_EQ(open_registry(store_.paths())->accounts()->size(), 1U);
}

TEST_F(RegistryCallsTest, AMergeTakesOverAllOrNothing) {
    const auto snapshot = registry_->snapshot(kNow);
    ASSERT_TRUE(snapshot.ok());
    const TempStore edge_store;
    paths_ = edge_store.paths();
    registry_ = open_registry(paths_);
    expect_all_or_nothing("merge", EIO, [&]() -> Status {
        const auto merged = registry_->merge(*snapshot, key_, MergeFrom::kSameSource);
        return merged.ok() ? Status::success() : Status(merged.error());
    });
    EXPECT_TRUE(registry_->followed()->has_value());
    fail_each([&](int nth) {
        FailingCall call(kLmdb, nth, EIO);
        const Status done = registry_->detach();
        call.disarm();
        EXPECT_EQ(done.ok(), !call.struck()) << call.name();
        EXPECT_EQ(registry_->followed()->has_value(), call.struck() && !is_stored_only(done))
            << call.name();
        return call.struck() && !is_stored_only(done);
    });
}

TEST_F(RegistryCallsTest, ARotationThatFailsIsFinishedByTheNextOne) {
    const auto& file = store_.paths().master_key;
    for (const std::string_view family : {kLmdb, kSystem}) {
        const int struck = fail_each([&](int nth) {
            FailingCall call(family, nth, EIO);
            const Status done = rotate_master_key(file, *registry_);
            call.disarm();
            EXPECT_TRUE(done.ok() || call.struck());
            // Whatever failed: the file has a key, and after one more rotation the store's.
            EXPECT_TRUE(MasterKey::load(file).ok()) << call.name();
            EXPECT_TRUE(rotate_master_key(file, *registry_).ok()) << call.name();
            EXPECT_TRUE(registry_->check_key(*MasterKey::load(file)).ok()) << call.name();
            return call.struck();
        });
        EXPECT_GE(struck, 5);
    }
}

TEST_F(RegistryCallsTest, TheReaderOfNginxThrowsAndRecovers) {
    auto opened = RegistryReader::open(store_.paths(), *MasterKey::load(store_.paths().master_key));
    ASSERT_TRUE(opened.ok());
    RegistryReader& reader = **opened;
    const std::vector<std::function<void()>> looks = {
        [&] { EXPECT_NE(reader.find_shop(shop_.view()), nullptr); },
        [&] { EXPECT_TRUE(reader.find_account(AccountSlot{0}).has_value()); },
    };
    for (const auto& look : looks) {
        EXPECT_GE(fail_each([&](int nth) {
                      // A change makes the reader read again what it has in its cache.
                      EXPECT_TRUE(registry_->suspend_account(acme_, nth % 2 == 0).ok());
                      FailingCall call(kLmdb, nth, EIO);
                      bool thrown = false;
                      try {
                          look();
                      } catch (const StoreFailure& failure) {
                          thrown = true;
                          EXPECT_FALSE(failure.error().message.empty());
                      }
                      call.disarm();
                      EXPECT_TRUE(thrown == call.struck() || call.name() == "mdb_txn_renew")
                          << call.name();
                      look();
                      return call.struck();
                  }),
                  2);
    }
}

}  // namespace
}  // namespace sluice::store
