#include "lmdb_store/registry/reader.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <algorithm>
#include <thread>

#include "lmdb_store/environment/environment.hpp"
#include "lmdb_store/registry/lru_cache.hpp"
#include "lmdb_store/registry/registry.hpp"
#include "unit/lmdb_store/temp_store.hpp"

namespace sluice::store {
namespace {

using ::testing::HasSubstr;
using ::testing::SizeIs;

class RegistryReaderTest : public testing::Test {
protected:
    void SetUp() override {
        auto registry = Registry::open(store_.paths(), Registry::Mode::kReadWrite);
        ASSERT_TRUE(registry.ok()) << registry.error().message;
        registry_ = std::move(*registry);
        key_ = *MasterKey::load(store_.paths().master_key);
        auto reader = RegistryReader::open(store_.paths(), key_);
        ASSERT_TRUE(reader.ok()) << reader.error().message;
        reader_ = std::move(*reader);
        ASSERT_TRUE(registry_->create_account(a_, std::nullopt, kNow).ok());
        ASSERT_TRUE(registry_->create_shop(ShopId("s"), a_, kNow).ok());
    }

    NewToken token(unsigned scopes, std::optional<Timestamp> expires = std::nullopt) {
        auto made = registry_->create_token({a_, static_cast<std::uint8_t>(scopes), expires, {}},
                                            key_, kNow);
        EXPECT_TRUE(made.ok()) << made.error().message;
        return *made;
    }

    static bool signed_by_barred(RegistryReader& reader, const std::string& secret) {
        const auto tokens = reader.find_barred_tokens({1}, kWriteOrders, 16);
        const Digest256 signature = SigningKey(secret).sign("body");
        return std::any_of(tokens.begin(), tokens.end(), [&](const auto& token) {
            return token->signing_key && token->signing_key->verify("body", signature);
        });
    }

    /// For tests of many changes, none of which has to be durable.
    void without_syncs() {
        auto environment = Environment::open({store_.paths().registry, 0, 16, false, true});
        ASSERT_EQ(mdb_env_set_flags((*environment)->get(), MDB_NOSYNC, 1), 0);
    }

    static bool signed_by(const ShopView& shop, const std::string& secret) {
        const Digest256 signature = SigningKey(secret).sign("body");
        for (const auto& token : shop.account->tokens) {
            if (token->active(kNow) && token->signing_key &&
                token->signing_key->verify("body", signature)) {
                return true;
            }
        }
        return false;
    }

