// A registry that follows another store's: what a merge takes over, and what it never does.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <functional>

#include "core/intake/registry_view.hpp"
#include "lmdb_store/environment/table_access.hpp"
#include "lmdb_store/registry/exchange.hpp"
#include "lmdb_store/registry/reader.hpp"
#include "lmdb_store/registry/registry.hpp"
#include "lmdb_store/registry/tables.hpp"
#include "unit/lmdb_store/temp_store.hpp"

namespace sluice::store {
namespace {

using ::testing::HasSubstr;

constexpr Timestamp kLater{1'700'000'100, 0};

MasterKey key_of(const TempStore& store) {
    auto key = MasterKey::load(store.paths().master_key);
    EXPECT_TRUE(key.ok());
    return *key;
}

std::unique_ptr<Registry> open_registry(const TempStore& store) {
    auto opened = Registry::open(store.paths(), Registry::Mode::kReadWrite);
    EXPECT_TRUE(opened.ok()) << opened.error().message;
    return std::move(*opened);
}

/// "account acme added" and so on, in order.
std::vector<std::string> words(const Result<std::vector<RegistryChange>>& changes) {
    std::vector<std::string> lines;
    if (!changes.ok()) {
        return {changes.error().message};
    }
    for (const RegistryChange& change : *changes) {
        lines.push_back(std::string(change.kind) + " " + change.id + " " + change.change);
    }
    return lines;
}

class RegistryMergeTest : public testing::Test {
protected:
    void SetUp() override {
        source_ = open_registry(source_store_);
        edge_ = open_registry(edge_store_);
        key_ = key_of(source_store_);
        ASSERT_TRUE(source_->create_account(AccountId("acme"), std::nullopt, kNow).ok());
        ASSERT_TRUE(source_->create_account(AccountId("beta"), RateLimit{5, 60}, kNow).ok());
        ASSERT_TRUE(source_->create_shop(ShopId("shop-1"), AccountId("acme"), kNow).ok());
        auto token = source_->create_token({AccountId("acme"), kWriteOrders, {}, {}}, key_, kNow);
        ASSERT_TRUE(token.ok());
        token_ = token->token_id;
    }

    RegistrySnapshot snapshot() {
        auto made = source_->snapshot(kNow);
        EXPECT_TRUE(made.ok()) << made.error().message;
        return *made;
    }
    Result<std::vector<RegistryChange>> merge(MergeFrom from = MergeFrom::kSameSource) {
        return edge_->merge(snapshot(), key_, from);
    }
    std::optional<Timestamp> revoked_here() { return (*edge_->tokens(std::nullopt))[0].revoked_at; }

    TempStore source_store_{{std::nullopt, 3}};
    TempStore edge_store_{{std::nullopt, 2}};
    std::unique_ptr<Registry> source_, edge_;
    MasterKey key_;
    TokenId token_;
};

TEST_F(RegistryMergeTest, ANewStoreTakesOverRowsNumbersAndKey) {
    EXPECT_EQ(words(merge()),
              (std::vector<std::string>{"account acme added", "account beta added",
                                        "shop shop-1 added", "token " + token_.str() + " added"}));
    const auto accounts = edge_->accounts();
    EXPECT_EQ((*accounts)[0].number.value, 1U);
    EXPECT_EQ((*accounts)[0].slot.value, 0U);
    EXPECT_EQ((*accounts)[1].number.value, 2U);
    EXPECT_EQ((*accounts)[1].rate_limit, (RateLimit{5, 60}));
    EXPECT_EQ((*edge_->shop(ShopId("shop-1")))->number.value, 1U);
    EXPECT_TRUE(edge_->check_key(key_).ok());
    EXPECT_EQ((*edge_->followed())->number, snapshot().revision.number);
}

TEST_F(RegistryMergeTest, TheSameAgainChangesNothingNotEvenTheFile) {
    ASSERT_TRUE(merge().ok());
    const auto before = edge_->followed();
    EXPECT_TRUE(merge()->empty());
    EXPECT_EQ(**edge_->followed(), **before);
}

TEST_F(RegistryMergeTest, ChangesArriveAndARevokedTokenStaysRevoked) {
    ASSERT_TRUE(merge().ok());
    ASSERT_TRUE(source_->suspend_account(AccountId("acme"), true).ok());
    ASSERT_TRUE(source_->suspend_shop(ShopId("shop-1"), true).ok());
    ASSERT_TRUE(source_->set_rate_limit(AccountId("beta"), std::nullopt).ok());
    const RegistrySnapshot before = snapshot();
    ASSERT_TRUE(source_->revoke_token(token_, kLater).ok());
    EXPECT_EQ(words(merge()), (std::vector<std::string>{
                                  "account acme suspended", "account beta rate limit default",
                                  "shop shop-1 suspended", "token " + token_.str() + " revoked"}));
    EXPECT_EQ(revoked_here(), kLater);
    // An older state may be forced on the rest, never on this.
    EXPECT_TRUE(edge_->merge(before, key_, MergeFrom::kAny).ok());
    EXPECT_EQ(revoked_here(), kLater);
}

TEST_F(RegistryMergeTest, ATokenRevokedHereStaysRevoked) {
    ASSERT_TRUE(merge().ok());
    ASSERT_TRUE(edge_->revoke_token(token_, kLater).ok());
    ASSERT_TRUE(source_->suspend_account(AccountId("acme"), true).ok());
    EXPECT_EQ(words(merge()), (std::vector<std::string>{"account acme suspended"}));
    EXPECT_EQ(revoked_here(), kLater);
}

TEST_F(RegistryMergeTest, AFollowerRefusesChangesOfItsOwnUntilItIsDetached) {
    ASSERT_TRUE(merge().ok());
    const auto refused = [&](const Status& status) {
        ASSERT_FALSE(status.ok());
        EXPECT_EQ(status.error().code, ErrorCode::kConflict);
        EXPECT_THAT(status.error().message, HasSubstr("sluice registry detach"));
    };
    refused(edge_->create_account(AccountId("mine"), std::nullopt, kNow));
    refused(edge_->set_rate_limit(AccountId("acme"), std::nullopt));
    refused(edge_->suspend_account(AccountId("acme"), true));
    refused(edge_->create_shop(ShopId("mine"), AccountId("acme"), kNow));
    refused(edge_->suspend_shop(ShopId("shop-1"), true));
    const auto token = edge_->create_token({AccountId("acme"), kWriteOrders, {}, {}}, key_, kNow);
    EXPECT_FALSE(token.ok());
    EXPECT_FALSE(edge_->snapshot(kNow).ok());
    ASSERT_TRUE(edge_->detach().ok());
    EXPECT_FALSE(edge_->detach().ok());
    ASSERT_TRUE(edge_->create_shop(ShopId("mine"), AccountId("acme"), kNow).ok());
    EXPECT_EQ((*edge_->shop(ShopId("mine")))->number.value, 2U) << "behind the taken-over numbers";
}

TEST_F(RegistryMergeTest, AnotherKeyIsRefusedAndNothingChanges) {
    const auto refused = edge_->merge(snapshot(), key_of(edge_store_), MergeFrom::kSameSource);
    ASSERT_FALSE(refused.ok());
    EXPECT_THAT(refused.error().message, HasSubstr("another master key"));
    EXPECT_TRUE(edge_->accounts()->empty());
    EXPECT_TRUE(edge_->check_key(key_of(edge_store_)).ok());
}

TEST_F(RegistryMergeTest, AStoreWithTokensOfItsOwnKeyKeepsIt) {
    ASSERT_TRUE(edge_->create_account(AccountId("acme"), std::nullopt, kNow).ok());
    const MasterKey own = key_of(edge_store_);
    ASSERT_TRUE(edge_->create_token({AccountId("acme"), kWriteOrders, {}, {}}, own, kNow).ok());
    EXPECT_FALSE(merge().ok());
    EXPECT_TRUE(edge_->check_key(own).ok());
}

TEST_F(RegistryMergeTest, ANumberThatIsTakenUndoesAll) {
    ASSERT_TRUE(edge_->create_account(AccountId("beta"), std::nullopt, kNow).ok());  // number 1
    const auto refused = merge();
    ASSERT_FALSE(refused.ok());
    EXPECT_EQ(refused.error().code, ErrorCode::kConflict);
    EXPECT_EQ(edge_->accounts()->size(), 1U);
    EXPECT_TRUE(edge_->shops(std::nullopt)->empty());
    EXPECT_FALSE(edge_->followed()->has_value());
}

TEST_F(RegistryMergeTest, RegistriesWithDifferentCreationsAreNeverMixed) {
    ASSERT_TRUE(merge().ok());
    const RegistrySnapshot good = snapshot();
    const auto refused_with = [&](const std::function<void(RegistrySnapshot&)>& change,
                                  ErrorCode code, const char* words) {
        RegistrySnapshot changed = good;
        ++changed.revision.number;
        change(changed);
        const auto refused = edge_->merge(changed, key_, MergeFrom::kSameSource);
        ASSERT_FALSE(refused.ok()) << words;
        EXPECT_EQ(refused.error().code, code);
        EXPECT_THAT(refused.error().message, HasSubstr(words));
    };
    refused_with([](auto& from) { from.accounts[0].number = {7}; }, ErrorCode::kConflict,
                 "has the number 1 in this store and 7 in the other");
    refused_with([](auto& from) { from.shops[0].number = {7}; }, ErrorCode::kConflict,
                 "has the number 1 in this store and 7 in the other");
    refused_with([](auto& from) { from.shops[0].shop_id = ShopId("new"); }, ErrorCode::kConflict,
                 "has the number of shop \"shop-1\"");
    refused_with([](auto& from) { from.shops[0].account_id = AccountId("beta"); },
                 ErrorCode::kConflict, "belongs to account \"acme\"");
    refused_with(
        [](auto& from) {
            from.tokens[0].row.token_id = TokenId("new");
            from.tokens[0].row.account_id = AccountId("nobody");
        },
        ErrorCode::kCorrupt, "belongs to an account that is not among them");
    refused_with([](auto& from) { from.tokens[0].row.token_id = TokenId("new"); },
                 ErrorCode::kCorrupt, "");  // sealed for another id
    refused_with(
        [&](auto& from) {
            from.tokens[0].sealed_secret =
                key_.seal(*key_.open(from.tokens[0].sealed_secret, token_.view()), "new");
            from.tokens[0].row.token_id = TokenId("new");
        },
        ErrorCode::kConflict, "has the secret of token \"new\"");
    EXPECT_THAT(words(edge_->merge(good, key_, MergeFrom::kSameSource)), testing::IsEmpty())
        << "nothing of all that was taken over";
}

TEST_F(RegistryMergeTest, EveryChangeIsNamed) {
    ASSERT_TRUE(merge().ok());
    ASSERT_TRUE(source_->set_rate_limit(AccountId("acme"), RateLimit{7, 60}).ok());
    ASSERT_TRUE(source_->set_rate_limit(AccountId("beta"), std::nullopt).ok());
    ASSERT_TRUE(source_->suspend_shop(ShopId("shop-1"), true).ok());
    auto token = source_->create_token({AccountId("beta"), kReadOrders, {}, {}}, key_, kNow);
    ASSERT_TRUE(source_->revoke_token(token->token_id, kLater).ok());
    EXPECT_THAT(words(merge()),
                testing::ElementsAre("account acme rate limit 7/60",
                                     "account beta rate limit default", "shop shop-1 suspended",
                                     "token " + token->token_id.str() + " added, revoked"));
    ASSERT_TRUE(source_->suspend_shop(ShopId("shop-1"), false).ok());
    EXPECT_THAT(words(merge()), testing::ElementsAre("shop shop-1 resumed"));
}

TEST_F(RegistryMergeTest, MoreAccountsThanSlotsIsSaid) {
    ASSERT_TRUE(source_->create_account(AccountId("third"), std::nullopt, kNow).ok());
    const auto refused = merge();
    ASSERT_FALSE(refused.ok());
    EXPECT_THAT(refused.error().message, HasSubstr("sluice store set --max-accounts"));
    EXPECT_TRUE(edge_->accounts()->empty());
}

TEST_F(RegistryMergeTest, OlderStatesAndOtherSourcesNeedAWord) {
    const RegistrySnapshot older = snapshot();
    ASSERT_TRUE(source_->suspend_account(AccountId("beta"), true).ok());
    ASSERT_TRUE(merge().ok());
    auto refused = edge_->merge(older, key_, MergeFrom::kSameSource);
    ASSERT_FALSE(refused.ok());
    EXPECT_THAT(refused.error().message, HasSubstr("older"));
    RegistrySnapshot foreign = snapshot();
    foreign.revision.source = "00000000-0000-4000-8000-000000000000";
    refused = edge_->merge(foreign, key_, MergeFrom::kSameSource);
    ASSERT_FALSE(refused.ok());
    EXPECT_THAT(refused.error().message, HasSubstr("--force"));
    EXPECT_EQ(words(edge_->merge(older, key_, MergeFrom::kAny)),
              (std::vector<std::string>{"account beta resumed"}));
}

TEST_F(RegistryMergeTest, ARestoredSourceIsAForkHoweverFarItCounts) {
    const auto files = source_store_.paths().registry;
    const auto backup = files.parent_path() / "backup";
    source_.reset();
    std::filesystem::copy(files, backup);
    source_ = open_registry(source_store_);
    ASSERT_TRUE(source_->set_rate_limit(AccountId("acme"), RateLimit{1, 60}).ok());
    ASSERT_TRUE(merge().ok());
    const auto mark = edge_->followed();

    source_.reset();
    std::filesystem::remove_all(files);
    std::filesystem::rename(backup, files);
    source_ = open_registry(source_store_);
    ASSERT_TRUE(source_->revoke_token(token_, kLater).ok());
    ASSERT_EQ(snapshot().revision.number, (*mark)->number) << "another state, the same number";
    for (int more = 0; more < 2; ++more) {
        const auto refused = merge();
        ASSERT_FALSE(refused.ok()) << "revision " << snapshot().revision.number;
        EXPECT_EQ(refused.error().code, ErrorCode::kConflict);
        EXPECT_THAT(refused.error().message, HasSubstr("forked"));
        EXPECT_EQ(**edge_->followed(), **mark);
        ASSERT_TRUE(source_->suspend_account(AccountId("beta"), true).ok());
    }
    EXPECT_THAT(words(merge(MergeFrom::kAny)),
                ::testing::Contains("token " + token_.str() + " revoked"));
    ASSERT_TRUE(source_->suspend_account(AccountId("beta"), false).ok());
    EXPECT_EQ(words(merge()), (std::vector<std::string>{"account beta resumed"}));
}

TEST_F(RegistryMergeTest, EachChangeHasADigestOfItsOwn) {
    const RegistrySnapshot before = snapshot();
    EXPECT_EQ(snapshot().revision, before.revision);
    EXPECT_EQ(snapshot().history, before.history);
    EXPECT_EQ(before.revision.digest.size(), 32U);
    ASSERT_TRUE(source_->suspend_account(AccountId("beta"), true).ok());
    const RegistrySnapshot after = snapshot();
    EXPECT_EQ(after.history.size(), before.history.size() + 1);
    EXPECT_TRUE(descends_from(after, before.revision));
    EXPECT_TRUE(descends_from(after, after.revision));
    EXPECT_FALSE(descends_from(before, after.revision));
    RegistryRevision other = before.revision;
    other.digest[0] = static_cast<char>(other.digest[0] ^ 1);
    EXPECT_FALSE(descends_from(after, other));
    other.digest.clear();
    EXPECT_FALSE(descends_from(after, other)) << "a revision without its digest proves nothing";
    EXPECT_FALSE(descends_from(after, {"another", 1, {}}));
}

/// As in a restored copy, whose transactions are numbered otherwise.
TEST_F(RegistryMergeTest, ACommitWithoutARecordIsARevision) {
    const RegistrySnapshot before = snapshot();
    {
        auto tables = RegistryTables::open(source_store_.paths());
        ASSERT_TRUE(tables.ok());
        WriteTxn txn;
        ASSERT_EQ(txn.begin(*tables->environment), 0);
        put(txn, tables->main, "unrecorded", "x");
        ASSERT_EQ(txn.commit(), 0);
    }
    const RegistrySnapshot between = snapshot();
    EXPECT_GT(between.revision.number, before.revision.number);
    EXPECT_NE(between.revision.digest, before.revision.digest);
    ASSERT_TRUE(source_->suspend_account(AccountId("beta"), true).ok());
    EXPECT_TRUE(descends_from(snapshot(), between.revision));
    EXPECT_TRUE(descends_from(snapshot(), before.revision));
}

TEST_F(RegistryMergeTest, OwnRegistryIsNothingNewOrRefused) {
    const RegistrySnapshot own = snapshot();
    EXPECT_TRUE(source_->merge(own, key_, MergeFrom::kSameSource)->empty());
    EXPECT_FALSE(source_->followed()->has_value());
    ASSERT_TRUE(source_->suspend_account(AccountId("acme"), true).ok());
    EXPECT_FALSE(source_->merge(own, key_, MergeFrom::kSameSource).ok());
    EXPECT_TRUE((*source_->account(AccountId("acme")))->suspended);
}

TEST_F(RegistryMergeTest, PlatformsArriveAndShopsMayExchangeTheirDomains) {
    const auto set = [&](const std::string& id, const std::string& domain) {
        ASSERT_TRUE(source_
                        ->set_shop_source(ShopId(id),
                                          [&](ShopSource& to) {
                                              to = {Platform::kShopify, domain, {kNow, 7}};
                                          })
                        .ok());
    };
    const auto named = [&](const std::string& domain) {
        auto reader = RegistryReader::open(edge_store_.paths(), key_);
        EXPECT_TRUE(reader.ok());
        const auto shop = (*reader)->find_platform_shop(Platform::kShopify, domain);
        return shop != nullptr ? shop->shop_id.str() : "";
    };
    ASSERT_TRUE(source_->create_shop(ShopId("shop-2"), AccountId("beta"), kNow).ok());
    ASSERT_TRUE(merge().ok());
    set("shop-1", "one.example");
    set("shop-2", "two.example");
    const std::string seven = ", from " + kNow.to_string() + ", platform-shop 7";
    EXPECT_EQ(words(merge()), (std::vector<std::string>{
                                  "shop shop-1 platform shopify, domain one.example" + seven,
                                  "shop shop-2 platform shopify, domain two.example" + seven}));
    EXPECT_EQ((*edge_->shop(ShopId("shop-2")))->source, (*source_->shop(ShopId("shop-2")))->source);
    ASSERT_TRUE(key_.save(edge_store_.paths().master_key).ok());
    EXPECT_EQ(named("one.example"), "shop-1");
    set("shop-1", "three.example");
    set("shop-2", "one.example");
    set("shop-1", "two.example");
    EXPECT_EQ(words(merge()), (std::vector<std::string>{"shop shop-1 domain two.example",
                                                        "shop shop-2 domain one.example"}));
    EXPECT_EQ(named("two.example"), "shop-1");
    EXPECT_EQ(named("one.example"), "shop-2");
    EXPECT_EQ(named("three.example"), "");
}

TEST_F(RegistryMergeTest, TokensForWebhooksArriveWithTheirShopAndMayShareASecret) {
    const std::string secret = "the secret of an app";
    ASSERT_TRUE(
        source_
            ->create_token({AccountId("acme"), kShopifyWebhooks, {}, secret, ShopId("shop-1")},
                           key_, kNow)
            .ok());
    ASSERT_TRUE(
        source_->create_token({AccountId("beta"), kShopifyWebhooks, {}, secret}, key_, kNow).ok());
    ASSERT_TRUE(merge().ok());
    EXPECT_FALSE(edge_->bearer(secret)->has_value());
    std::vector<std::string> shops;
    const auto tokens = edge_->tokens(std::nullopt);
    for (const TokenRow& row : *tokens) {
        if (row.scopes == kShopifyWebhooks) {
            shops.push_back(row.account_id.str() + " " + row.shop_id.str());
        }
    }
    EXPECT_THAT(shops, testing::UnorderedElementsAre("acme shop-1", "beta "));
}

TEST_F(RegistryMergeTest, ATokenForPagesArrivesWithItsPublicKey) {
    const auto made = source_->create_token({AccountId("acme"), kCreatorPages, {}, {}}, key_, kNow);
    ASSERT_TRUE(made.ok() && merge().ok());
    const auto here = edge_->token(made->token_id);
    ASSERT_TRUE(here.ok() && here->has_value());
    EXPECT_EQ((*here)->page_key, PageSigner(made->secret).public_key());
}

TEST_F(RegistryMergeTest, AGivenKeyRotatesEveryNodeToTheSameOne) {
    ASSERT_TRUE(merge().ok());
    ASSERT_TRUE(key_.save(edge_store_.paths().master_key).ok());
    const MasterKey next = MasterKey::random();
    ASSERT_TRUE(rotate_master_key(source_store_.paths().master_key, *source_, next).ok());
    EXPECT_FALSE(edge_->merge(snapshot(), key_, MergeFrom::kSameSource).ok());
    ASSERT_TRUE(rotate_master_key(edge_store_.paths().master_key, *edge_, next).ok());
    EXPECT_TRUE(edge_->merge(snapshot(), key_of(edge_store_), MergeFrom::kSameSource).ok());
    EXPECT_TRUE(edge_->check_key(next).ok());
}

}  // namespace
}  // namespace sluice::store
