// The registry file: a written file is read back, and a file that the key did not seal is refused.
#include "tool/administration/registry_file.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/intake/registry_view.hpp"
#include "core/protocol/signature.hpp"

namespace sluice::cli {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

constexpr Timestamp kTime{1'700'000'000, 123'000'000};

store::RegistrySnapshot sample(const store::MasterKey& key) {
    store::RegistrySnapshot all;
    all.revision = {"0b5e7d0c-5e0a-4f5e-9b1c-3c2b1a000000", 42, std::string(32, 'd')};
    all.history = {{7, 0x1122334455667788}, {42, 0x6464646464646464}};
    all.exported_at = kTime;
    all.key_check = key.seal("sluice", "key_check");
    all.accounts = {{AccountId("acme"), {1}, {0}, std::nullopt, false, kTime},
                    {AccountId("beta+2"), {7}, {6}, RateLimit{5, 60}, true, kTime}};
    const SourceSettings settings{kTime, 548'380'009, true, true, true};
    all.shops = {{ShopId("shop@1"), {3}, AccountId("beta+2"), {7}, true, kTime},
                 {ShopId("mugs"),
                  {4},
                  AccountId("acme"),
                  {1},
                  false,
                  kTime,
                  {Platform::kShopify, "mugs.myshopify.com", settings}}};
    const auto token = [&](const std::string& id, std::uint8_t scopes, auto expires, auto revoked) {
        return store::SealedToken{{TokenId(id), AccountId("acme"), scopes, kTime, expires, revoked},
                                  key.seal("the secret of " + id, id)};
    };
    all.tokens = {token("tok_1", kWriteOrders | kReadOrders, std::optional(kTime), std::nullopt),
                  token("tok_2", kWriteProducts, std::nullopt, std::optional(kTime)),
                  token("tok_3", kShopifyWebhooks, std::nullopt, std::nullopt)};
    all.tokens[2].row.shop_id = ShopId("mugs");
    all.tokens[2].row.label = "the shop's backend";
    all.tokens[2].row.made_by = "eve";
    all.changes = {{all.revision.source, 9, kTime, {"eve", "a new shop"}, "shop create shop@1"}};
    return all;
}

TEST(RegistryFile, WrittenRegistryIsReadBack) {
    const store::MasterKey key = store::MasterKey::random();
    const store::RegistrySnapshot all = sample(key);
    const std::string text = encode_registry(all, key);
    const auto read = decode_registry(text, key);
    ASSERT_TRUE(read.ok()) << read.error().message;
    EXPECT_EQ(read->revision, all.revision);
    EXPECT_EQ(read->history, all.history);
    EXPECT_EQ(read->exported_at, kTime);
    ASSERT_EQ(read->accounts.size(), 2U);
    EXPECT_EQ(read->accounts[1].number.value, 7U);
    EXPECT_EQ(read->accounts[1].slot.value, 6U);
    EXPECT_EQ(read->accounts[1].rate_limit, (RateLimit{5, 60}));
    EXPECT_TRUE(read->accounts[1].suspended);
    EXPECT_FALSE(read->accounts[0].rate_limit.has_value());
    ASSERT_EQ(read->shops.size(), 2U);
    EXPECT_EQ(read->shops[0].account_number.value, 7U);
    EXPECT_EQ(read->shops[0].source, ShopSource());
    EXPECT_EQ(read->shops[1].source, all.shops[1].source);
    ASSERT_EQ(read->tokens.size(), 3U);
    EXPECT_EQ(read->tokens[2].row.scopes, kShopifyWebhooks);
    EXPECT_EQ(read->tokens[2].row.shop_id.view(), "mugs");
    EXPECT_EQ(read->tokens[2].row.label, "the shop's backend");
    EXPECT_EQ(read->tokens[2].row.made_by, "eve");
    EXPECT_TRUE(read->tokens[0].row.shop_id.empty());
    EXPECT_TRUE(read->tokens[0].row.label.empty());
    EXPECT_EQ(read->tokens[0].row.scopes, kWriteOrders | kReadOrders);
    EXPECT_EQ(read->tokens[0].row.expires_at, kTime);
    EXPECT_EQ(read->tokens[1].row.revoked_at, kTime);
    EXPECT_EQ(read->tokens[1].sealed_secret, all.tokens[1].sealed_secret);
    ASSERT_EQ(read->changes.size(), 1U);
    EXPECT_EQ(read->changes[0].store, all.revision.source);
    EXPECT_EQ(read->changes[0].number, 9U);
    EXPECT_EQ(read->changes[0].at, kTime);
    EXPECT_EQ(read->changes[0].author.actor, "eve");
    EXPECT_EQ(read->changes[0].author.reason, "a new shop");
    EXPECT_EQ(read->changes[0].change, "shop create shop@1");
}

TEST(RegistryFile, HoldsNoSecret) {
    const store::MasterKey key = store::MasterKey::random();
    EXPECT_THAT(encode_registry(sample(key), key), Not(HasSubstr("the secret of")));
}

TEST(RegistryFile, AnotherKeyIsDistinguishedFromDamage) {
    const store::MasterKey key = store::MasterKey::random();
    const auto refused =
        decode_registry(encode_registry(sample(key), key), store::MasterKey::random());
    ASSERT_FALSE(refused.ok());
    EXPECT_EQ(refused.error().code, ErrorCode::kInvalid);
    EXPECT_THAT(refused.error().message, HasSubstr("another master key"));
}

TEST(RegistryFile, EveryChangedByteIsFound) {
    const store::MasterKey key = store::MasterKey::random();
    const std::string text = encode_registry(sample(key), key);
    for (std::size_t i = 0; i < text.size(); ++i) {
        std::string changed = text;
        changed[i] = static_cast<char>(changed[i] ^ 1);
        EXPECT_FALSE(decode_registry(changed, key).ok()) << "byte " << i << " of\n" << text;
    }
}

TEST(RegistryFile, EveryCutIsFound) {
    const store::MasterKey key = store::MasterKey::random();
    const std::string text = encode_registry(sample(key), key);
    for (std::size_t bytes = 0; bytes < text.size(); ++bytes) {
        EXPECT_FALSE(decode_registry(text.substr(0, bytes), key).ok()) << bytes;
    }
    EXPECT_FALSE(decode_registry(text + text, key).ok());
    EXPECT_FALSE(decode_registry(text + "\n", key).ok());
}

TEST(RegistryFile, ALineOfAnotherFileIsFound) {
    const store::MasterKey key = store::MasterKey::random();
    store::RegistrySnapshot all = sample(key);
    const std::string before = encode_registry(all, key);
    all.tokens[0].row.revoked_at = kTime;
    std::string after = encode_registry(all, key);
    const auto line = [](const std::string& text) {
        const std::size_t at = text.find("{\"token\":\"tok_1\"");
        return std::pair(at, text.find('\n', at) - at);
    };
    const auto [at, bytes] = line(after);
    after.replace(at, bytes, before.substr(line(before).first, line(before).second));
    const auto refused = decode_registry(after, key);
    ASSERT_FALSE(refused.ok());
    EXPECT_EQ(refused.error().code, ErrorCode::kCorrupt);
}

TEST(RegistryFile, ANewerVersionAndOtherFilesAreNamed) {
    const store::MasterKey key = store::MasterKey::random();
    const auto newer = decode_registry("{\"format\":\"sluice-registry\",\"version\":6}\n", key);
    EXPECT_EQ(newer.error().code, ErrorCode::kUnsupported);
    const auto older = decode_registry("{\"format\":\"sluice-registry\",\"version\":4}\n", key);
    EXPECT_EQ(older.error().code, ErrorCode::kUnsupported);
    EXPECT_NE(older.error().message.find("export the registry again"), std::string::npos);
    for (const char* text : {"", "\n", "[]\n", "{}\n", "hello", "{\"format\":\"other\"}\n"}) {
        const auto other = decode_registry(text, key);
        ASSERT_FALSE(other.ok()) << text;
        EXPECT_EQ(other.error().code, ErrorCode::kInvalid) << text;
    }
}

}  // namespace
}  // namespace sluice::cli
