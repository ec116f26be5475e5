// A registry of which one row is damaged: a request that needs the row gets an error, and no token
// lets a request in.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>

#include "core/intake/registry_view.hpp"
#include "lmdb_store/environment/store_failure.hpp"
#include "lmdb_store/registry/exchange.hpp"
#include "lmdb_store/registry/publish.hpp"
#include "lmdb_store/registry/published.hpp"
#include "lmdb_store/registry/reader.hpp"
#include "lmdb_store/registry/registry.hpp"
#include "lmdb_store/registry/tables.hpp"
#include "unit/lmdb_store/ledger/raw_rows.hpp"
#include "unit/lmdb_store/temp_store.hpp"

namespace sluice::store {
namespace {

using testing::AllOf;
using testing::Contains;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::UnorderedElementsAre;

constexpr const char* kSecret = "a secret of 16 bytes or more";

class RegistryDamageTest : public testing::Test {
protected:
    void SetUp() override {
        key_ = *MasterKey::load(store_.paths().master_key);
        auto registry = open();
        ASSERT_TRUE(registry->create_account(acme_, RateLimit{5, 60}, kNow).ok());
        ASSERT_TRUE(registry->create_shop(shop_, acme_, kNow).ok());
        const TokenRequest request{acme_, kWriteOrders | kWriteProducts, {}, kSecret};
        token_ = registry->create_token(request, key_, kNow)->token_id;
        retired_ = registry->create_token({acme_, kWriteOrders, {}, {}}, key_, kNow)->token_id;
        ASSERT_TRUE(registry->revoke_token(retired_, kNow).ok());
    }
    /// Opens the registry, and publishes it as it is.
    std::unique_ptr<Registry> open() const {
        std::filesystem::remove(published_file(store_.paths()));
        auto opened = Registry::open(store_.paths(), Registry::Mode::kReadWrite);
        EXPECT_TRUE(opened.ok()) << opened.error().message;
        return std::move(*opened);
    }
    void publish() const {
        RegistryTables tables;  // open() would refuse them
        tables.environment =
            *Environment::open({.folder = store_.paths().registry, .map_bytes = kRegistryMapBytes});
        const std::array<const char*, 1> names = {"tokens"};
        ASSERT_TRUE(tables.environment->open_databases(names, {&tables.tokens, 1}, false).ok());
        EXPECT_TRUE(publish_registry(store_.paths(), tables).ok());
    }
    RawRows table(const char* name) const { return {store_.paths().registry, name}; }

    /// Lists the queries, of all possible ones, that fail with kCorrupt and the registry's path.
    std::vector<std::string> failing() const {
        std::vector<std::string> names;
        const auto note = [&](const char* name, const Status& status) {
            if (!status.ok()) {
                EXPECT_EQ(status.error().code, ErrorCode::kCorrupt) << status.error().message;
                EXPECT_THAT(status.error().message, HasSubstr(store_.paths().registry.string()));
                names.emplace_back(name);
            }
        };
        const auto registry = open();
        const auto status_of = [](const auto& result) {
            return result.ok() ? Status::success() : Status(result.error());
        };
        note("accounts", status_of(registry->accounts()));
        note("account", status_of(registry->account(acme_)));
        note("shops", status_of(registry->shops(std::nullopt)));
        note("shop", status_of(registry->shop(shop_)));
        note("tokens", status_of(registry->tokens(std::nullopt)));
        note("snapshot", status_of(registry->snapshot(kNow)));
        note("followed", status_of(registry->followed()));
        note("key", registry->check_key(key_));
        note_finds(note);
        return names;
    }
    /// Runs the queries of nginx.
    template <class Note>
    void note_finds(Note& note) const {
        auto reader = RegistryReader::open(store_.paths(), key_);
        if (!reader.ok()) {
            note("reader", Status(reader.error()));
            return;
        }
        const auto find = [&](const char* name, const std::function<void()>& action) {
            try {
                action();
            } catch (const StoreFailure& failure) {
                note(name, Status(failure.error()));
            }
        };
        find("find_shop", [&] { (void)(*reader)->find_shop(shop_.view()); });
        find("find_bearer", [&] { (void)(*reader)->find_bearer(kSecret); });
        find("find_account", [&] { (void)(*reader)->find_account({0}); });
        find("barred",
             [&] { EXPECT_LE((*reader)->find_barred_tokens({1}, kWriteOrders, 16).size(), 1U); });
    }
    std::vector<std::string> failing_with(const char* name, std::string_view key,
                                          std::string_view value) const {
        const RestoredFile restored(store_.paths().registry);
        table(name).put(key, value);
        return failing();
    }
    std::vector<std::string> failing_without(const char* name, std::string_view key) const {
        const RestoredFile restored(store_.paths().registry);
        table(name).remove(key);
        return failing();
    }