    const AccountId a_{"a"};
    TempStore store_{{std::nullopt, 200'000}};
    std::unique_ptr<Registry> registry_;
    MasterKey key_;
    std::unique_ptr<RegistryReader> reader_;
};

TEST_F(RegistryReaderTest, FindsAShopWithItsAccountAndKeys) {
    const NewToken made = token(kWriteOrders);
    const auto shop = reader_->find_shop("s");
    ASSERT_NE(shop, nullptr);
    EXPECT_EQ(shop->shop_id.str(), "s");
    EXPECT_EQ(shop->number.value, 1U);
    EXPECT_EQ(shop->account->account_id, a_);
    EXPECT_EQ(shop->account->slot.value, 0U);
    EXPECT_TRUE(shop->active());
    EXPECT_TRUE(signed_by(*shop, made.secret));
    EXPECT_FALSE(signed_by(*shop, "another secret"));
}

TEST_F(RegistryReaderTest, ItSaysHowMuchTheRegistryHas) {
    const RegistrySize before = reader_->size();
    EXPECT_EQ(before.accounts, 1U);
    EXPECT_EQ(before.shops, 1U);
    EXPECT_EQ(before.tokens, 0U);
    EXPECT_GT(before.bytes, 0U);
    const NewToken made = token(kWriteOrders);
    ASSERT_TRUE(registry_->revoke_token(made.token_id, kNow).ok());
    const RegistrySize after = reader_->size();
    EXPECT_EQ(after.tokens, 1U) << "revoked ones are included";
    EXPECT_GT(after.generation, before.generation);
}

TEST_F(RegistryReaderTest, UnknownAndMalformedShopsAreNull) {
    EXPECT_EQ(reader_->find_shop("nope"), nullptr);
    EXPECT_EQ(reader_->find_shop("nope"), nullptr) << "also the second time";
    EXPECT_EQ(reader_->find_shop(""), nullptr);
    EXPECT_EQ(reader_->find_shop(std::string(600, 'x')), nullptr);
    EXPECT_EQ(reader_->find_shop(std::string_view("s\0", 2)), nullptr);
}

TEST_F(RegistryReaderTest, AShopThatIsMadeLaterIsFoundAtOnce) {
    EXPECT_EQ(reader_->find_shop("later"), nullptr);
    ASSERT_TRUE(registry_->create_shop(ShopId("later"), a_, kNow).ok());
    EXPECT_NE(reader_->find_shop("later"), nullptr);
}

TEST_F(RegistryReaderTest, ARevokedTokenIsGoneOnTheVeryNextFind) {
    const NewToken first = token(kWriteOrders);
    const NewToken second = token(kWriteOrders);
    ASSERT_TRUE(signed_by(*reader_->find_shop("s"), first.secret));
    ASSERT_TRUE(registry_->revoke_token(first.token_id, kNow).ok());
    EXPECT_FALSE(signed_by(*reader_->find_shop("s"), first.secret));
    EXPECT_TRUE(signed_by(*reader_->find_shop("s"), second.secret));
}

TEST_F(RegistryReaderTest, EveryChangeIsSeenOnTheVeryNextFind) {
    EXPECT_FALSE(signed_by(*reader_->find_shop("s"), "no token yet"));
    const NewToken made = token(kWriteOrders);
    EXPECT_TRUE(signed_by(*reader_->find_shop("s"), made.secret));
    ASSERT_TRUE(registry_->suspend_shop(ShopId("s"), true).ok());
    EXPECT_FALSE(reader_->find_shop("s")->active());
    ASSERT_TRUE(registry_->suspend_shop(ShopId("s"), false).ok());
    EXPECT_TRUE(reader_->find_shop("s")->active());
    ASSERT_TRUE(registry_->suspend_account(a_, true).ok());
    EXPECT_FALSE(reader_->find_shop("s")->active());
    ASSERT_TRUE(registry_->set_rate_limit(a_, RateLimit{3, 4}).ok());
    EXPECT_EQ(reader_->find_shop("s")->account->rate_limit, (RateLimit{3, 4}));
}

TEST_F(RegistryReaderTest, AnotherProcessRevokesAndTheNextFindKnows) {
    const NewToken made = token(kWriteOrders | kWriteProducts);
    ASSERT_TRUE(signed_by(*reader_->find_shop("s"), made.secret));
    ASSERT_FALSE(reader_->find_bearer(made.secret).token->revoked);
    const pid_t child = ::fork();
    if (child == 0) {
        auto own = Registry::open(store_.paths(), Registry::Mode::kReadWrite);
        ::_exit(own.ok() && (*own)->revoke_token(made.token_id, kNow).ok() ? 0 : 1);
    }
    int status = 0;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    ASSERT_EQ(status, 0);
    EXPECT_FALSE(signed_by(*reader_->find_shop("s"), made.secret));
    EXPECT_TRUE(reader_->find_bearer(made.secret).token->revoked);
}

TEST_F(RegistryReaderTest, UnchangedRowsAreNotPreparedAgain) {
    token(kWriteOrders);
    const auto before = reader_->find_shop("s");
    ASSERT_TRUE(registry_->create_account(AccountId("b"), std::nullopt, kNow).ok());
    ASSERT_TRUE(registry_->create_shop(ShopId("t"), AccountId("b"), kNow).ok());
    EXPECT_EQ(reader_->find_shop("s").get(), before.get()) << "others changed";
    ASSERT_TRUE(registry_->set_rate_limit(a_, RateLimit{3, 4}).ok());
    const auto after = reader_->find_shop("s");
    EXPECT_NE(after.get(), before.get());
    EXPECT_EQ(after->account->tokens[0].get(), before->account->tokens[0].get())
        << "its token did not change";
    EXPECT_EQ(before->account->rate_limit, std::nullopt) << "a snapshot stays as it was";
}

TEST_F(RegistryReaderTest, ShopsOfAnAccountShareIt) {
    ASSERT_TRUE(registry_->create_shop(ShopId("t"), a_, kNow).ok());
    EXPECT_EQ(reader_->find_shop("s")->account.get(), reader_->find_shop("t")->account.get());
}

TEST_F(RegistryReaderTest, BearersAreFoundBySecretAlsoRevokedAndExpired) {
    const NewToken made = token(kWriteProducts, kNow.plus_seconds(10));
    const BearerView found = reader_->find_bearer(made.secret);
    ASSERT_NE(found.token, nullptr);
    EXPECT_EQ(found.token->token_id, made.token_id);
    EXPECT_EQ(found.token->scopes, kWriteProducts);
    EXPECT_EQ(found.token->signing_key, nullptr) << "only write_orders signs";
    EXPECT_EQ(found.account->account_id, a_);
    EXPECT_TRUE(found.token->active(kNow));
    EXPECT_FALSE(found.token->active(kNow.plus_seconds(10)));
    ASSERT_TRUE(registry_->revoke_token(made.token_id, kNow).ok());
    EXPECT_FALSE(reader_->find_bearer(made.secret).token->active(kNow));
    EXPECT_EQ(reader_->find_bearer("unknown secret").token, nullptr);
    EXPECT_EQ(reader_->find_bearer("").token, nullptr);
}

TEST_F(RegistryReaderTest, AccountsAreNamedByTheirSlot) {
    ASSERT_TRUE(registry_->create_account(AccountId("b"), RateLimit{1, 2}, kNow).ok());
    EXPECT_EQ(reader_->find_account({0})->account_id, a_);
    EXPECT_EQ(reader_->find_account({1})->rate_limit, (RateLimit{1, 2}));
    EXPECT_FALSE(reader_->find_account({2}).has_value());
}

TEST_F(RegistryReaderTest, AForeignMasterKeyIsReportedAtOnce) {
    const auto reader = RegistryReader::open(store_.paths(), MasterKey::random());
    ASSERT_FALSE(reader.ok());
    EXPECT_THAT(reader.error().message, HasSubstr("master key"));
}

TEST_F(RegistryReaderTest, UsedTokensWorkAndOthersAreUnreadableUntilTheNewKeyIsRead) {
    const NewToken used = token(kWriteOrders);
    ASSERT_TRUE(signed_by(*reader_->find_shop("s"), used.secret));
    EXPECT_FALSE(reader_->is_key_outdated());
    ASSERT_TRUE(rotate_master_key(store_.paths().master_key, *registry_).ok());
    key_ = *MasterKey::load(store_.paths().master_key);
    const NewToken later = token(kWriteOrders | kWriteProducts);
    const auto shop = reader_->find_shop("s");
    EXPECT_TRUE(signed_by(*shop, used.secret));
    EXPECT_FALSE(signed_by(*shop, later.secret));
    ASSERT_THAT(shop->account->tokens, SizeIs(2));
    EXPECT_TRUE(shop->account->tokens[0]->unreadable != shop->account->tokens[1]->unreadable);
    EXPECT_TRUE(reader_->is_key_outdated());
    EXPECT_EQ(reader_->find_shop("s").get(), shop.get()) << "nothing is opened again";
    EXPECT_EQ(reader_->find_bearer(later.secret).token->token_id, later.token_id);
    EXPECT_FALSE(reader_->use_key(MasterKey::random()));
    EXPECT_TRUE(reader_->is_key_outdated());
    ASSERT_TRUE(reader_->use_key(key_));
    EXPECT_FALSE(reader_->is_key_outdated());
    EXPECT_TRUE(signed_by(*reader_->find_shop("s"), used.secret));
    EXPECT_TRUE(signed_by(*reader_->find_shop("s"), later.secret))
        << "with no change of the registry";
    ASSERT_TRUE(registry_->revoke_token(used.token_id, kNow).ok());
    EXPECT_FALSE(signed_by(*reader_->find_shop("s"), used.secret));
}

/// The difference would tell an unknown shop from a known one.
TEST_F(RegistryReaderTest, AReplacedKeyIsDetectedAtTheFirstLookUpOfAnyShop) {
    ASSERT_TRUE(rotate_master_key(store_.paths().master_key, *registry_).ok());
    EXPECT_EQ(reader_->find_shop("unknown"), nullptr);
    EXPECT_TRUE(reader_->is_key_outdated());
    ASSERT_TRUE(reader_->use_key(*MasterKey::load(store_.paths().master_key)));
    ASSERT_TRUE(registry_->suspend_account(a_, true).ok());
    EXPECT_EQ(reader_->find_shop("unknown"), nullptr);
    EXPECT_FALSE(reader_->is_key_outdated());
}

/// L8: on a machine whose nginx workers use up every reader's slot.
TEST_F(RegistryReaderTest, ATokenIsRevokedWithoutAReadersSlot) {
    const NewToken leaked = token(kWriteOrders);
    ASSERT_TRUE(signed_by(*reader_->find_shop("s"), leaked.secret));
    registry_.reset();
    auto environment = Environment::open({store_.paths().registry, 0, 16, false, true});
    ASSERT_TRUE(environment.ok());
    EXPECT_EQ((*environment)->readers_max(), kReadersMax);
    std::vector<std::unique_ptr<ReadTxn>> readers;
    int rc = 0;
    while (rc == 0) {
        readers.push_back(std::make_unique<ReadTxn>());
        rc = readers.back()->begin(**environment);
    }
    ASSERT_EQ(rc, MDB_READERS_FULL);
    EXPECT_GE(readers.size(), kReadersMax - 2);
    auto registry = Registry::open(store_.paths(), Registry::Mode::kReadWrite);
    ASSERT_TRUE(registry.ok()) << registry.error().message;
    ASSERT_TRUE((*registry)->revoke_token(leaked.token_id, kNow).ok());
    EXPECT_FALSE(signed_by(*reader_->find_shop("s"), leaked.secret));
}

TEST_F(RegistryReaderTest, SlotsAreCounted) {
    EXPECT_EQ(reader_->slots_used(), 1U);
    ASSERT_TRUE(registry_->create_account(AccountId("b"), std::nullopt, kNow).ok());
    EXPECT_EQ(reader_->slots_used(), 2U);
}

/// nginx's cached rows are compared with the stored ones, whatever the new bytes are.
TEST_F(RegistryReaderTest, ABearerIsFollowedThroughChangesOfItsAccountAndItsToken) {
    const NewToken bearer = token(kWriteProducts | kReadOrders);
    const BearerView first = reader_->find_bearer(bearer.secret);
    ASSERT_TRUE(first.token != nullptr && first.account != nullptr);
    ASSERT_TRUE(registry_->create_shop(ShopId("other"), a_, kNow).ok());
    EXPECT_EQ(reader_->find_bearer(bearer.secret).account, first.account)
        << "nothing of it changed";
    ASSERT_TRUE(registry_->suspend_account(a_, true).ok());
    EXPECT_TRUE(reader_->find_bearer(bearer.secret).account->suspended);
    ASSERT_TRUE(registry_->suspend_account(a_, false).ok());
    ASSERT_TRUE(registry_->revoke_token(bearer.token_id, kNow).ok());
    EXPECT_TRUE(reader_->find_bearer(bearer.secret).token->revoked);
    EXPECT_EQ(reader_->find_bearer("a secret that nobody has").token, nullptr);
}

TEST_F(RegistryReaderTest, BarredTokensAreGivenForTheDiagnosisOnly) {
    EXPECT_THAT(reader_->find_barred_tokens({1}, kWriteOrders, 16), SizeIs(0));
    EXPECT_THAT(reader_->find_barred_tokens({77}, kWriteOrders, 16), SizeIs(0));
    const NewToken usable = token(kWriteOrders);
    const NewToken products = token(kWriteProducts);
    std::vector<NewToken> revoked;
    for (int i = 0; i < 20; ++i) {
        revoked.push_back(token(kWriteOrders));
        ASSERT_TRUE(registry_->revoke_token(revoked.back().token_id, kNow.plus_seconds(i)).ok());
    }
    EXPECT_FALSE(signed_by_barred(*reader_, usable.secret));
    EXPECT_TRUE(signed_by_barred(*reader_, products.secret));
    EXPECT_TRUE(signed_by_barred(*reader_, revoked.back().secret));
    EXPECT_FALSE(signed_by_barred(*reader_, revoked.front().secret)) << "the last ones are kept";
    EXPECT_THAT(reader_->find_barred_tokens({1}, kWriteOrders, 100), SizeIs(17));
    EXPECT_THAT(reader_->find_barred_tokens({1}, kWriteOrders, 5), SizeIs(5));
    EXPECT_THAT(reader_->find_shop("s")->account->tokens, SizeIs(2)) << "requests look at these";
}

TEST_F(RegistryReaderTest, TokensThatExpiredLongAgoAreBarredToo) {
    const NewToken expired = token(kWriteOrders, kNow.plus_seconds(1));
    const auto later =
        registry_->create_token({a_, kWriteOrders, {}, {}}, key_, kNow.plus_seconds(8 * 86'400));
    ASSERT_TRUE(later.ok());
    EXPECT_THAT(reader_->find_shop("s")->account->tokens, SizeIs(1));
    EXPECT_TRUE(signed_by_barred(*reader_, expired.secret));
}

TEST_F(RegistryReaderTest, HoldsNoPagesBetweenRequests) {
    without_syncs();
    token(kWriteOrders);
    ASSERT_NE(reader_->find_shop("s"), nullptr);
    const auto pages = [&] {
        auto environment = Environment::open({store_.paths().registry, 0, 16, true, true});
        MDB_envinfo info{};
        mdb_env_info((*environment)->get(), &info);
        return info.me_last_pgno;
    };
    for (std::uint32_t i = 1; i < 50; ++i) {
        ASSERT_TRUE(registry_->set_rate_limit(a_, RateLimit{i, 60}).ok());
    }
    const auto settled = pages();
    for (std::uint32_t i = 1; i < 500; ++i) {
        ASSERT_TRUE(registry_->set_rate_limit(a_, RateLimit{i, 60}).ok());
    }
    // The history grows: a row for each change, in pages that ascending keys leave half full.
    constexpr std::size_t kHistoryPages = 500 * 2 * 256 / 4096 + 4;
    EXPECT_LE(pages(), settled + 2 + kHistoryPages)
        << "freed pages are used again though a reader is open";
}

TEST_F(RegistryReaderTest, ViewsAreUsedOnOtherThreadsWhileTheyAreReplaced) {
    const NewToken made = token(kWriteOrders);
    std::vector<std::thread> threads;
    for (std::uint32_t i = 1; i < 40; ++i) {
        threads.emplace_back([shop = reader_->find_shop("s"), &made] {
            EXPECT_TRUE(signed_by(*shop, made.secret));
        });
        ASSERT_TRUE(registry_->set_rate_limit(a_, RateLimit{i, 60}).ok());
    }
    reader_.reset();
    for (std::thread& thread : threads) {
        thread.join();
    }
}

TEST_F(RegistryReaderTest, MoreShopsThanTheCacheHoldsAreAllFound) {
    const int count = static_cast<int>(RegistryReader::kCachedShopsMax) + 100;
    auto more = registry_->snapshot(kNow);
    ASSERT_TRUE(more.ok());
    more->revision.source = "another";
    RegisteredShop row = more->shops.front();
    for (int i = 0; i < count; ++i) {
        row.shop_id = ShopId("n" + std::to_string(i));
        ++row.number.value;
        more->shops.push_back(row);
    }
    const auto merged = registry_->merge(*more, key_, MergeFrom::kAny);
    ASSERT_TRUE(merged.ok()) << merged.error().message;
    for (int round = 0; round < 2; ++round) {
        for (int i = 0; i < count; ++i) {
            const std::string id = "n" + std::to_string(i);
            const auto shop = reader_->find_shop(id);
            ASSERT_NE(shop, nullptr) << id;
            ASSERT_EQ(shop->shop_id.str(), id);
        }
    }
}

TEST(LruCacheRules, TheLeastRecentlyUsedGoesFirst) {
    LruCache<int> cache(2);
    cache.put("a", 1);
    cache.put("b", 2);
    EXPECT_NE(cache.find("a"), nullptr);
    cache.put("c", 3);
    EXPECT_EQ(cache.find("b"), nullptr);
    ASSERT_NE(cache.find("a"), nullptr);
    cache.put("a", 4);
    EXPECT_EQ(*cache.find("a"), 4);
    cache.erase("a");
    cache.erase("a");
    EXPECT_EQ(cache.find("a"), nullptr);
    EXPECT_THAT(cache, SizeIs(1));
}

}  // namespace
}  // namespace sluice::store
