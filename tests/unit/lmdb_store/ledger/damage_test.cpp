// A ledger of which one row is damaged: reading the row gives an error with its table.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <random>

#include "lmdb_store/ledger/ledger.hpp"
#include "lmdb_store/ledger/tables.hpp"
#include "lmdb_store/rows/row_value.hpp"
#include "unit/lmdb_store/ledger/raw_rows.hpp"
#include "unit/lmdb_store/ledger/scene.hpp"
#include "unit/lmdb_store/temp_store.hpp"

namespace sluice::store {
namespace {

using testing::HasSubstr;

class LedgerDamageTest : public testing::Test, protected LedgerScene {
protected:
    void SetUp() override {
        ASSERT_TRUE(EmbeddedLedger::create(folder_.path()).ok());
        auto txn = open(EmbeddedLedger::Mode::kReadWrite)->begin(kNode);
        write_rows(*txn, 1);
        write_rows(*txn, kLongIds);
        txn->commit();
        txn.reset();
        ledger_.reset();
    }
    EmbeddedLedger* open(EmbeddedLedger::Mode mode) {
        auto opened = EmbeddedLedger::open(folder_.path(), mode, std::size_t{1} << 24);
        EXPECT_TRUE(opened.ok()) << opened.error().message;
        ledger_ = std::move(*opened);
        return ledger_.get();
    }
    /// Returns the error of the rows of both sets, or of the check of all; empty if the damage was
    /// not noticed.
    std::string noticed() {
        std::string message;
        open(EmbeddedLedger::Mode::kReadOnly);
        const auto note = [&](const std::function<void()>& read) {
            try {
                read();
            } catch (const LedgerFailure& failure) {
                EXPECT_EQ(failure.error().code, ErrorCode::kCorrupt) << failure.what();
                message += failure.error().message + "\n";
            }
        };
        note([&] { read_rows(*ledger_->snapshot(kNode), 1); });
        note([&] { read_rows(*ledger_->snapshot(kNode), kLongIds); });
        note([&] {
            for (const std::string& problem : ledger_->verify(kNode, 1000)) {
                message += problem + "\n";
            }
        });
        ledger_.reset();
        return message;
    }
    RawRows table(std::string_view name) const { return {folder_.path(), std::string(name)}; }

