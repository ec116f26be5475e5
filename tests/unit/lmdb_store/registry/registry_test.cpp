#include "lmdb_store/registry/registry.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/intake/registry_view.hpp"
#include "lmdb_store/registry/reader.hpp"
#include "unit/lmdb_store/temp_store.hpp"

namespace sluice::store {
namespace {

namespace fs = std::filesystem;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::MatchesRegex;
using ::testing::Not;

class RegistryTest : public testing::Test {
protected:
    void SetUp() override { open(); }

    void open(Registry::Mode mode = Registry::Mode::kReadWrite) {
        registry_.reset();
        auto opened = Registry::open(store_.paths(), mode);
        ASSERT_TRUE(opened.ok()) << opened.error().message;
        registry_ = std::move(*opened);
        auto key = MasterKey::load(store_.paths().master_key);
        ASSERT_TRUE(key.ok()) << key.error().message;
        key_ = *key;
    }

    Status account(const std::string& id) {
        return registry_->create_account(AccountId(id), std::nullopt, kMade);
    }
    Status shop(const std::string& id, const std::string& account) {
        return registry_->create_shop(ShopId(id), AccountId(account), kMade);
    }
    Status set_source(const std::string& id, const ShopSource& source) {
        return registry_->set_shop_source(ShopId(id), [&](ShopSource& row) { row = source; });
    }
    Result<NewToken> token(const std::string& account, unsigned scopes,
                           std::optional<Timestamp> expires = std::nullopt,
                           std::optional<std::string> secret = std::nullopt,
                           Timestamp now = kMade) {
        return registry_->create_token(
            {AccountId(account), static_cast<std::uint8_t>(scopes), expires, secret}, key_, now);
    }

