// Rows of every described table on the embedded ledger: written, read, scanned in the order of
// their keys, erased.
#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

#include "core/ledger/table.hpp"
#include "lmdb_store/ledger/ledger.hpp"
#include "unit/lmdb_store/ledger/fixture.hpp"
#include "unit/lmdb_store/rows/row_samples.hpp"
#include "unit/lmdb_store/temp_store.hpp"
#include "unit/whole_form.hpp"

namespace sluice::store {
namespace {

/// Ids of up to 1024 bytes, many of which share a beginning that is longer than any key.
constexpr std::size_t kLongest = 1024;

class DescribedRowsTest : public testing::Test {
protected:
    DescribedRowsTest() {
        EXPECT_TRUE(EmbeddedLedger::create(folder_.path()).ok());
        auto opened = EmbeddedLedger::open(folder_.path(), EmbeddedLedger::Mode::kReadWrite,
                                           std::uint64_t{1} << 26);
        EXPECT_TRUE(opened.ok());
        ledger_ = std::move(*opened);
    }
    using Rows = std::map<std::string, AnyRow>;

    /// Makes some texts of a key short, and some long with one beginning.
    std::string longer(const std::string& text) {
        switch (samples_.number(4)) {
            case 0:
                return text.substr(0, 3);
            case 1:
                return (std::string(700, 'm') + text).substr(0, kLongest);
            case 2:
                return std::string(1 + samples_.number(kLongest), 'm');
            default:
                return text;
        }
    }
    /// Rows by their keys.
    Rows rows_of(const DescribedTable& table, std::size_t count) {
        Rows rows;
        while (rows.size() < count) {
            AnyRow row = sample_row(table, samples_, 40);
            for (const Column& column : table.key) {
                void* const value = column.find(row.ref().get());
                if (column.kind == ColumnKind::kId) {
                    auto& id = *static_cast<AnyTextId*>(value);
                    id.assign(longer(id.str()));
                } else if (column.kind == ColumnKind::kText) {
                    auto& text = *static_cast<std::string*>(value);
                    text = longer(text);
                }
            }
            rows.insert_or_assign(sort_key(row.view()), row);
        }
        return rows;
    }
    static std::vector<std::string> scanned(LedgerReader& reader, RowView first, KeyRange range) {
        std::vector<std::string> texts;
        reader.scan_rows(first, range, [&](RowView row) {
            texts.push_back(row_text(row));
            return true;
        });
        return texts;
    }
    /// Returns the rows that a sorted map would visit.
    static std::vector<std::string> expected(const Rows& rows, RowView first, KeyRange range) {
        std::vector<std::string> texts;
        const std::string same = sort_key(first, range.same);
        for (auto at = rows.lower_bound(sort_key(first, range.from));
             at != rows.end() && at->first.starts_with(same); ++at) {
            texts.push_back(row_text(at->second.view()));
        }
        return texts;
    }
    void change_rest(AnyRow& row) {
        fill_with_samples(row.ref(), row.view().table().rest, samples_, 5);
    }

    TempFolder folder_;
    std::unique_ptr<EmbeddedLedger> ledger_;
    OrderSamples samples_{2026};
};

TEST_F(DescribedRowsTest, ComeBackAsTheyWereWritten) {
    for (const DescribedTable& table : described_tables()) {
        SCOPED_TRACE(table.name);
        const Rows rows = rows_of(table, 40);
        auto txn = ledger_->begin(kNode);
        for (const auto& [key, row] : rows) {
            txn->put_row(row.view());
        }
        for (const auto& [key, row] : rows) {
            AnyRow found = row;
            change_rest(found);
            ASSERT_TRUE(txn->load_row(found.ref()));
            EXPECT_EQ(row_text(found.view()), row_text(row.view()));
        }
        AnyRow none = sample_row(table, samples_);
        while (rows.contains(sort_key(none.view()))) {
            none = sample_row(table, samples_);
        }
        EXPECT_FALSE(txn->load_row(none.ref()));
    }
}

TEST_F(DescribedRowsTest, AreScannedInTheOrderOfTheirKeysFromAnyPlace) {
    for (const DescribedTable& table : described_tables()) {
        SCOPED_TRACE(table.name);
        const Rows rows = rows_of(table, whole_or_short(60U, 20U));
        auto txn = ledger_->begin(kNode);
        for (const auto& [key, row] : rows) {
            txn->put_row(row.view());
        }
        const AnyRow none(table);
        EXPECT_EQ(scanned(*txn, none.view(), {}), expected(rows, none.view(), {}));
        for (const auto& [key, row] : rows) {
            for (unsigned same = 0; same < table.key.size(); ++same) {
                for (unsigned from = same; from <= table.key.size(); ++from) {
                    ASSERT_EQ(scanned(*txn, row.view(), {same, from}),
                              expected(rows, row.view(), {same, from}))
                        << same << " " << from;
                }
            }
        }
    }
}

TEST_F(DescribedRowsTest, AreReplacedAndErased) {
    for (const DescribedTable& table : described_tables()) {
        SCOPED_TRACE(table.name);
        Rows rows = rows_of(table, 20);
        const AnyRow none(table);
        auto txn = ledger_->begin(kNode);
        for (auto& [key, row] : rows) {
            txn->put_row(row.view());
            change_rest(row);
            txn->put_row(row.view());
        }
        EXPECT_EQ(scanned(*txn, none.view(), {}), expected(rows, none.view(), {}));
        for (const bool again : {false, true}) {
            const AnyRow gone = rows.begin()->second;
            txn->erase_row(gone.view());
            if (again) {
                txn->erase_row(gone.view());  // it may be missing
            }
            rows.erase(rows.begin());
            EXPECT_EQ(scanned(*txn, none.view(), {}), expected(rows, none.view(), {}));
        }
    }
}

TEST_F(DescribedRowsTest, AVisitorThatHasSeenEnoughIsNotCalledAgain) {
    for (const DescribedTable& table : described_tables()) {
        SCOPED_TRACE(table.name);
        auto txn = ledger_->begin(kNode);
        for (const auto& [key, row] : rows_of(table, 20)) {
            txn->put_row(row.view());
        }
        for (const int enough : {1, 2, 7}) {
            int seen = 0;
            txn->scan_rows(AnyRow(table).view(), {}, [&](RowView) { return ++seen < enough; });
            EXPECT_EQ(seen, enough);
        }
    }
}

TEST_F(DescribedRowsTest, RowsOfTwoNodesAreSeparate) {
    for (const DescribedTable& table : described_tables()) {
        if (!table.per_node) {
            continue;
        }
        const AnyRow row = sample_row(table, samples_);
        auto txn = ledger_->begin(kNode);
        txn->put_row(row.view());
        txn->commit();
        txn.reset();
        AnyRow found = row;
        EXPECT_TRUE(ledger_->snapshot(kNode)->load_row(found.ref()));
        EXPECT_FALSE(ledger_->snapshot("another queue")->load_row(found.ref()));
        EXPECT_FALSE(ledger_->snapshot("")->load_row(found.ref()));
    }
}

}  // namespace
}  // namespace sluice::store