    TempFolder folder_;
    std::unique_ptr<EmbeddedLedger> ledger_;
};

/// Rows of these tables are only keys; their values are not read.
bool is_index(std::string_view table) {
    return table == "shop_ids" || table == "digests" || table == "creator_journal";
}

TEST_F(LedgerDamageTest, AnyValueThatIsNoRowIsNoticedWithItsTable) {
    int rows_count = 0;
    for (const std::string_view name : ledger_tables()) {
        for (const auto& [key, value] : table(name).all()) {
            if (is_index(name)) {
                continue;
            }
            const RestoredFile restored(folder_.path());
            table(name).put(key, "no row");
            EXPECT_THAT(noticed(), HasSubstr("table " + std::string(name) + ","));
            ++rows_count;
        }
    }
    EXPECT_GE(rows_count, 80);
    EXPECT_EQ(noticed(), "") << "the rows themselves are sound";
}

TEST_F(LedgerDamageTest, AnyByteOfAnyValueThatIsChangedIsNoticedWithItsTable) {
    OrderSamples samples(std::random_device{}());
    for (const std::string_view name : ledger_tables()) {
        for (const auto& [key, value] : table(name).all()) {
            if (value.empty()) {
                continue;
            }
            const RestoredFile restored(folder_.path());
            const std::size_t at = samples.number(value.size());
            std::string changed = value;
            changed[at] =
                static_cast<char>(changed[at] ^ static_cast<char>(1 + samples.number(255)));
            table(name).put(key, changed);
            EXPECT_THAT(noticed(), HasSubstr("table " + std::string(name) + ",")) << "byte " << at;
        }
    }
}

TEST_F(LedgerDamageTest, AKeyThatIsCutIsNoticed) {
    for (const std::string_view name : ledger_tables()) {
        for (const auto& [key, value] : table(name).all()) {
            if (value.empty() && !is_index(name)) {
                continue;  // such a row is its key, so a changed key is another row
            }
            for (const std::size_t kept : {key.size() - 1, key.size() / 2, std::size_t{1}}) {
                const RestoredFile restored(folder_.path());
                table(name).rename(key, std::string_view(key).substr(0, kept), value);
                EXPECT_NE(noticed(), "") << name << " " << kept << " of " << key.size();
            }
        }
    }
}

TEST_F(LedgerDamageTest, AValueThatLiesUnderTheKeyOfAnotherRowIsNoticed) {
    for (const std::string_view name : ledger_tables()) {
        const auto rows = table(name).all();
        if (rows.size() < 2 || rows[0].second == rows[1].second) {
            continue;
        }
        const RestoredFile restored(folder_.path());
        table(name).put(rows[0].first, rows[1].second);
        EXPECT_THAT(noticed(), HasSubstr("table " + std::string(name) + ","));
    }
}

TEST_F(LedgerDamageTest, AMissingRowIsNoticedThroughItsReferences) {
    for (const auto& [name, from] :
         {std::pair{"shops", "table shop_ids"}, std::pair{"journal", "table creator_journal,"},
          std::pair{"events", "table digests"}, std::pair{"catalog", "table variants"},
          std::pair{"shop_ids", "table shop_ids"},
          std::pair{"creator_journal", "table creator_journal"},
          std::pair{"digests", "table digests"}, std::pair{"variants", "table variants"},
          std::pair{"order_changes", "table order_changes,"},
          std::pair{"changed_orders", "table changed_orders"}}) {
        for (const auto& [key, value] : table(name).all()) {
            const RestoredFile restored(folder_.path());
            table(name).remove(key);
            EXPECT_THAT(noticed(), HasSubstr(from)) << name;
        }
    }
}

TEST_F(LedgerDamageTest, ProblemsAreLimitedToTheRequestedNumber) {
    for (const char* name : {"shop_ids", "creator_journal", "digests", "orders"}) {
        table(name).remove(table(name).all().front().first);
    }
    table("orders").put(table("orders").all().front().first, "no row");
    EXPECT_THAT(open(EmbeddedLedger::Mode::kReadOnly)->verify(kNode, 100),
                testing::SizeIs(testing::Ge(4)));
    EXPECT_THAT(ledger_->verify(kNode, 2), testing::SizeIs(2));
}

/// Rows of a node without a head in the ledger belong to no node.
TEST_F(LedgerDamageTest, TwoQueuesWithOneNumberAreNoticed) {
    const auto [key, value] = table("heads").all().front();
    table("heads").put("another", value);
    EXPECT_THAT(noticed(), HasSubstr("table heads,"));
    RowValue encoder;
    NodeHead head;
    ASSERT_TRUE(RowValue::decode(key, value, head));
    table("heads").put("another", encoder.encode("another", head));
    EXPECT_THAT(noticed(), HasSubstr("table heads,")) << "sound, but its number is taken";
}

TEST_F(LedgerDamageTest, AnotherFormatIsRefusedAndNotReportedAsDamage) {
    const auto refused_with = [&](std::string_view format) {
        const RestoredFile restored(folder_.path());
        table("").put("format", format);
        const auto opened =
            EmbeddedLedger::open(folder_.path(), EmbeddedLedger::Mode::kReadOnly, 1U << 24);
        EXPECT_FALSE(opened.ok());
        return opened.ok() ? Error{} : opened.error();
    };
    const std::uint32_t newer = kLedgerFormat + 1;
    const Error unsupported = refused_with({reinterpret_cast<const char*>(&newer), sizeof(newer)});
    EXPECT_EQ(unsupported.code, ErrorCode::kUnsupported);
    EXPECT_THAT(unsupported.message, HasSubstr(folder_.path().string()));
    const std::uint32_t earlier = 1;
    const Error old = refused_with({reinterpret_cast<const char*>(&earlier), sizeof(earlier)});
    EXPECT_EQ(old.code, ErrorCode::kUnsupported);
    EXPECT_EQ(old.message,
              "ledger: written by an earlier sluice (format 1); rebuild it: sluice ledger "
              "rebuild --from ARCHIVE --into DIR");
    const std::uint32_t none = 0;
    EXPECT_EQ(refused_with({reinterpret_cast<const char*>(&none), sizeof(none)}).code,
              ErrorCode::kCorrupt);
    EXPECT_EQ(refused_with("x").code, ErrorCode::kCorrupt) << "too short to be one";
}

}  // namespace
}  // namespace sluice::store
