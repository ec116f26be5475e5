// Every ledger lists page by page, the newest first, which orders need attention.
#include <gtest/gtest.h>

#include <cstdint>
#include <memory>
#include <optional>

#include "core/ledger/overview_rows.hpp"
#include "core/ledger/paged_reads.hpp"
#include "core/lists/overview.hpp"
#include "unit/ledger/books.hpp"
#include "unit/ledger/row_texts.hpp"
#include "unit/ledger/rules_fixture.hpp"

namespace sluice::test {
namespace {

class AttentionPages : public testing::TestWithParam<LedgerKind> {
protected:
    std::unique_ptr<Ledger> ledger = GetParam().make();
};

TEST_P(AttentionPages, Q7_APageThatEndsWithinOneInstantIsContinuedThere) {
    constexpr std::uint32_t kAllKinds = ~std::uint32_t{0};
    {
        const auto txn = ledger->begin(Books::kNode);
        for (const std::int64_t second : {100, 101}) {
            for (unsigned kind = 0; kind < 4; ++kind) {
                for (const std::uint32_t shop : {1U, 2U}) {
                    for (const char* order : {"a", "b"}) {
                        txn->put(Attention{kAcme,
                                           static_cast<AttentionKind>(kind),
                                           {second, 5},
                                           ShopNumber{shop},
                                           OrderId(order)});
                    }
                }
            }
        }
        txn->commit();
    }
    const auto reader = ledger->snapshot(Books::kNode);
    if (dynamic_cast<PagedReads*>(reader.get()) == nullptr) {
        GTEST_SKIP() << "a ledger in memory has no pages";
    }
    const auto all = lists::attention_before(*reader, kAcme, kAllKinds, std::nullopt, 100);
    ASSERT_EQ(all.size(), 2U * 4U * 2U * 2U);
    std::optional<Attention> last;
    for (const Attention& expected : all) {
        const auto next = lists::attention_before(*reader, kAcme, kAllKinds, last, 1);
        ASSERT_EQ(next.size(), 1U);
        EXPECT_EQ(row_text(next.front()), row_text(expected));
        last = next.front();
    }
    EXPECT_TRUE(lists::attention_before(*reader, kAcme, kAllKinds, last, 1).empty());
}

SLUICE_FOR_EVERY_LEDGER(AttentionPages);

}  // namespace
}  // namespace sluice::test
