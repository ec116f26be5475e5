#include "core/intake/diagnosis.hpp"

#include <gtest/gtest.h>

#include <cctype>

#include "unit/core/intake/intake_fixture.hpp"

namespace sluice {
namespace {

using test::base64;
using test::kNow;
using test::signature_of;
using test::World;

constexpr std::string_view kSigned = "{\"a\": 1,\n \"b\": \"x y\"}\n";

std::string_view diagnose(World& world, const std::string& signature,
                          std::string_view body = kSigned) {
    const ShopView* shop = world.registry.shops["shop-1"].get();
    return diagnose_signature({signature, 1}, body, shop, world.registry.retired, kWriteOrders,
                              kNow);
}

std::string_view diagnose(const std::string& signature, std::string_view body = kSigned) {
    World world;
    return diagnose(world, signature, body);
}

TEST(DiagnosisRules, NamesHowTheDigestWasWritten) {
    const std::string right = signature_of(kSigned);
    std::string upper = right;
    for (char& c : upper) {
        c = static_cast<char>(std::toupper(c));
    }
    EXPECT_EQ(diagnose("sha256=" + right), "signature_prefix");
    EXPECT_EQ(diagnose("SHA256:" + upper), "signature_prefix");
    EXPECT_EQ(diagnose(upper), "signature_uppercase");
    const Digest256 digest = SigningKey(World::kSecret).sign(kSigned);
    EXPECT_EQ(diagnose(base64(digest)), "signature_base64");
    EXPECT_EQ(diagnose("sha256=" + base64(digest)), "signature_prefix");
}

TEST(DiagnosisRules, NamesTheOtherAlphabetOfBase64Too) {
    int other = 0;
    for (int i = 0; i < 40; ++i) {  // until both of its digits were there
        const std::string body = std::to_string(i);
        std::string text = base64(SigningKey(World::kSecret).sign(body));
        for (char& c : text) {
            other += c == '+' || c == '/' ? 1 : 0;
            c = c == '+' ? '-' : c == '/' ? '_' : c;
        }
        EXPECT_EQ(diagnose(text, body), "signature_base64") << text;
    }
    EXPECT_GT(other, 10);
}

TEST(DiagnosisRules, LooksAtSoManyBarredTokensAndNotAtMore) {
    World world;
    for (std::size_t i = 0; i <= kDiagnosisBarredMax; ++i) {
        world.registry.add_token(world.acme, "revoked secret " + std::to_string(i), kWriteOrders,
                                 true);
    }
    const auto diagnosed = [&](std::size_t number) {
        return diagnose(world, signature_of(kSigned, "revoked secret " + std::to_string(number)));
    };
    EXPECT_EQ(diagnosed(0), "token_revoked");
    EXPECT_EQ(diagnosed(kDiagnosisBarredMax - 1), "token_revoked");
    EXPECT_EQ(diagnosed(kDiagnosisBarredMax), "");
}

TEST(DiagnosisRules, TheFirstBarredTokenWithTheSecretIsNamed) {
    World world;
    world.registry.add_token(world.acme, "one secret", kWriteOrders)->expires_at = kNow;
    world.registry.add_token(world.acme, "one secret", kWriteOrders, true);
    EXPECT_EQ(diagnose(world, signature_of(kSigned, "one secret")), "token_expired");
}

TEST(DiagnosisRules, AnUnreadableTokenNamesNoMistake) {
    World world;
    world.registry.add_token(world.acme, "a sealed secret", kWriteOrders)->signing_key.reset();
    world.registry.add_token(world.acme, "a revoked one", kWriteOrders, true)->signing_key.reset();
    EXPECT_EQ(diagnose(world, signature_of(kSigned, "a sealed secret")), "");
    EXPECT_EQ(diagnose(world, signature_of(kSigned, "a revoked one")), "");
}

TEST(DiagnosisRules, AnUnkeyedDigestOfAnUnknownShopIsNotNamed) {
    const std::string digest = to_hex(sha256(kSigned));
    EXPECT_EQ(diagnose_signature({digest, 1}, kSigned, nullptr, {}, kWriteOrders, kNow), "");
}

TEST(DiagnosisRules, NamesAnUnkeyedDigest) {
    EXPECT_EQ(diagnose(to_hex(sha256(kSigned))), "signature_unkeyed_sha256");
}

TEST(DiagnosisRules, NamesTheChangeOfTheBody) {
    const std::string_view bare = kSigned.substr(0, kSigned.size() - 1);
    EXPECT_EQ(diagnose(signature_of(bare)), "body_trailing_newline");
    EXPECT_EQ(diagnose(signature_of(bare), std::string(bare) + "\r\n"), "body_trailing_newline");
    EXPECT_EQ(diagnose(signature_of(kSigned), bare), "body_missing_newline");
    EXPECT_EQ(diagnose(signature_of(R"({"a":1,"b":"x y"})")), "body_reformatted");
}

TEST(DiagnosisRules, NamesATokenThatMayNotSignAnyMore) {
    World revoked;
    revoked.registry.add_token(revoked.acme, "the revoked secret", kWriteOrders, true);
    EXPECT_EQ(diagnose(revoked, signature_of(kSigned, "the revoked secret")), "token_revoked");
    World expired;
    expired.registry.add_token(expired.acme, "the expired secret", kWriteOrders)->expires_at = kNow;
    EXPECT_EQ(diagnose(expired, signature_of(kSigned, "the expired secret")), "token_expired");
}

TEST(DiagnosisRules, NamesATokenWithoutTheScope) {
    World world;
    const auto token =
        world.registry.add_token(world.acme, "for products only", kWriteProducts, true);
    token->revoked = false;  // as the store gives it: barred, and not revoked
    token->signing_key = std::make_unique<SigningKey>("for products only");
    EXPECT_EQ(diagnose(world, signature_of(kSigned, "for products only")), "token_scope");
}

TEST(DiagnosisRules, RevealsNothingAboutASuspendedShop) {
    World world;
    world.registry.add_token(world.acme, "the revoked secret", kWriteOrders, true);
    world.registry.shops["shop-1"]->suspended = true;
    EXPECT_EQ(diagnose(world, signature_of(kSigned, "the revoked secret")), "");
}

TEST(DiagnosisRules, SaysNothingWhenItDoesNotKnow) {
    EXPECT_EQ(diagnose(signature_of(kSigned, "anything else")), "");
    for (const char* text : {"", "x", "sha256=", "sha256=x", "=========="}) {
        EXPECT_EQ(diagnose(text), "") << text;
    }
    EXPECT_EQ(diagnose(std::string(8000, '=')), "");
    EXPECT_EQ(diagnose(std::string(42, 'A') + "!="), "") << "no digit of base64";
    EXPECT_EQ(diagnose(signature_of(kSigned)), "") << "nothing is wrong with it";
    const std::string right = signature_of(kSigned);
    EXPECT_EQ(diagnose_signature({right, 2}, kSigned, nullptr, {}, kWriteOrders, kNow), "");
    EXPECT_EQ(diagnose_signature({right, 1}, kSigned, nullptr, {}, kWriteOrders, kNow), "");
}

TEST(DiagnosisRules, LargeBodiesAreHashedAsSentOnly) {
    const std::string body(kDiagnosisBodyBytesMax + 1, ' ');
    EXPECT_EQ(diagnose(signature_of(body + '\n'), body), "");
    EXPECT_EQ(diagnose(to_hex(sha256(body)), body), "signature_unkeyed_sha256");
}

TEST(DiagnosisRules, AnyBodyIsSafeToDiagnose) {
    for (const std::string& body : {std::string(), std::string("\n"), std::string("\""),
                                    std::string("\xff\xfe{"), std::string(1000, '"')}) {
        EXPECT_EQ(diagnose(std::string(64, '0'), body), "");
    }
}

}  // namespace
}  // namespace sluice
