// Checks that must take equally long, measured by counting instructions instead of time.
#include <gtest/gtest.h>

#include <algorithm>

#include "core/intake/diagnosis.hpp"
#include "unit/core/intake/instruction_count.hpp"
#include "unit/core/intake/intake_fixture.hpp"
#include "unit/core/protocol/order_fixture.hpp"
#include "unit/whole_form.hpp"

namespace sluice {
namespace {

using test::instructions_of;
using test::kNow;
using test::Request;
using test::World;

/// A body that is hashed in pieces, as nginx takes a large one.
class PiecesBody final : public CheckedBody {
public:
    PiecesBody(std::string_view text, const Sender& sender)
        : text_(text), digests_(BodyDigests::of_signed(sender, kWriteOrders, kNow)) {
        constexpr std::size_t kPiece = 1024;
        for (std::size_t at = 0; at < text_.size(); at += kPiece) {
            digests_.add(text_.substr(at, kPiece));
        }
    }
    std::optional<bool> is_signed_by(const SigningKey& key, const Digest256& signature) override {
        const std::optional<bool> known = digests_.is_signed_by(key, signature);
        EXPECT_TRUE(known.has_value()) << "the body would be read again";
        return known;
    }
    Digest256 sha256() override { return digests_.sha256(); }
    Reason read(std::string_view& text) override {
        text = text_;
        return Reason::kNone;
    }

private:
    std::string_view text_;
    BodyDigests digests_;
};

/// Requests that may differ in nothing that a sender can see.
class TimingRules : public testing::Test {
protected:
    void SetUp() override {
#if defined(__SANITIZE_THREAD__)
        GTEST_SKIP() << "ThreadSanitizer's own instructions would be counted";
#endif
    }

    std::optional<std::uint64_t> cost_of(const std::string& shop, const std::string& signature) {
        return cost_of(shop, signature, std::string(test::kOrder), false);
    }
    /// @param in_pieces  Counts the hashing of the pieces too.
    std::optional<std::uint64_t> cost_of(const std::string& shop, const std::string& signature,
                                         const std::string& body, bool in_pieces) {
        Request request;
        request.body = body;
        request.set("X-SVC-SHOP-ID", {shop})
            .set("X-SVC-TOPIC", {"ORDER_UPDATE"})
            .set("X-Signature", {signature})
            .set("Content-Type", {"application/json"});
        const RequestHead head = request.head();
        // The look-up is the registry's; its cost is measured over the socket.
        Opened opened = open_event(head, world_.registry);
        const auto accept = [&] {
            std::optional<WholeBody> whole;
            std::optional<PiecesBody> pieces;
            CheckedBody& checked =
                in_pieces ? static_cast<CheckedBody&>(pieces.emplace(request.body, opened.sender))
                          : whole.emplace(request.body);
            const Accepting got = accept_event(head, world_.names, opened.sender, checked,
                                               world_.gate, kNow, world_.scratch);
            ASSERT_TRUE(got.answer && got.answer->status == 401);
        };
        accept();
        return instructions_of(accept);
    }

    static void expect_alike(std::uint64_t a, std::uint64_t b) {
        const std::uint64_t larger = std::max(a, b);
        EXPECT_GT(larger, 1000U);
        EXPECT_LE(larger - std::min(a, b), larger / 50) << a << " against " << b;
    }

    World world_;
};

TEST_F(TimingRules, AnUnknownShopCostsAsMuchAsAWrongSignature) {
    const auto wrong = cost_of("shop-1", std::string(64, '0'));
    const auto unknown = cost_of("nobody", std::string(64, '0'));
    if (!wrong || !unknown) {
        GTEST_SKIP() << "this system lets no process trace its child";
    }
    expect_alike(*wrong, *unknown);
}

/// Stepping through 900 KB would take hours, and each block of SHA-256 costs the same: two short
/// bodies show its parts. test_timing.py measures large ones by the clock.
TEST_F(TimingRules, AFailedCheckCostsTheSameWhateverTheNumberOfTokens) {
    const unsigned most = whole_or_short(unsigned{kActiveTokensMax}, 3U);
    world_.registry.tokens_max = most;
    std::vector<std::string> shops = {"nobody"};
    for (const unsigned tokens :
         whole_or_short(std::vector{0U, 1U, 2U, most}, std::vector{0U, most})) {
        const std::string name = "tokens-" + std::to_string(tokens);
        const auto account = world_.registry.add_account(name, 10 + tokens);
        world_.registry.add_shop(name, 10 + tokens, account);
        for (unsigned i = 0; i < tokens; ++i) {
            world_.registry.add_token(account, name + " secret " + std::to_string(i), kWriteOrders);
        }
        shops.push_back(name);
    }
    for (const bool in_pieces : {false, true}) {
        const std::string body(in_pieces ? 1300 : 300, ' ');
        std::optional<std::uint64_t> first;
        for (const std::string& shop : shops) {
            const auto cost = cost_of(shop, std::string(64, '0'), body, in_pieces);
            if (!cost) {
                GTEST_SKIP() << "this system lets no process trace its child";
            }
            first = first.value_or(*cost);
            EXPECT_LE(std::max(*cost, *first) - std::min(*cost, *first), *first / 25)
                << shop << ": " << *cost << " against " << *first;
        }
    }
}

/// Counts the HMACs that a check asks for.
class CountingBody final : public CheckedBody {
public:
    std::optional<bool> is_signed_by(const SigningKey& /*key*/,
                                     const Digest256& /*signature*/) override {
        ++checks;
        return false;
    }
    Digest256 sha256() override { return {}; }
    Reason read(std::string_view& /*text*/) override { return Reason::kIoError; }

