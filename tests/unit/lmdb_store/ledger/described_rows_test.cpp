// Rows of every described table on the embedded ledger: written, read, scanned in the order of
// their keys, erased.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "core/ledger/sort_key.hpp"
#include "lmdb_store/ledger/ledger.hpp"
#include "unit/lmdb_store/rows/row_samples.hpp"
#include "unit/lmdb_store/temp_store.hpp"

namespace sluice::store {
namespace {

constexpr const char* kNode = "11111111-2222-3333-4444-555555555555";
/// Ids of up to 1024 bytes, many of which share a beginning that is longer than any key.
constexpr std::size_t kLongest = 1024;

/// Takes the texts of one row, or makes them long with one beginning.
struct LongTexts {
    OrderSamples& samples;
    void operator()(const char* /*name*/, auto& /*value*/) {}
    template <class Tag>
    void operator()(const char* /*name*/, TextId<Tag>& value) {
        value.assign(longer(value.str()));
    }
    void operator()(const char* /*name*/, std::string& value) { value = longer(value); }

    std::string longer(const std::string& text) {
        switch (samples.number(4)) {
            case 0:
                return text.substr(0, 3);
            case 1:
                return (std::string(700, 'm') + text).substr(0, kLongest);
            case 2:
                return std::string(1 + samples.number(kLongest), 'm');
            default:
                return text;
        }
    }
};

class DescribedRowsTest : public testing::Test {
protected:
    DescribedRowsTest() {
        EXPECT_TRUE(EmbeddedLedger::create(folder_.path()).ok());
        auto opened = EmbeddedLedger::open(folder_.path(), EmbeddedLedger::Mode::kReadWrite,
                                           std::uint64_t{1} << 26);
        EXPECT_TRUE(opened.ok());
        ledger_ = std::move(*opened);
    }
    /// Rows by their keys.
    template <class Row>
    std::map<std::string, Row> rows_of(std::size_t count) {
        std::map<std::string, Row> rows;
        while (rows.size() < count) {
            Row row = sample_row<Row>(samples_, 40);
            LongTexts longer{samples_};
            TableOf<Row>::key(row, longer);
            rows[sort_key(row)] = row;
        }
        return rows;
    }
    template <class Row>
    static std::vector<std::string> scanned(LedgerReader& reader, const Row& first,
                                            KeyRange range) {
        std::vector<std::string> texts;
        reader.scan(first, range, [&](const Row& row) {
            texts.push_back(row_text(row));
            return true;
        });
        return texts;
    }
    /// Returns the rows that a sorted map would visit.
    template <class Row>
    static std::vector<std::string> expected(const std::map<std::string, Row>& rows,
                                             const Row& first, KeyRange range) {
        std::vector<std::string> texts;
        const std::string same = sort_key(first, range.same);
        for (auto at = rows.lower_bound(sort_key(first, range.from));
             at != rows.end() && at->first.starts_with(same); ++at) {
            texts.push_back(row_text(at->second));
        }
        return texts;
    }

    TempFolder folder_;
    std::unique_ptr<EmbeddedLedger> ledger_;
    OrderSamples samples_{2026};
};

TEST_F(DescribedRowsTest, ComeBackAsTheyWereWritten) {
    for_each_described([this]<class Row>(const Row& /*empty*/) {
        SCOPED_TRACE(TableOf<Row>::kName);
        const auto rows = rows_of<Row>(40);
        auto txn = ledger_->begin(kNode);
        for (const auto& [key, row] : rows) {
            txn->put(row);
        }
        for (const auto& [key, row] : rows) {
            Row found = row;
            Filler other(samples_, 5);
            TableOf<Row>::rest(found, other);
            ASSERT_TRUE(txn->load(found));
            EXPECT_EQ(row_text(found), row_text(row));
        }
        Row none = sample_row<Row>(samples_);
        EXPECT_FALSE(txn->load(none));
    });
}

TEST_F(DescribedRowsTest, AreScannedInTheOrderOfTheirKeysFromAnyPlace) {
    for_each_described([this]<class Row>(const Row& /*empty*/) {
        SCOPED_TRACE(TableOf<Row>::kName);
        const auto rows = rows_of<Row>(60);
        auto txn = ledger_->begin(kNode);
        for (const auto& [key, row] : rows) {
            txn->put(row);
        }
        EXPECT_EQ(scanned(*txn, Row{}, {}), expected(rows, Row{}, {}));
        for (const auto& [key, row] : rows) {
            for (unsigned same = 0; same < key_columns<Row>(); ++same) {
                for (unsigned from = same; from <= key_columns<Row>(); ++from) {
                    ASSERT_EQ(scanned(*txn, row, {same, from}), expected(rows, row, {same, from}))
                        << same << " " << from;
                }
            }
        }
    });
}

TEST_F(DescribedRowsTest, AreReplacedAndErased) {
    for_each_described([this]<class Row>(const Row& /*empty*/) {
        SCOPED_TRACE(TableOf<Row>::kName);
        auto rows = rows_of<Row>(20);
        auto txn = ledger_->begin(kNode);
        for (auto& [key, row] : rows) {
            txn->put(row);
            Filler other(samples_, 5);
            TableOf<Row>::rest(row, other);
            txn->put(row);
        }
        EXPECT_EQ(scanned(*txn, Row{}, {}), expected(rows, Row{}, {}));
        for (bool again : {false, true}) {
            const Row gone = rows.begin()->second;
            txn->erase(gone);
            if (again) {
                rows.erase(rows.begin());
            } else {
                txn->erase(gone);  // it may be missing
                rows.erase(rows.begin());
            }
            EXPECT_EQ(scanned(*txn, Row{}, {}), expected(rows, Row{}, {}));
        }
    });
}

TEST_F(DescribedRowsTest, AVisitorThatHasSeenEnoughIsNotCalledAgain) {
    for_each_described([this]<class Row>(const Row& /*empty*/) {
        SCOPED_TRACE(TableOf<Row>::kName);
        auto txn = ledger_->begin(kNode);
        for (const auto& [key, row] : rows_of<Row>(20)) {
            txn->put(row);
        }
        for (const int enough : {1, 2, 7}) {
            int seen = 0;
            txn->scan(Row{}, {}, [&](const Row&) { return ++seen < enough; });
            EXPECT_EQ(seen, enough);
        }
    });
}

TEST_F(DescribedRowsTest, RowsOfTwoNodesAreSeparate) {
    for_each_described([this]<class Row>(const Row& /*empty*/) {
        if constexpr (TableOf<Row>::kPerNode) {
            const Row row = sample_row<Row>(samples_);
            auto txn = ledger_->begin(kNode);
            txn->put(row);
            txn->commit();
            txn.reset();
            Row found = row;
            EXPECT_TRUE(ledger_->snapshot(kNode)->load(found));
            EXPECT_FALSE(ledger_->snapshot("another queue")->load(found));
            EXPECT_FALSE(ledger_->snapshot("")->load(found));
        }
    });
}

}  // namespace
}  // namespace sluice::store
