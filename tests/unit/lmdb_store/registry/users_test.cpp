// Users and bearers, as `sluice serve` looks them up: in the published copy, on each request.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/intake/registry_view.hpp"
#include "lmdb_store/registry/published.hpp"
#include "lmdb_store/registry/registry.hpp"
#include "unit/lmdb_store/temp_store.hpp"

namespace sluice::store {
namespace {

namespace fs = std::filesystem;

class UsersTest : public testing::Test {
protected:
    void SetUp() override {
        writer_ = open(Registry::Mode::kReadWrite);
        ASSERT_TRUE(writer_->create_account(AccountId("acme"), std::nullopt, kMade).ok());
        ASSERT_TRUE(writer_->create_account(AccountId("beta"), std::nullopt, kMade).ok());
        copy_ = open(Registry::Mode::kPublished);
    }

    std::unique_ptr<Registry> open(Registry::Mode mode) {
        auto opened = Registry::open(store_.paths(), mode);
        EXPECT_TRUE(opened.ok()) << opened.error().message;
        return std::move(*opened);
    }

    /// Returns the accounts of gina with her roles, as a reader of the copy sees them.
    std::string seen() {
        const auto accounts = copy_->accounts_of("gina");
        EXPECT_TRUE(accounts.ok()) << accounts.error().message;
        std::string text;
        for (const UserAccount& own : *accounts) {
            text += own.account.account_id.str() + (own.role == Role::kManager ? " manages " : " ");
        }
        return text;
    }

    TempStore store_{{std::nullopt, 3}};
    std::unique_ptr<Registry> writer_, copy_;
};

TEST_F(UsersTest, AReaderOfTheCopySeesEachChangeOfAUserOnItsNextRead) {
    EXPECT_EQ(seen(), "");
    ASSERT_TRUE(writer_->add_user("Gina", AccountId("acme"), Role::kManager, kMade).ok());
    EXPECT_EQ(seen(), "acme manages ");
    ASSERT_TRUE(writer_->add_user("gina", AccountId("beta"), Role::kViewer, kMade).ok());
    EXPECT_EQ(seen(), "acme manages beta ");
    ASSERT_TRUE(writer_->add_user("gina", AccountId("acme"), Role::kViewer, kMade).ok());
    EXPECT_EQ(seen(), "acme beta ");
    ASSERT_TRUE(writer_->remove_user("gina", AccountId("acme"), kMade).ok());
    EXPECT_EQ(seen(), "beta ");
}

TEST_F(UsersTest, AReaderOfTheCopySeesARevocationOnItsNextRead) {
    const auto made = writer_->create_token({AccountId("acme"), kReadOrders | kReadLedger, {}, {}},
                                            *MasterKey::load(store_.paths().master_key), kMade);
    ASSERT_TRUE(made.ok());
    const auto before = copy_->bearer(made->secret);
    ASSERT_TRUE(before.ok() && before->has_value());
    EXPECT_FALSE((*before)->token.revoked_at);
    ASSERT_TRUE(writer_->revoke_token(made->token_id, kMade).ok());
    const auto after = copy_->bearer(made->secret);
    ASSERT_TRUE(after.ok() && after->has_value());
    EXPECT_EQ((*after)->token.revoked_at, kMade);
}

TEST_F(UsersTest, AReaderOfTheCopyFollowsARestoreThatReplacesThePage) {
    ASSERT_TRUE(writer_->add_user("gina", AccountId("acme"), Role::kViewer, kMade).ok());
    EXPECT_EQ(seen(), "acme ");
    const fs::path page = generation_file(store_.paths());
    fs::copy_file(page, page.string() + ".new");
    fs::rename(page.string() + ".new", page);
    ASSERT_TRUE(writer_->remove_user("gina", AccountId("acme"), kMade).ok());
    EXPECT_EQ(seen(), "");
}

TEST_F(UsersTest, AReaderOfADamagedCopyReportsItInsteadOfAnOldAnswer) {
    ASSERT_TRUE(writer_->add_user("gina", AccountId("acme"), Role::kViewer, kMade).ok());
    EXPECT_EQ(seen(), "acme ");
    const std::string old = published_file(store_.paths()).string() + ".old";
    fs::copy_file(published_file(store_.paths()), old);
    ASSERT_TRUE(writer_->remove_user("gina", AccountId("acme"), kMade).ok());
    fs::rename(old, published_file(store_.paths()));
    EXPECT_EQ(copy_->accounts_of("gina").error().code, ErrorCode::kCorrupt);
}

TEST_F(UsersTest, NamesAreComparedInLowerCaseAndHaveNoControlCharacters) {
    EXPECT_EQ(user_name("GINA@Acme.Example"), "gina@acme.example");
    EXPECT_EQ(user_name("\xC3\x84"), "\xC3\x84") << "only ASCII has a lower case here";
    EXPECT_EQ(user_name(std::string(254, 'x')), std::string(254, 'x'));
    for (const std::string& name : {std::string(), std::string(255, 'x'), std::string("a\nb"),
                                    std::string("a\x7f"), std::string("a\0b", 3)}) {
        EXPECT_EQ(user_name(name), std::nullopt);
        EXPECT_EQ(writer_->add_user(name, AccountId("acme"), Role::kViewer, kMade).error().code,
                  ErrorCode::kInvalid);
    }
    EXPECT_EQ(writer_->add_user("x", AccountId("gamma"), Role::kViewer, kMade).error().code,
              ErrorCode::kNotFound);
    EXPECT_EQ(writer_->remove_user("x", AccountId("acme"), kMade).error().code,
              ErrorCode::kNotFound);
}

}  // namespace
}  // namespace sluice::store
