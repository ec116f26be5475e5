// Rows that are written when their transaction commits: sorted, and each by its last change.
#include "lmdb_store/ledger/deferred_rows.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace sluice::store {
namespace {

using Lines = std::vector<std::string>;

Lines taken(DeferredRows& rows) {
    Lines lines;
    rows.take(
        [&](Table table, std::string_view key, std::string_view value) {
            lines.push_back(std::string(name_of(table)) + " + " + std::string(key) + " " +
                            std::string(value));
        },
        [&](Table table, std::string_view key) {
            lines.push_back(std::string(name_of(table)) + " - " + std::string(key));
        });
    return lines;
}

TEST(DeferredRows, TheyAreTakenTableByTableInTheOrderOfTheirKeys) {
    DeferredRows rows;
    rows.put(Table::kCreatorJournal, "b", "2");
    rows.put(Table::kJournal, "c", "");
    rows.put(Table::kCreatorJournal, "a", "1");
    rows.put(Table::kCreatorJournal, "ab", "3");
    EXPECT_EQ(taken(rows), (Lines{"journal + c ", "creator_journal + a 1", "creator_journal + ab 3",
                                  "creator_journal + b 2"}));
    EXPECT_EQ(taken(rows), Lines()) << "they are forgotten";
}

TEST(DeferredRows, TheLastChangeOfAKeyCounts) {
    DeferredRows rows;
    rows.put(Table::kJournal, "erased", "1");
    rows.put(Table::kJournal, "put again", "1");
    rows.erase(Table::kJournal, "erased");
    rows.erase(Table::kJournal, "put again");
    rows.put(Table::kJournal, "put again", "2");
    rows.put(Table::kJournal, "replaced", "1");
    rows.put(Table::kJournal, "replaced", "2");
    rows.put(Table::kCreatorJournal, "erased", "3");
    EXPECT_EQ(taken(rows), (Lines{"journal - erased", "journal + put again 2",
                                  "journal + replaced 2", "creator_journal + erased 3"}));
}

TEST(DeferredRows, TheyAreFullAtEightMegabytes) {
    DeferredRows rows;
    const std::string value(1U << 20, 'v');
    for (int i = 0; i < 8; ++i) {
        EXPECT_FALSE(rows.is_full());
        rows.put(Table::kJournal, "k", value);
    }
    EXPECT_TRUE(rows.is_full());
    (void)taken(rows);
    EXPECT_FALSE(rows.is_full());
}

}  // namespace
}  // namespace sluice::store
