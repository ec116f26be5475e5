// Names of creators are read with as many rows as their account has, however many others have.
#include "core/lists/names.hpp"

#include <gtest/gtest.h>

#include <string>

#include "core/ledger/overlay.hpp"
#include "unit/ledger/books.hpp"
#include "unit/ledger/memory_ledger.hpp"

namespace sluice::test {
namespace {

constexpr AccountNumber kBeta{2};

/// Counts the rows that are read.
class CountedRows final : public Overlay {
public:
    using Overlay::Overlay;
    bool load_row(RowRef row) override {
        ++read;
        return Overlay::load_row(row);
    }
    void scan_rows(RowView first, KeyRange range, const RowVisitor& visit) override {
        Overlay::scan_rows(first, range, [&](RowView row) {
            ++read;
            return visit(row);
        });
    }

    std::size_t read = 0;
};

void rename_creators(Ledger& ledger, AccountNumber account, std::size_t count) {
    const auto txn = ledger.begin(Books::kNode);
    for (std::size_t i = 0; i < count; ++i) {
        const CreatorId first("c" + std::to_string(i)), shown("n" + std::to_string(i));
        CreatorRow row{account, first, {}, {}, {}};
        row.shown_as = shown;
        txn->put(row);
        txn->put(CreatorAlias{account, shown, first});
    }
    txn->commit();
}

std::size_t rows_read(Ledger& ledger, AccountNumber account) {
    const auto reader = ledger.snapshot(Books::kNode);
    CountedRows counted(*reader);
    const lists::CreatorNames names(counted, account);
    EXPECT_EQ(names.shown(account, CreatorId("c1")).view(), "n1");
    return counted.read;
}

TEST(CreatorNames, ReadTheRowsOfTheirAccount) {
    MemoryLedger ledger;
    rename_creators(ledger, kAcme, 3);
    const std::size_t alone = rows_read(ledger, kAcme);
    EXPECT_GE(alone, 6U);
    rename_creators(ledger, kBeta, 100);
    EXPECT_EQ(rows_read(ledger, kAcme), alone);
    EXPECT_GE(rows_read(ledger, kBeta), 200U);
}

}  // namespace
}  // namespace sluice::test
