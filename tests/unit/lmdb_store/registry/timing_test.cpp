// The duration of a look-up must not reveal which shops exist; measured in instructions, not by a
// clock.
#include <gtest/gtest.h>

#include <algorithm>

#include "lmdb_store/registry/reader.hpp"
#include "lmdb_store/registry/registry.hpp"
#include "unit/core/intake/instruction_count.hpp"
#include "unit/lmdb_store/temp_store.hpp"
#include "unit/whole_form.hpp"

namespace sluice::store {
namespace {

using sluice::test::instructions_of;

const int kShops = whole_or_short(200, 40);

std::string name_of(int shop) {
    return "merchant-" + std::to_string(1000 + shop);
}

class RegistryTimingTest : public testing::Test {
protected:
    void SetUp() override {
#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
        GTEST_SKIP() << "the sanitizer's own instructions would be counted";
#endif
        auto registry = Registry::open(store_.paths(), Registry::Mode::kReadWrite);
        ASSERT_TRUE(registry.ok()) << registry.error().message;
        const MasterKey key = *MasterKey::load(store_.paths().master_key);
        for (int shop = 0; shop < kShops; ++shop) {
            const AccountId account(name_of(shop));
            ASSERT_TRUE((*registry)->create_account(account, std::nullopt, kNow).ok());
            ASSERT_TRUE((*registry)->create_shop(ShopId(name_of(shop)), account, kNow).ok());
            ASSERT_TRUE((*registry)->create_token({account, kWriteOrders, {}, {}}, key, kNow).ok());
        }
        auto reader = RegistryReader::open(store_.paths(), key);
        ASSERT_TRUE(reader.ok()) << reader.error().message;
        reader_ = std::move(*reader);
        // Code, allocator and files are warm; the shops counted below are looked up for the first
        // time.
        ASSERT_NE(reader_->find_shop(name_of(0)), nullptr);
        ASSERT_EQ(reader_->find_shop("merchant-9000"), nullptr);
    }

    void add_account_with(unsigned tokens, const std::string& name) {
        const auto registry = Registry::open(store_.paths(), Registry::Mode::kReadWrite);
        const MasterKey key = *MasterKey::load(store_.paths().master_key);
        const AccountId account(name);
        ASSERT_TRUE((*registry)->create_account(account, std::nullopt, kNow).ok());
        ASSERT_TRUE((*registry)->create_shop(ShopId(name), account, kNow).ok());
        for (unsigned i = 0; i < tokens; ++i) {
            ASSERT_TRUE((*registry)->create_token({account, kWriteOrders, {}, {}}, key, kNow).ok());
        }
    }

    std::optional<std::uint64_t> cost_of(const std::string& shop) {
        return instructions_of([&] { static_cast<void>(reader_->find_shop(shop)); });
    }

    TempStore store_;
    std::unique_ptr<RegistryReader> reader_;
};

TEST_F(RegistryTimingTest, TheFirstLookUpOfAShopCostsAsMuchAsAnUnknownOne) {
    if (!reader_) {
        return;
    }
    std::vector<std::uint64_t> known;
    std::vector<std::uint64_t> unknown;
    for (int i = kShops / 4; i <= whole_or_short(3, 1) * kShops / 4; i += kShops / 4) {
        const auto here = cost_of(name_of(i));
        const auto nowhere = cost_of(name_of(i) + "x");
        if (!here || !nowhere) {
            GTEST_SKIP() << "this system lets no process trace its child";
        }
        known.push_back(*here);
        unknown.push_back(*nowhere);
    }
    std::sort(known.begin(), known.end());
    std::sort(unknown.begin(), unknown.end());
    const std::uint64_t a = known[known.size() / 2];
    const std::uint64_t b = unknown[unknown.size() / 2];
    EXPECT_LE(std::max(a, b) - std::min(a, b), std::max(a, b) / 20) << a << " against " << b;
}

TEST_F(RegistryTimingTest, TheFirstLookUpCostsTheSameWhateverTheNumberOfTokens) {
    if (!reader_) {
        return;
    }
    std::vector<std::string> shops = {"merchant-none"};
    const unsigned most = whole_or_short(unsigned{kActiveTokensMax}, 2U);
    for (const unsigned tokens : whole_or_short(std::vector{1U, most}, std::vector{most})) {
        shops.push_back("merchant-tok" + std::to_string(tokens));
        add_account_with(tokens, shops.back());
    }
    EXPECT_NE(reader_->find_shop(name_of(0)), nullptr);
    EXPECT_EQ(reader_->signing_tokens_max(), most);
    EXPECT_EQ(reader_->find_shop("merchant-9000"), nullptr);
    std::optional<std::uint64_t> first;
    for (const std::string& shop : shops) {
        const auto cost = cost_of(shop);
        if (!cost) {
            GTEST_SKIP() << "this system lets no process trace its child";
        }
        first = first.value_or(*cost);
        EXPECT_LE(std::max(*cost, *first) - std::min(*cost, *first), *first / 20)
            << shop << ": " << *cost << " against " << *first;
    }
}

TEST_F(RegistryTimingTest, ARepeatedLookUpOfAShopCostsAsMuchAsAnUnknownOne) {
    if (!reader_) {
        return;
    }
    const auto here = cost_of(name_of(0));
    const auto nowhere = cost_of("merchant-9000");
    if (!here || !nowhere) {
        GTEST_SKIP() << "this system lets no process trace its child";
    }
    EXPECT_LE(*here > *nowhere ? *here - *nowhere : *nowhere - *here, 300U)
        << *here << " against " << *nowhere;
}

}  // namespace
}  // namespace sluice::store
