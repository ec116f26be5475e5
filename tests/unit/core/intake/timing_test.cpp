// Checks that must take equally long, measured by counting instructions instead of time.
#include <gtest/gtest.h>

#include <algorithm>

#include "core/intake/diagnosis.hpp"
#include "unit/core/intake/instruction_count.hpp"
#include "unit/core/intake/intake_fixture.hpp"
#include "unit/core/protocol/order_fixture.hpp"

namespace sluice {
namespace {

using test::instructions_of;
using test::kNow;
using test::Request;
using test::World;

/// Requests that may differ in nothing that a sender can see.
class TimingRules : public testing::Test {
protected:
    void SetUp() override {
#if defined(__SANITIZE_THREAD__)
        GTEST_SKIP() << "ThreadSanitizer's own instructions would be counted";
#endif
    }

    std::optional<std::uint64_t> cost_of(const std::string& shop, const std::string& signature) {
        Request request;
        request.body = std::string(test::kOrder);
        request.set("X-SVC-SHOP-ID", {shop})
            .set("X-SVC-TOPIC", {"ORDER_UPDATE"})
            .set("X-Signature", {signature})
            .set("Content-Type", {"application/json"});
        const RequestHead head = request.head();
        // The look-up is the registry's; its cost is measured over the socket.
        Opened opened = open_event(head, world_.registry);
        const auto accept = [&] {
            const Accepting got = accept_event(head, world_.names, opened.sender, request.body,
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
    const std::string unkeyed = to_hex(sha256(test::kOrder));
    for (const std::string& signature : {zeros, unkeyed}) {
        const auto cost = [&](const ShopView* shop) {
            const auto diagnose = [&] {
                return diagnose_signature({signature, 1}, test::kOrder, shop, {}, kNow);
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