    unsigned checks = 0;
};

TEST_F(TimingRules, EachFailedCheckComputesAsManyHmacsAsTheAccountWithTheMostTokensNeeds) {
    const auto account = world_.registry.add_account("three", 3);
    const auto shop = world_.registry.add_shop("shop-3", 3, account);
    for (unsigned i = 0; i < 3; ++i) {
        world_.registry.add_token(account, "a secret of three, " + std::to_string(i), kWriteOrders);
    }
    world_.registry.tokens_max = 5;
    const auto checks_of = [&](const char* name) {
        Request request;
        request.set("X-SVC-SHOP-ID", {name}).set("X-Signature", {std::string(64, '0')});
        const RequestHead head = request.head();
        const Opened opened = open_event(head, world_.registry);
        CountingBody body;
        const Accepting got = accept_event(head, world_.names, opened.sender, body, world_.gate,
                                           kNow, world_.scratch);
        EXPECT_TRUE(got.answer.has_value());
        return body.checks;
    };
    for (const char* name : {"shop-1", "shop-3", "nobody", "no id"}) {
        EXPECT_EQ(checks_of(name), 5U) << name;
    }
    account->tokens.front() = std::make_shared<TokenView>();  // without a scope
    EXPECT_EQ(checks_of("shop-3"), 5U);
    shop->suspended = true;
    EXPECT_EQ(checks_of("shop-3"), 5U);
    world_.registry.key_outdated = true;
    EXPECT_EQ(checks_of("shop-3"), 5U);
    EXPECT_EQ(checks_of("nobody"), 5U);
}

TEST_F(TimingRules, AShopWithoutATokenCostsAsMuchAsAWrongSignature) {
    const auto account = world_.registry.add_account("bare", 3);
    world_.registry.add_shop("shop-3", 3, account);
    world_.registry.add_token(account, "a secret that may not sign", kReadOrders);
    const auto wrong = cost_of("shop-1", std::string(64, '0'));
    const auto bare = cost_of("shop-3", std::string(64, '0'));
    if (!wrong || !bare) {
        GTEST_SKIP() << "this system lets no process trace its child";
    }
    expect_alike(*wrong, *bare);
    world_.registry.shops["shop-3"]->suspended = true;
    expect_alike(*wrong, *cost_of("shop-3", std::string(64, '0')));
}

TEST_F(TimingRules, ADiagnosisCostsTheSameForUnknownAndKnownShops) {
    const std::string zeros(64, '0');
    const std::string body = whole_or_short<std::string>(std::string(test::kOrder), "{}");
    const std::string unkeyed = to_hex(sha256(body));
    for (const std::string& signature : {zeros, unkeyed}) {
        const auto cost = [&](const ShopView* shop) {
            const auto diagnose = [&] {
                return diagnose_signature({signature, 1}, body, shop, {}, kWriteOrders, kNow);
            };
            EXPECT_EQ(diagnose().empty(), shop == nullptr || signature == zeros);
            return instructions_of(diagnose);
        };
        const auto known = cost(world_.registry.shops["shop-1"].get());
        const auto unknown = cost(nullptr);
        if (!known || !unknown) {
            GTEST_SKIP() << "this system lets no process trace its child";
        }
        expect_alike(*known, *unknown);
    }
}

TEST_F(TimingRules, ACompareTakesAsLongWhereverTheDigestsDiffer) {
    std::optional<std::uint64_t> first;
    const Digest256 right = sha256("a body");
    for (const std::size_t at :
         {std::size_t{0}, std::size_t{1}, std::size_t{15}, std::size_t{31}}) {
        Digest256 given = right;
        given[at] ^= 1;
        bool equal = true;
        const auto compare = [&] { equal = equal_constant_time(right, given); };
        compare();
        EXPECT_FALSE(equal);
        const auto cost = instructions_of(compare);
        if (!cost) {
            GTEST_SKIP() << "this system lets no process trace its child";
        }
        first = first.value_or(*cost);
        EXPECT_EQ(*cost, *first) << "the first difference is in byte " << at;
    }
}

TEST_F(TimingRules, TheCounterCounts) {
    volatile int sum = 0;
    const auto loop = [&sum](int turns) {
        for (int i = 0; i < turns; ++i) {
            sum = sum + i;
        }
    };
    const auto few = instructions_of([&] { loop(100); });
    const auto many = instructions_of([&] { loop(1000); });
    if (few && many) {
        EXPECT_GT(*many, *few + 1800);
    }
}

}  // namespace
}  // namespace sluice