    TempStore store_{{std::nullopt, 3}};
    std::unique_ptr<Registry> registry_;
    MasterKey key_;
};

TEST_F(RegistryTest, AccountsGetDenseNumbersAndSlots) {
    ASSERT_TRUE(account("zeta").ok());
    ASSERT_TRUE(account("alpha").ok());
    const auto rows = registry_->accounts();
    ASSERT_EQ(rows->size(), 2U);
    EXPECT_EQ((*rows)[0].account_id.str(), "alpha");
    EXPECT_EQ((*rows)[0].number.value, 2U);
    EXPECT_EQ((*rows)[0].slot.value, 1U);
    EXPECT_EQ((*rows)[1].account_id.str(), "zeta");
    EXPECT_EQ((*rows)[1].slot.value, 0U);
    EXPECT_EQ((*rows)[1].created_at, kMade);
}

TEST_F(RegistryTest, AnAccountBeyondTheSlotsIsRefusedWithARemedy) {
    for (const char* id : {"a", "b", "c"}) {
        ASSERT_TRUE(account(id).ok());
    }
    const Status refused = account("d");
    ASSERT_FALSE(refused.ok());
    EXPECT_EQ(refused.error().code, ErrorCode::kLimit);
    EXPECT_THAT(refused.error().message, HasSubstr("sluice store set --max-accounts"));
    EXPECT_FALSE(registry_->account(AccountId("d"))->has_value());
    ASSERT_TRUE(set_max_accounts(store_.paths(), 4).ok());
    ASSERT_TRUE(account("d").ok());
    EXPECT_EQ((*registry_->account(AccountId("d")))->slot.value, 3U)
        << "a refused account takes no slot";
}

TEST_F(RegistryTest, AnIdIsTakenOnce) {
    ASSERT_TRUE(account("a").ok());
    EXPECT_EQ(account("a").error().code, ErrorCode::kConflict);
    ASSERT_TRUE(account("b").ok());
    ASSERT_TRUE(shop("s", "a").ok());
    const Status taken = shop("s", "b");
    EXPECT_EQ(taken.error().code, ErrorCode::kConflict);
    EXPECT_THAT(taken.error().message, HasSubstr("\"a\""));
}

TEST_F(RegistryTest, IdsAreOfTheDocumentedCharactersAndLength) {
    for (const std::string& bad : {std::string(), std::string("a b"), std::string("a\n"),
                                   std::string(129, 'a'), std::string("caf\xC3\xA9")}) {
        EXPECT_EQ(account(bad).error().code, ErrorCode::kInvalid) << bad;
    }
    EXPECT_TRUE(account("A-Z.a_z:0@9+/=").ok());
    ASSERT_TRUE(account(std::string(128, 'a')).ok());
    EXPECT_EQ(shop("", "A-Z.a_z:0@9+/=").error().code, ErrorCode::kInvalid);
    EXPECT_EQ(shop("s", "nobody").error().code, ErrorCode::kNotFound);
    EXPECT_EQ(shop("s", "").error().code, ErrorCode::kNotFound);
}

TEST_F(RegistryTest, SettingsOfAccountsAndShopsStay) {
    ASSERT_TRUE(registry_->create_account(AccountId("a"), RateLimit{5, 10}, kMade).ok());
    ASSERT_TRUE(shop("s", "a").ok());
    EXPECT_EQ((*registry_->account(AccountId("a")))->rate_limit, (RateLimit{5, 10}));
    ASSERT_TRUE(registry_->set_rate_limit(AccountId("a"), RateLimit{7, 20}).ok());
    ASSERT_TRUE(registry_->suspend_account(AccountId("a"), true).ok());
    ASSERT_TRUE(registry_->suspend_shop(ShopId("s"), true).ok());
    open();
    EXPECT_EQ((*registry_->account(AccountId("a")))->rate_limit, (RateLimit{7, 20}));
    EXPECT_TRUE((*registry_->account(AccountId("a")))->suspended);
    EXPECT_TRUE((*registry_->shop(ShopId("s")))->suspended);
    ASSERT_TRUE(registry_->set_rate_limit(AccountId("a"), std::nullopt).ok());
    ASSERT_TRUE(registry_->suspend_account(AccountId("a"), false).ok());
    EXPECT_EQ((*registry_->account(AccountId("a")))->rate_limit, std::nullopt);
    EXPECT_FALSE((*registry_->account(AccountId("a")))->suspended);
    EXPECT_EQ(registry_->suspend_shop(ShopId("x"), true).error().code, ErrorCode::kNotFound);
    EXPECT_EQ(registry_->suspend_account(AccountId("x"), true).error().code, ErrorCode::kNotFound);
    EXPECT_EQ(registry_->set_rate_limit(AccountId("a"), RateLimit{0, 1}).error().code,
              ErrorCode::kInvalid);
    for (const RateLimit limit :
         {RateLimit{1U << 28, 1}, RateLimit{1, 0}, RateLimit{1, 0xFFFF'FFFF}}) {
        EXPECT_EQ(registry_->set_rate_limit(AccountId("a"), limit).error().code,
                  ErrorCode::kInvalid);
    }
}

TEST_F(RegistryTest, ShopsAreListedSortedAndByAccount) {
    ASSERT_TRUE(account("a").ok());
    ASSERT_TRUE(account("b").ok());
    ASSERT_TRUE(shop("z", "a").ok());
    ASSERT_TRUE(shop("m", "b").ok());
    ASSERT_TRUE(shop("c", "a").ok());
    const auto ids = [](const Result<std::vector<RegisteredShop>>& rows) {
        std::vector<std::string> found;
        for (const RegisteredShop& row : *rows) {
            found.push_back(row.shop_id.str());
        }
        return found;
    };
    EXPECT_THAT(ids(registry_->shops(std::nullopt)), ElementsAre("c", "m", "z"));
    EXPECT_THAT(ids(registry_->shops(AccountId("a"))), ElementsAre("c", "z"));
    EXPECT_EQ(registry_->shops(AccountId("x")).error().code, ErrorCode::kNotFound);
}

TEST_F(RegistryTest, RandomSecretsHave256BitsAndNeedNoQuoting) {
    ASSERT_TRUE(account("a").ok());
    const auto first = token("a", kWriteOrders);
    const auto second = token("a", kWriteOrders);
    ASSERT_TRUE(first.ok() && second.ok());
    EXPECT_THAT(first->secret, MatchesRegex("[0-9a-f]{64}"));
    EXPECT_THAT(first->token_id.str(), MatchesRegex("tok_[0-9a-f]{16}"));
    EXPECT_NE(first->secret, second->secret);
    EXPECT_NE(first->token_id.str(), second->token_id.str());
}

TEST_F(RegistryTest, SecretsAreNotOnTheDisk) {
    ASSERT_TRUE(account("a").ok());
    const std::string secret = "a secret that would be seen";
    ASSERT_TRUE(token("a", kWriteOrders, std::nullopt, secret).ok());
    registry_.reset();
    EXPECT_THAT(read_text(store_.paths().registry / "data.mdb"), Not(HasSubstr(secret)));
}

TEST_F(RegistryTest, AGivenSecretHasAtLeast16BytesAndIsUsedOnce) {
    ASSERT_TRUE(account("a").ok());
    ASSERT_TRUE(account("b").ok());
    EXPECT_EQ(token("a", kWriteOrders, {}, "123456789012345").error().code, ErrorCode::kInvalid);
    const auto made = token("a", kWriteOrders, {}, "1234567890123456");
    ASSERT_TRUE(made.ok());
    EXPECT_EQ(made->secret, "1234567890123456");
    EXPECT_EQ(token("b", kWriteProducts, {}, "1234567890123456").error().code,
              ErrorCode::kConflict);
    ASSERT_TRUE(registry_->revoke_token(made->token_id, kMade).ok());
    EXPECT_EQ(token("a", kWriteOrders, {}, "1234567890123456").error().code, ErrorCode::kConflict)
        << "not even after the first was revoked";
    EXPECT_EQ(token("a", kWriteProducts, {}, "12345678901234\r\n").error().code,
              ErrorCode::kInvalid)
        << "cannot be sent in a header";
    EXPECT_TRUE(token("a", kWriteOrders, {}, std::string("\0\1\2 any bytes, signed", 22)).ok());
}

TEST_F(RegistryTest, AtMost8ActiveTokensOfAnAccountShareAScope) {
    ASSERT_TRUE(account("a").ok());
    ASSERT_TRUE(account("b").ok());
    std::vector<TokenId> made;
    for (int i = 0; i < 7; ++i) {
        made.push_back(token("a", kWriteOrders)->token_id);
    }
    const Timestamp soon = kMade.plus_seconds(10);
    ASSERT_TRUE(token("a", kWriteOrders | kWriteProducts, soon).ok());
    const auto ninth = token("a", kWriteOrders);
    ASSERT_FALSE(ninth.ok());
    EXPECT_EQ(ninth.error().code, ErrorCode::kLimit);
    EXPECT_THAT(ninth.error().message, HasSubstr("write_orders"));
    EXPECT_EQ(token("a", kReadOrders | kWriteOrders).error().code, ErrorCode::kLimit);
    EXPECT_TRUE(token("a", kWriteProducts).ok()) << "another scope counts for itself";
    EXPECT_TRUE(token("b", kWriteOrders).ok()) << "another account too";
    EXPECT_TRUE(token("a", kWriteOrders, {}, {}, soon).ok()) << "an expired one does not count";
    ASSERT_TRUE(registry_->revoke_token(made[0], kMade).ok());
    EXPECT_TRUE(token("a", kWriteOrders, {}, {}, kMade).error().code == ErrorCode::kLimit)
        << "at this earlier time the expired one still counts";
    EXPECT_TRUE(token("a", kWriteOrders, {}, {}, soon).ok()) << "a revoked one does not count";
}

TEST_F(RegistryTest, TokensAreListedWithTheirStateButNeverTheirSecret) {
    ASSERT_TRUE(account("a").ok());
    ASSERT_TRUE(account("b").ok());
    const Timestamp expires = kMade.plus_seconds(100);
    const auto made = token("a", kWriteOrders | kReadOrders, expires);
    ASSERT_TRUE(token("b", kWriteProducts).ok());
    ASSERT_TRUE(registry_->revoke_token(made->token_id, kMade.plus_seconds(1)).ok());
    open(Registry::Mode::kReadOnly);
    const auto rows = registry_->tokens(AccountId("a"));
    ASSERT_EQ(rows->size(), 1U);
    const TokenRow& row = rows->front();
    EXPECT_EQ(row.token_id, made->token_id);
    EXPECT_EQ(row.scopes, kWriteOrders | kReadOrders);
    EXPECT_EQ(row.expires_at, expires);
    EXPECT_EQ(row.revoked_at, kMade.plus_seconds(1));
    EXPECT_EQ(registry_->tokens(std::nullopt)->size(), 2U);
}

TEST_F(RegistryTest, RevokingTwiceOrNothingIsSaid) {
    ASSERT_TRUE(account("a").ok());
    const auto made = token("a", kWriteOrders);
    ASSERT_TRUE(registry_->revoke_token(made->token_id, kMade).ok());
    EXPECT_EQ(registry_->revoke_token(made->token_id, kMade).error().code, ErrorCode::kConflict);
    EXPECT_EQ(registry_->revoke_token(TokenId("tok_x"), kMade).error().code, ErrorCode::kNotFound);
    EXPECT_EQ(registry_->revoke_token(TokenId(""), kMade).error().code, ErrorCode::kNotFound);
}

TEST_F(RegistryTest, BadTokenRequestsAreRefused) {
    ASSERT_TRUE(account("a").ok());
    EXPECT_EQ(token("a", 0).error().code, ErrorCode::kInvalid);
    EXPECT_EQ(token("a", kCreatorPages | kReadOrders).error().code, ErrorCode::kInvalid);
    EXPECT_EQ(token("nobody", kWriteOrders).error().code, ErrorCode::kNotFound);
    EXPECT_TRUE(token("a", kWriteOrders, kMade).ok()) << "imported expired: listed, never usable";
    const auto foreign =
        registry_->create_token({AccountId("a"), kWriteOrders, {}, {}}, MasterKey::random(), kMade);
    ASSERT_FALSE(foreign.ok()) << "a token sealed with a foreign key could never be used";
    EXPECT_EQ(foreign.error().code, ErrorCode::kCorrupt);
    EXPECT_EQ(registry_->tokens(std::nullopt)->size(), 1U);
}

TEST_F(RegistryTest, ASecretThatIsBorneHasNoControlCharactersAndNoneIsTooLong) {
    ASSERT_TRUE(account("a").ok());
    const std::string with_delete = "16 bytes and more\x7f";
    EXPECT_EQ(token("a", kWriteProducts, {}, with_delete).error().code, ErrorCode::kInvalid);
    EXPECT_TRUE(token("a", kWriteOrders, {}, with_delete).ok()) << "it only signs";
    EXPECT_EQ(token("a", kWriteOrders, {}, std::string(1025, 'x')).error().code,
              ErrorCode::kInvalid);
    EXPECT_TRUE(token("a", kWriteOrders, {}, std::string(1024, 'x')).ok());
}

TEST_F(RegistryTest, ShopsKeepTheirPlatformAndItsSettings) {
    ASSERT_TRUE(account("a").ok() && shop("mugs", "a").ok() && shop("tea", "a").ok());
    const ShopSource source{Platform::kShopify, "mugs.example", {kMade, 7, true, true, true}};
    ASSERT_TRUE(set_source("mugs", source).ok());
    ASSERT_TRUE(registry_->suspend_shop(ShopId("mugs"), true).ok());
    open();
    EXPECT_EQ((*registry_->shop(ShopId("mugs")))->source, source);
    EXPECT_EQ((*registry_->shop(ShopId("tea")))->source, ShopSource());
    ASSERT_TRUE(set_source("mugs", {}).ok());
    EXPECT_EQ((*registry_->shop(ShopId("mugs")))->source, ShopSource());
    EXPECT_EQ(set_source("no-such-shop", {}).error().code, ErrorCode::kNotFound);
}

TEST_F(RegistryTest, AChangeOfAPlatformIsLoggedWithItsSettings) {
    ASSERT_TRUE(account("a").ok() && shop("mugs", "a").ok());
    ShopSource source{Platform::kShopify, "mugs.example", {kMade, 7, true, true, true}};
    ASSERT_TRUE(set_source("mugs", source).ok());
    source.settings.platform_shop = 0;
    ASSERT_TRUE(set_source("mugs", source).ok());
    ASSERT_TRUE(set_source("mugs", source).ok());
    ASSERT_TRUE(set_source("mugs", {}).ok());
    ASSERT_TRUE(
        registry_
            ->create_token({AccountId("a"), kShopifyWebhooks, {}, {}, ShopId("mugs")}, key_, kMade)
            .ok());
    std::vector<std::string> logged;
    const auto changes = registry_->changes();
    for (const ChangeRow& row : *changes) {
        logged.push_back(row.change);
    }
    EXPECT_THAT(
        logged,
        ElementsAre("account create a", "shop create mugs of a",
                    "shop set mugs: platform shopify, domain mugs.example, from " +
                        kMade.to_string() +
                        ", platform-shop 7, money presentment, test-orders count, gift-cards count",
                    "shop set mugs: platform-shop 0", "shop set mugs: no change",
                    "shop set mugs: platform none, domain none, from none, money shop, "
                    "test-orders ignore, gift-cards ignore",
                    MatchesRegex("token create tok_.* of a: shopify_webhooks for shop mugs")));
}

TEST_F(RegistryTest, SettingsThatThePlatformDoesNotHaveAreRefused) {
    ASSERT_TRUE(account("a").ok() && shop("mugs", "a").ok());
    for (const ShopSource& wrong : {
             ShopSource{Platform::kNone, "mugs.example", {}},
             ShopSource{Platform::kNone, "", {kMade, 0, false, false, false}},
             ShopSource{Platform::kNone, "", {{}, 0, false, false, true}},
             ShopSource{Platform::kWooCommerce, "", {{}, 7, false, false, false}},
             ShopSource{Platform::kWooCommerce, "", {{}, 0, true, false, false}},
             ShopSource{Platform::kWooCommerce, "", {{}, 0, false, true, false}},
             ShopSource{Platform::kShopify, "mugs example", {}},
             ShopSource{Platform::kShopify, "mugs.example?x", {}},
             ShopSource{Platform::kShopify, std::string(254, 'a'), {}},
         }) {
        EXPECT_EQ(set_source("mugs", wrong).error().code, ErrorCode::kInvalid) << wrong.domain;
    }
    EXPECT_EQ((*registry_->shop(ShopId("mugs")))->source, ShopSource());
    EXPECT_TRUE(set_source("mugs", {Platform::kShopify, std::string(253, 'a'), {}}).ok());
}

TEST_F(RegistryTest, ADomainBelongsToOneShopOfAPlatform) {
    ASSERT_TRUE(account("a").ok() && account("b").ok());
    ASSERT_TRUE(shop("mugs", "a").ok() && shop("cups", "b").ok());
    const ShopSource source{Platform::kShopify, "mugs.example", {}};
    ASSERT_TRUE(set_source("mugs", source).ok());
    ASSERT_TRUE(set_source("mugs", source).ok()) << "its own";
    const Status taken = set_source("cups", source);
    EXPECT_EQ(taken.error().code, ErrorCode::kConflict);
    EXPECT_THAT(taken.error().message, HasSubstr("mugs"));
    EXPECT_TRUE(set_source("cups", {Platform::kWooCommerce, "mugs.example", {}}).ok());
    ASSERT_TRUE(set_source("mugs", {Platform::kShopify, "other.example", {}}).ok());
    EXPECT_TRUE(set_source("cups", source).ok()) << "given up";
    auto reader = RegistryReader::open(store_.paths(), key_);
    ASSERT_TRUE(reader.ok());
    EXPECT_EQ((*reader)->find_platform_shop(Platform::kShopify, "mugs.example")->shop_id.view(),
              "cups");
    EXPECT_EQ((*reader)->find_platform_shop(Platform::kWooCommerce, "mugs.example"), nullptr);
    EXPECT_EQ((*reader)->find_platform_shop(Platform::kShopify, std::string(300, 'x')), nullptr);
    EXPECT_EQ((*reader)->find_platform_shop(Platform::kShopify, ""), nullptr);
}

TEST_F(RegistryTest, OneSecretSignsWebhooksOfSeveralAccountsAndIsNoBearerToken) {
    ASSERT_TRUE(account("a").ok() && account("b").ok() && shop("mugs", "a").ok());
    const std::string secret = "the secret of an app";
    const auto made = token("a", kShopifyWebhooks, {}, secret);
    ASSERT_TRUE(made.ok());
    EXPECT_TRUE(token("b", kShopifyWebhooks, {}, secret).ok());
    EXPECT_FALSE(registry_->bearer(secret)->has_value());
    const auto again = token("a", kShopifyWebhooks, {}, secret);
    EXPECT_EQ(again.error().code, ErrorCode::kConflict) << "a revocation would leave it valid";
    EXPECT_THAT(again.error().message, HasSubstr(made->token_id.str()));
    ASSERT_TRUE(registry_->revoke_token(made->token_id, kMade).ok());
    EXPECT_TRUE(token("a", kShopifyWebhooks, {}, secret).ok()) << "no one can change an app's";
}

TEST_F(RegistryTest, ATokenForWebhooksHasThatScopeAloneAndAShopOfItsAccount) {
    ASSERT_TRUE(account("a").ok() && account("b").ok());
    ASSERT_TRUE(shop("mugs", "a").ok() && shop("cups", "b").ok());
    const auto made = [&](unsigned scopes, const std::string& shop) {
        return registry_
            ->create_token(
                {AccountId("a"), static_cast<std::uint8_t>(scopes), {}, {}, ShopId(shop)}, key_,
                kMade)
            .ok();
    };
    EXPECT_TRUE(made(kShopifyWebhooks, "mugs"));
    EXPECT_FALSE(made(kShopifyWebhooks, "cups")) << "of another account";
    EXPECT_FALSE(made(kShopifyWebhooks, "none"));
    EXPECT_FALSE(made(kShopifyWebhooks | kWriteOrders, ""));
    EXPECT_FALSE(made(kShopifyWebhooks | kWooCommerceWebhooks, ""));
    EXPECT_FALSE(made(kWriteOrders, "mugs"));
}

TEST_F(RegistryTest, ATokenForPagesHasThatScopeAloneAndASecretOf32Bytes) {
    ASSERT_TRUE(account("a").ok());
    EXPECT_FALSE(token("a", kCreatorPages | kReadOrders).ok());
    EXPECT_FALSE(token("a", kCreatorPages, {}, std::string(31, 's')).ok());
    EXPECT_TRUE(token("a", kCreatorPages, {}, std::string(32, 's')).ok());
}

TEST_F(RegistryTest, ATokenForPagesKeepsThePublicKeyOfItsSecret) {
    ASSERT_TRUE(account("a").ok());
    const auto made = token("a", kCreatorPages);
    const auto other = token("a", kReadOrders);
    ASSERT_TRUE(made.ok() && other.ok());
    const auto found = registry_->token(made->token_id);
    ASSERT_TRUE(found.ok() && found->has_value());
    EXPECT_EQ((*found)->page_key, PageSigner(made->secret).public_key());
    EXPECT_EQ((*found)->account.account_id.str(), "a");
    EXPECT_EQ((*registry_->token(other->token_id))->page_key, std::nullopt);
    EXPECT_FALSE(registry_->token(TokenId("tok_none"))->has_value());
    EXPECT_FALSE(registry_->token(TokenId())->has_value());
}

TEST_F(RegistryTest, AtMost8TokensForWebhooksCountForAShop) {
    ASSERT_TRUE(account("a").ok() && shop("mugs", "a").ok() && shop("cups", "a").ok());
    const auto made = [&](const std::string& shop) {
        const auto token = registry_->create_token(
            {AccountId("a"), kShopifyWebhooks, {}, {}, ShopId(shop)}, key_, kMade);
        return token.ok() ? ErrorCode{} : token.error().code;
    };
    for (int i = 0; i < 5; ++i) {
        EXPECT_EQ(made("mugs"), ErrorCode{});
        EXPECT_EQ(made("cups"), ErrorCode{});
    }
    for (int i = 0; i < 3; ++i) {
        EXPECT_EQ(made(""), ErrorCode{});
    }
    EXPECT_EQ(made(""), ErrorCode::kLimit);
    EXPECT_EQ(made("cups"), ErrorCode::kLimit);
    auto reader = RegistryReader::open(store_.paths(), key_);
    ASSERT_TRUE(reader.ok());
    EXPECT_EQ((*reader)->signing_tokens_max(), kActiveTokensMax);
}

TEST_F(RegistryTest, TheLimitOfActiveTokensNamesItsScope) {
    ASSERT_TRUE(account("a").ok());
    for (const auto& [scope, name] :
         {std::pair{kWriteOrders, "write_orders"}, std::pair{kWriteProducts, "write_products"},
          std::pair{kReadOrders, "read_orders"}, std::pair{kReadLedger, "read_ledger"}}) {
        for (int i = 0; i < 8; ++i) {
            ASSERT_TRUE(token("a", scope).ok());
        }
        const auto refused = token("a", scope);
        ASSERT_FALSE(refused.ok());
        EXPECT_EQ(refused.error().code, ErrorCode::kLimit);
        EXPECT_THAT(refused.error().message, HasSubstr(name));
    }
}

TEST_F(RegistryTest, TokensAreListedByAccount) {
    ASSERT_TRUE(account("a").ok());
    ASSERT_TRUE(account("b").ok());
    const auto mine = token("a", kWriteOrders);
    ASSERT_TRUE(token("b", kWriteOrders).ok());
    ASSERT_EQ(registry_->tokens(AccountId("a"))->size(), 1U);
    EXPECT_EQ((*registry_->tokens(AccountId("a")))[0].token_id, mine->token_id);
    EXPECT_EQ(registry_->tokens(AccountId("nobody")).error().code, ErrorCode::kNotFound);
}

/// The states of a rotation that can be interrupted: the file holds both keys, and the registry
/// still has the old one, or has the new one.
TEST_F(RegistryTest, OfTwoKeysInTheFileTheOneInForceIsUsed) {
    ASSERT_TRUE(account("a").ok());
    ASSERT_TRUE(token("a", kWriteOrders).ok());
    const fs::path file = store_.paths().master_key;
    const MasterKey next = MasterKey::random();
    ASSERT_TRUE(key_.overwrite(file, &next).ok());
    const MasterKey both = *MasterKey::load(file);
    for (const MasterKey& in_force : {key_, next}) {
        ASSERT_TRUE(registry_->key_in_force(both).ok());
        EXPECT_TRUE(registry_->check_key(*registry_->key_in_force(both)).ok());
        const auto made =
            registry_->create_token({AccountId("a"), kReadOrders, {}, {}}, both, kMade);
        ASSERT_TRUE(made.ok());
        EXPECT_TRUE(RegistryReader::open(store_.paths(), both).ok());
        ASSERT_TRUE(registry_->rotate_key(in_force, next).ok());  // opens every secret
    }
}

TEST_F(RegistryTest, AnInterruptedRotationToAGivenKeyIsFinishedAndThenDone) {
    ASSERT_TRUE(account("a").ok());
    ASSERT_TRUE(token("a", kWriteOrders).ok());
    const fs::path file = store_.paths().master_key;
    const MasterKey interrupted = MasterKey::random();
    ASSERT_TRUE(key_.overwrite(file, &interrupted).ok());
    ASSERT_TRUE(registry_->rotate_key(key_, interrupted).ok());
    const MasterKey given = MasterKey::random();
    ASSERT_TRUE(rotate_master_key(file, *registry_, given).ok());
    EXPECT_TRUE(registry_->check_key(given).ok());
    EXPECT_TRUE(registry_->check_key(*MasterKey::load(file)).ok());
    EXPECT_FALSE(MasterKey::load(file)->next());
}

TEST_F(RegistryTest, RotatingTheMasterKeySealsEverySecretAgain) {
    ASSERT_TRUE(account("a").ok());
    ASSERT_TRUE(token("a", kWriteOrders).ok());
    const std::string before = read_text(store_.paths().master_key);
    ASSERT_TRUE(rotate_master_key(store_.paths().master_key, *registry_).ok());
    EXPECT_NE(read_text(store_.paths().master_key), before);
    EXPECT_FALSE(registry_->check_key(key_).ok());
    EXPECT_TRUE(registry_->check_key(*MasterKey::load(store_.paths().master_key)).ok());
    EXPECT_FALSE(MasterKey::load(store_.paths().master_key)->next());
}

TEST_F(RegistryTest, AnInterruptedRotationIsFinishedByTheNext) {
    ASSERT_TRUE(account("a").ok());
    ASSERT_TRUE(token("a", kWriteOrders).ok());
    const fs::path file = store_.paths().master_key;
    // Killed before the transaction: the second key is worth nothing, and another one follows.
    const MasterKey lost = MasterKey::random();
    ASSERT_TRUE(key_.overwrite(file, &lost).ok());
    ASSERT_TRUE(rotate_master_key(file, *registry_).ok());
    EXPECT_FALSE(registry_->check_key(lost).ok());
    EXPECT_FALSE(registry_->check_key(key_).ok());
    // Killed behind the transaction: the second key is the one.
    const MasterKey current = *MasterKey::load(file);
    const MasterKey next = MasterKey::random();
    ASSERT_TRUE(current.overwrite(file, &next).ok());
    ASSERT_TRUE(registry_->rotate_key(current, next).ok());
    ASSERT_TRUE(rotate_master_key(file, *registry_).ok());
    EXPECT_TRUE(registry_->check_key(next).ok());
    EXPECT_TRUE(registry_->check_key(*MasterKey::load(file)).ok());
    EXPECT_FALSE(MasterKey::load(file)->next());
}

TEST_F(RegistryTest, AKeyFileThatCannotBeWrittenIsFoundOutBeforeAnythingChanges) {
    const fs::path elsewhere = store_.paths().root / "elsewhere.key";
    fs::rename(store_.paths().master_key, elsewhere);
    fs::create_symlink("/proc/self/comm", store_.paths().master_key);
    EXPECT_FALSE(rotate_master_key(store_.paths().master_key, *registry_).ok());
    EXPECT_TRUE(registry_->check_key(key_).ok());
    fs::remove(store_.paths().master_key);
    fs::create_symlink(elsewhere, store_.paths().master_key);
    const Status linked = rotate_master_key(store_.paths().master_key, *registry_);
    EXPECT_THAT(linked.error().message, HasSubstr("is a symbolic link"));
    EXPECT_TRUE(registry_->check_key(*MasterKey::load(elsewhere)).ok());
}

TEST_F(RegistryTest, RotationWithAForeignKeyChangesNothing) {
    ASSERT_TRUE(account("a").ok());
    EXPECT_EQ(registry_->rotate_key(MasterKey::random(), MasterKey::random()).error().code,
              ErrorCode::kCorrupt);
    EXPECT_TRUE(registry_->check_key(key_).ok());
}

TEST_F(RegistryTest, ANewerStoreIsNotWritten) {
    StoreFormat format = *read_store_format(store_.paths());
    format.min_writer = kStoreFormat + 1;
    ASSERT_TRUE(write_store_format(store_.paths(), format).ok());
    registry_.reset();
    EXPECT_EQ(Registry::open(store_.paths(), Registry::Mode::kReadWrite).error().code,
              ErrorCode::kUnsupported);
    EXPECT_TRUE(Registry::open(store_.paths(), Registry::Mode::kReadOnly).ok());
}

TEST_F(RegistryTest, DamageIsAnErrorThatNamesThePath) {
    registry_.reset();
    const fs::path data = store_.paths().registry / "data.mdb";
    const std::string good = read_text(data);
    for (const std::string& bad :
         {std::string(), good.substr(0, good.size() / 2), std::string(good.size(), '\xAA')}) {
        write_text(data, bad);
        const auto opened = Registry::open(store_.paths(), Registry::Mode::kReadWrite);
        ASSERT_FALSE(opened.ok());
        EXPECT_EQ(opened.error().code, ErrorCode::kCorrupt);
        EXPECT_THAT(opened.error().message, HasSubstr(store_.paths().registry.string()));
    }
    fs::remove(data);
    EXPECT_EQ(Registry::open(store_.paths(), Registry::Mode::kReadWrite).error().code,
              ErrorCode::kCorrupt);
    EXPECT_FALSE(fs::exists(data));
}

}  // namespace
}  // namespace sluice::store