    const AccountId acme_{"acme"};
    const ShopId shop_{"shop-1"};
    TempStore store_;
    MasterKey key_;
    TokenId token_, retired_;
};

TEST_F(RegistryDamageTest, AnAccountsRow) {
    EXPECT_THAT(failing_with("accounts", "acme", "no row"),
                UnorderedElementsAre("accounts", "account", "snapshot", "find_shop", "find_bearer",
                                     "find_account"));
    EXPECT_THAT(failing_without("accounts", "acme"),
                UnorderedElementsAre("find_shop", "find_bearer", "find_account"));
}

TEST_F(RegistryDamageTest, AShopsRow) {
    EXPECT_THAT(failing_with("shops", "shop-1", "no row"),
                UnorderedElementsAre("shops", "shop", "snapshot", "find_shop"));
}

TEST_F(RegistryDamageTest, ATokensRow) {
    EXPECT_THAT(failing_with("tokens", token_.view(), "no row"),
                UnorderedElementsAre("tokens", "snapshot", "find_shop", "find_bearer"));
    EXPECT_THAT(failing_without("tokens", token_.view()),
                UnorderedElementsAre("find_shop", "find_bearer"));
    EXPECT_THAT(failing_with("tokens", retired_.view(), "no row"),
                UnorderedElementsAre("tokens", "snapshot"))
        << "a revoked token's row ends nobody's requests";
    EXPECT_THAT(failing_without("tokens", retired_.view()), IsEmpty());
}

TEST_F(RegistryDamageTest, ABearersRowOfAnotherTokenIsRefused) {
    const std::string digest = table("bearers").all().front().first;
    for (const auto& [key, value] : table("bearers").all()) {
        if (value == token_.view()) {
            EXPECT_THAT(failing_with("bearers", key, retired_.view()), Contains("find_bearer"));
            EXPECT_THAT(failing_with("bearers", key, "nobody"), Contains("find_bearer"));
        }
    }
}

TEST_F(RegistryDamageTest, DamagedSourceOfAFollowerIsAnError) {
    EXPECT_THAT(failing_with("", "follows", "12345678"),
                UnorderedElementsAre("followed", "snapshot"));
    const RestoredFile restored(store_.paths().registry);
    table("").put("follows", "12345678");
    EXPECT_EQ(open()->suspend_account(acme_, true).error().code, ErrorCode::kCorrupt);
}

TEST_F(RegistryDamageTest, TheMarkOfTheMasterKey) {
    EXPECT_THAT(failing_without("", "key_check"), UnorderedElementsAre("key", "reader"));
    EXPECT_THAT(failing_with("", "key_check", key_.seal("another text", "key_check")),
                UnorderedElementsAre("key", "reader"));
}

TEST_F(RegistryDamageTest, TheNextNumbersAreNeverTakenTwice) {
    for (const std::string& bad :
         {std::string("x"), std::string(4, '\0'), std::string(4, '\xff')}) {
        const RestoredFile restored(store_.paths().registry);
        table("").put("next_account", bad);
        table("").put("next_shop", bad);
        const auto registry = open();
        EXPECT_EQ(registry->create_account(AccountId("new"), {}, kNow).error().code,
                  ErrorCode::kCorrupt);
        EXPECT_EQ(registry->create_shop(ShopId("new"), acme_, kNow).error().code,
                  ErrorCode::kCorrupt);
        EXPECT_EQ(registry->accounts()->size(), 1U);
        EXPECT_EQ(registry->shops(std::nullopt)->size(), 1U);
    }
    table("").remove("next_account");
    EXPECT_EQ(open()->create_account(AccountId("new"), {}, kNow).error().code, ErrorCode::kCorrupt);
}

TEST_F(RegistryDamageTest, TheFormat) {
    const auto refused_with = [&](std::optional<std::string_view> format) {
        const RestoredFile restored(store_.paths().registry);
        format ? table("").put("format", *format) : table("").remove("format");
        publish();
        const auto opened = Registry::open(store_.paths(), Registry::Mode::kReadOnly);
        const auto reader = RegistryReader::open(store_.paths(), key_);
        EXPECT_FALSE(opened.ok() || reader.ok());
        EXPECT_EQ(opened.error().code, reader.error().code);
        return opened.error().code;
    };
    EXPECT_EQ(refused_with(std::nullopt), ErrorCode::kCorrupt);
    EXPECT_EQ(refused_with("x"), ErrorCode::kCorrupt);
    EXPECT_EQ(refused_with(std::string_view("\1\0\0\0", 4)), ErrorCode::kUnsupported);
    EXPECT_EQ(refused_with(std::string_view("\3\0\0\0", 4)), ErrorCode::kUnsupported);
}

TEST_F(RegistryDamageTest, AStoreWithoutItsFormatIsNotOpened) {
    std::filesystem::remove(store_.paths().format);
    EXPECT_EQ(Registry::open(store_.paths(), Registry::Mode::kReadOnly).error().code,
              ErrorCode::kNotFound);
    EXPECT_EQ(RegistryReader::open(store_.paths(), key_).error().code, ErrorCode::kNotFound);
}

/// The secret of another token does not open under this one's id: a row that was swapped.
TEST_F(RegistryDamageTest, ASecretThatDoesNotOpenEndsARotationBeforeAnythingChanges) {
    const std::string mine = table("tokens").all()[0].second;
    const std::string other = table("tokens").all()[1].second;
    table("tokens").put(table("tokens").all()[0].first, other);
    const auto registry = open();
    EXPECT_EQ(registry->rotate_key(key_, MasterKey::random()).error().code, ErrorCode::kCorrupt);
    EXPECT_TRUE(registry->check_key(key_).ok());
}

}  // namespace
}  // namespace sluice::store
