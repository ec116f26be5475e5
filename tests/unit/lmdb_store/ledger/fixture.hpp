// An embedded ledger in a folder of its own, and groups of its journal.
#pragma once

#include <gtest/gtest.h>
#include <stdlib.h>

#include <filesystem>
#include <memory>
#include <string>
#include <utility>

#include "lmdb_store/ledger/ledger.hpp"
#include "unit/lmdb_store/rows/samples.hpp"

namespace sluice::store {

inline constexpr const char* kNode = "11111111-2222-3333-4444-555555555555";
inline constexpr AccountNumber kAccount{7};
inline constexpr ShopNumber kShop{8};

class LedgerTest : public testing::Test {
protected:
    void SetUp() override {
        std::string pattern = testing::TempDir() + "/sluice-ledger-XXXXXX";
        ASSERT_NE(mkdtemp(pattern.data()), nullptr);
        folder_ = pattern;
        ASSERT_TRUE(EmbeddedLedger::create(folder_).ok());
        open();
    }
    void TearDown() override {
        ledger_.reset();
        std::filesystem::remove_all(folder_);
    }
    void open(std::uint64_t map_bytes_first = 1U << 20) {
        ledger_.reset();
        auto opened =
            EmbeddedLedger::open(folder_, EmbeddedLedger::Mode::kReadWrite, map_bytes_first);
        ASSERT_TRUE(opened.ok()) << opened.error().message;
        ledger_ = std::move(*opened);
    }
    static OrderKey order(std::string id) { return {kAccount, kShop, OrderId(std::move(id))}; }

    std::filesystem::path folder_;
    std::unique_ptr<EmbeddedLedger> ledger_;
    OrderSamples samples_{99};
};

inline JournalGroup group_of(std::uint64_t entry, const OrderKey& order, Int128 cents,
                             const char* node = kNode) {
    JournalGroup group;
    group.node = node;
    group.first_entry = entry;
    group.event_seq = {entry};
    group.account = order.account;
    group.shop = order.shop;
    group.order_id = order.order_id;
    group.program = ProgramId("spring");
    group.creator = CreatorId("anna");
    group.entries.push_back(
        {LineItemId("l"), currency_of("USD"), Decimal(cents, 2), JournalReason::kAccrual, 0});
    return group;
}

inline BalanceKey annas() {
    return {kAccount, ProgramId("spring"), CreatorId("anna"), currency_of("USD")};
}
inline Balance owed(Int128 cents) {
    return {{Decimal(cents, 2), {}, {}}, annas()};
}

}  // namespace sluice::store
