// Page tokens as a server checks them (creators CE4): each of the conditions alone refuses one.
#include "serve/creators/page_tokens.hpp"

#include <gtest/gtest.h>

#include "core/intake/registry_view.hpp"
#include "unit/lmdb_store/temp_store.hpp"

namespace sluice::serve {
namespace {

constexpr Timestamp kNow{1'772'355'600, 500'000'000};
const AccountId kAcmeId("acme"), kBetaId("beta");

class PageTokensTest : public testing::Test {
protected:
    void SetUp() override {
        auto opened = store::Registry::open(store_.paths(), store::Registry::Mode::kReadWrite);
        ASSERT_TRUE(opened.ok()) << opened.error().message;
        registry_ = std::move(*opened);
        key_ = *store::MasterKey::load(store_.paths().master_key);
        ASSERT_TRUE(registry_->create_account(kAcmeId, std::nullopt, kNow).ok());
        ASSERT_TRUE(registry_->create_account(kBetaId, std::nullopt, kNow).ok());
        made_ = create(kAcmeId, kCreatorPages);
        ASSERT_TRUE(tokens_.open().ok());
    }

    store::NewToken create(const AccountId& account, unsigned scopes,
                           std::optional<Timestamp> expires = {}) {
        auto made = registry_->create_token(
            {account, static_cast<std::uint8_t>(scopes), expires, {}}, key_, kNow);
        EXPECT_TRUE(made.ok()) << made.error().message;
        return *made;
    }

    [[nodiscard]] static PageToken for_ann(const store::NewToken& by) {
        return {by.token_id, CreatorId("ann"), kNow.seconds, kNow.seconds + 900,
                "9f3c21d0a4b7e655"};
    }
    [[nodiscard]] static std::string header(const store::NewToken& by, const PageToken& token) {
        return "Bearer " + PageSigner(by.secret).sign(token);
    }
    [[nodiscard]] std::string header() const { return header(made_, for_ann(made_)); }

    /// Returns `ann of 1`, or why the token is refused.
    std::string found(const std::optional<std::string>& header, const AccountId& account = kAcmeId,
                      Timestamp now = kNow) {
        const auto answer = tokens_.find(header, account, now);
        if (!answer.ok()) {
            return answer.error().message;
        }
        if (const auto* const refused = std::get_if<PageRefusal>(&*answer)) {
            return std::string(to_string(*refused));
        }
        const CreatorScope& scope = std::get<PageCaller>(*answer).scope;
        return scope.creator().str() + " of " + std::to_string(scope.account().value);
    }

    store::TempStore store_{{std::nullopt, 3}};
    std::unique_ptr<store::Registry> registry_;
    store::MasterKey key_;
    store::NewToken made_;
    PageTokens tokens_{store_.paths()};
};

TEST_F(PageTokensTest, ATokenNamesItsCreatorAndTheAccountOfItsRow) {
    EXPECT_EQ(found(header()), "ann of 1");
    const auto answer = tokens_.find(header(), kAcmeId, kNow);
    EXPECT_EQ(std::get<PageCaller>(*answer).logged, "ann/9f3c21d0a4b7e655");
}

TEST_F(PageTokensTest, AnyOtherTextIsRefused) {
    EXPECT_EQ(found(std::nullopt), "missing");
    EXPECT_EQ(found("Basic YTpi"), "missing");
    EXPECT_EQ(found("Bearer " + made_.secret), "malformed") << "an API token";
    EXPECT_EQ(found(header() + "A"), "malformed");
    EXPECT_EQ(found(header().substr(0, header().size() - 3)), "malformed");
}

TEST_F(PageTokensTest, OnlyTheSecretOfTheNamedTokenSigns) {
    const store::NewToken other = create(kAcmeId, kCreatorPages);
    EXPECT_EQ(found(header(other, for_ann(made_))), "signature");
    EXPECT_EQ(found(header(made_, for_ann(other))), "signature");
    EXPECT_EQ(found(header(other, for_ann(other))), "ann of 1");
}

TEST_F(PageTokensTest, ATokenWithoutTheScopeHasNoPages) {
    const store::NewToken reader = create(kAcmeId, kReadOrders | kReadLedger);
    EXPECT_EQ(found(header(reader, for_ann(reader))), "unknown");
    store::NewToken nobodys = made_;
    nobodys.token_id = TokenId("tok_none");
    EXPECT_EQ(found(header(nobodys, for_ann(nobodys))), "unknown");
}

TEST_F(PageTokensTest, Example1TheTokenOf15MinutesIsRefusedAfter16) {
    EXPECT_EQ(found(header(), kAcmeId, kNow.plus_seconds(899)), "ann of 1");
    EXPECT_EQ(found(header(), kAcmeId, kNow.plus_seconds(900)), "time");
    EXPECT_EQ(found(header(), kAcmeId, kNow.plus_seconds(960)), "time");
    EXPECT_EQ(found(header(), kAcmeId, kNow.plus_seconds(-60)), "ann of 1");
    EXPECT_EQ(found(header(), kAcmeId, kNow.plus_seconds(-61)), "time");
}

TEST_F(PageTokensTest, ATokenForMoreThanAnHourIsRefusedWhoeverSignedIt) {
    PageToken token = for_ann(made_);
    token.expires = token.issued + 3601;
    EXPECT_EQ(found(header(made_, token)), "time");
}

TEST_F(PageTokensTest, ARevokedTokenEndsItsPageTokensAtOnceAlsoRememberedOnes) {
    EXPECT_EQ(found(header()), "ann of 1");
    ASSERT_TRUE(registry_->revoke_token(made_.token_id, kNow).ok());
    EXPECT_EQ(found(header()), "inactive");
}

TEST_F(PageTokensTest, AnExpiredTokenEndsItsPageTokens) {
    const store::NewToken brief = create(kAcmeId, kCreatorPages, kNow.plus_seconds(60));
    EXPECT_EQ(found(header(brief, for_ann(brief)), kAcmeId, kNow.plus_seconds(59)), "ann of 1");
    EXPECT_EQ(found(header(brief, for_ann(brief)), kAcmeId, kNow.plus_seconds(60)), "inactive");
}

TEST_F(PageTokensTest, ASuspendedAccountHasNoPages) {
    ASSERT_TRUE(registry_->suspend_account(kAcmeId, true).ok());
    EXPECT_EQ(found(header()), "inactive");
    ASSERT_TRUE(registry_->suspend_account(kAcmeId, false).ok());
    EXPECT_EQ(found(header()), "ann of 1");
}

TEST_F(PageTokensTest, ATokenOfBetaIsRefusedOnThePathOfAcme) {
    const store::NewToken betas = create(kBetaId, kCreatorPages);
    EXPECT_EQ(found(header(betas, for_ann(betas)), kAcmeId), "account");
    EXPECT_EQ(found(header(betas, for_ann(betas)), kBetaId), "ann of 2");
}

TEST_F(PageTokensTest, MoreTokensThanItRemembersAreAllVerified) {
    PageToken token = for_ann(made_);
    const PageSigner signer(made_.secret);
    for (int i = 0; i < 5000; ++i) {
        token.expires = token.issued + 1 + i % 3600;
        token.creator = CreatorId("c" + std::to_string(i));
        ASSERT_EQ(found("Bearer " + signer.sign(token)), "c" + std::to_string(i) + " of 1");
    }
    EXPECT_EQ(found(header()), "ann of 1");
}

}  // namespace
}  // namespace sluice::serve
