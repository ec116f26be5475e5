// The orders next to an id, and those whose ids begin with a text, are found shop by shop and in
// the order of bytes, whatever the length of the ids.
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "core/ledger/paged_reads.hpp"
#include "unit/ledger/books.hpp"

namespace sluice::test {
namespace {

constexpr ShopNumber kFirst{1}, kSecond{2}, kEmpty{3};

class Neighbours : public testing::TestWithParam<LedgerKind> {
protected:
    void SetUp() override {
        const std::string long_one(390, 'k');  // keys of LMDB hold so much of an id
        ids_ = {"1",           "10",           "100",          "2",
                "\xC3\xA4",    "\xC3\xA4z",    "\xC3\xB6",     long_one.substr(1),
                long_one,      long_one + "a", long_one + "b", long_one + std::string(500, 'c'),
                long_one + "d"};
        std::sort(ids_.begin(), ids_.end());
        const auto txn = ledger_->begin(Books::kNode);
        for (const ShopNumber shop : {kFirst, kSecond}) {
            for (const std::string& id : ids_) {
                OrderState state;
                state.key = {kAcme, shop, OrderId(id)};
                state.currency = Currency::parse("USD").value();
                state.amount = state.tax = state.shipping = "0.00";
                txn->put_order(state);
            }
        }
        txn->commit();
        reader_ = ledger_->snapshot(Books::kNode);
    }
    [[nodiscard]] bool has_pages() const {
        return dynamic_cast<PagedReads*>(reader_.get()) != nullptr;
    }

    std::unique_ptr<Ledger> ledger_ = GetParam().make();
    std::vector<std::string> ids_;
    std::unique_ptr<LedgerReader> reader_;
};

TEST_P(Neighbours, AreTheIdsBeforeAndAfterInEachShop) {
    if (!has_pages()) {
        GTEST_SKIP() << "a ledger in memory has no pages";
    }
    std::vector<std::string> asked = ids_;
    asked.insert(asked.end(), {"0", "1a", "zz", "\xC3\xA4\xC3\xA4", "\xF4\x8F\xBF\xBF",
                               std::string(390, 'k') + "bb", std::string(1024, 'k')});
    const std::vector<ShopNumber> shops{kSecond, kEmpty, kFirst};
    for (const std::string& id : asked) {
        const auto found = paged(*reader_).neighbours(kAcme, shops, OrderId(id));
        ASSERT_EQ(found.size(), shops.size());
        const auto after = std::upper_bound(ids_.begin(), ids_.end(), id);
        const auto before = std::lower_bound(ids_.begin(), ids_.end(), id);
        for (std::size_t i = 0; i < shops.size(); ++i) {
            EXPECT_EQ(found[i].shop, shops[i]);
            const bool is_empty = shops[i] == kEmpty;
            EXPECT_EQ(found[i].before.has_value(), !is_empty && before != ids_.begin()) << id;
            EXPECT_EQ(found[i].after.has_value(), !is_empty && after != ids_.end()) << id;
            EXPECT_TRUE(!found[i].before || found[i].before->str() == *std::prev(before)) << id;
            EXPECT_TRUE(!found[i].after || found[i].after->str() == *after) << id;
        }
    }
}

TEST_P(Neighbours, OrdersThatBeginWithATextComeShopByShop) {
    if (!has_pages()) {
        GTEST_SKIP() << "a ledger in memory has no pages";
    }
    const std::vector<ShopNumber> shops{kSecond, kEmpty, kFirst};
    for (const std::string& text : {std::string("1"), std::string("\xC3\xA4"), std::string("k"),
                                    std::string(390, 'k'), std::string("x")}) {
        std::vector<OrderKey> expected;
        for (const ShopNumber shop : shops) {
            for (const std::string& id : ids_) {
                if (shop != kEmpty && id.starts_with(text)) {
                    expected.push_back({kAcme, shop, OrderId(id)});
                }
            }
        }
        EXPECT_EQ(paged(*reader_).orders_beginning(kAcme, shops, text, 100), expected) << text;
        expected.resize(std::min<std::size_t>(expected.size(), 2));
        EXPECT_EQ(paged(*reader_).orders_beginning(kAcme, shops, text, 2), expected) << text;
    }
}

INSTANTIATE_TEST_SUITE_P(Ledgers, Neighbours, testing::ValuesIn(ledger_kinds()),
                         [](const auto& parameters) { return parameters.param.name; });

}  // namespace
}  // namespace sluice::test
