// A ledger of which one row is damaged: reading the row gives an error with its table.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <set>

#include "lmdb_store/ledger/ledger.hpp"
#include "lmdb_store/ledger/tables.hpp"
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
    /// Of the rows of both sets, or of the check of all; empty: nobody noticed anything.
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
    /// Only the first piece of work is asked for.
    bool is_not_read(std::string_view name, std::string_view key) const {
        return name == "work" && key != table(name).all().front().first;
    }
    RawRows table(std::string_view name) const { return {folder_.path(), std::string(name)}; }

    TempFolder folder_;
    std::unique_ptr<EmbeddedLedger> ledger_;
};

TEST_F(LedgerDamageTest, AnyValueThatIsNoRowIsNoticedWithItsTable) {
    // The keys of these say all.
    const std::set<std::string_view> keys_only{"shop_ids", "digests", "account_programs",
                                               "variants"};
    int rows_count = 0;
    for (const std::string_view name : kLedgerTables) {
        for (const auto& [key, value] : table(name).all()) {
            if (keys_only.count(name) != 0 || is_not_read(name, key)) {
                continue;
            }
            const RestoredFile restored(folder_.path());
            table(name).put(key, "no row");
            EXPECT_THAT(noticed(), HasSubstr("table " + std::string(name) + ","));
            ++rows_count;
        }
    }
    EXPECT_GE(rows_count, 30);
    EXPECT_EQ(noticed().find("damaged row"), std::string::npos) << "the rows themselves are sound";
}

TEST_F(LedgerDamageTest, AKeyThatIsCutIsNoticedWithItsTable) {
    // What remains of these keys is not the key of another row.
    for (const std::string_view name : {"shop_ids", "chains", "anomalies", "journal", "balances",
                                        "open", "catalog", "commands", "dead", "work"}) {
        for (const auto& [key, value] : table(name).all()) {
            if (is_not_read(name, key)) {
                continue;
            }
            const RestoredFile restored(folder_.path());
            table(name).rename(key, std::string_view(key).substr(0, key.size() - 1), value);
            EXPECT_THAT(noticed(), HasSubstr("table " + std::string(name) + ","));
        }
    }
    for (const std::string_view name : {"shop_ids", "chains", "journal", "balances"}) {
        const auto [key, value] = table(name).all().front();
        for (const std::size_t kept : {std::size_t{1}, std::size_t{5}}) {
            const RestoredFile restored(folder_.path());
            table(name).rename(key, std::string_view(key).substr(0, kept), value);
            EXPECT_THAT(noticed(), HasSubstr("table " + std::string(name) + ",")) << kept;
        }
    }
    for (const std::string_view name : {"waiting", "touches", "codes", "variants"}) {
        for (const auto& [key, value] : table(name).all()) {
            const RestoredFile restored(folder_.path());
            table(name).rename(key, std::string_view(key).substr(0, 9), value);
            EXPECT_NE(noticed(), "") << name;
        }
    }
}

TEST_F(LedgerDamageTest, AKeyWithACurrencyOrAKindThatIsNoneIsNoticed) {
    for (const std::string_view name : {"balances", "open", "anomalies"}) {
        for (const auto& [key, value] : table(name).all()) {
            const RestoredFile restored(folder_.path());
            table(name).rename(key, key.substr(0, key.size() - 1) + "\x7f", value);
            EXPECT_THAT(noticed(), HasSubstr("table " + std::string(name) + ","));
        }
    }
}

TEST_F(LedgerDamageTest, AVariantsRowHoldsTheProductThatTheKeyHadToCut) {
    for (const auto& [key, value] : table("variants").all()) {
        if (value.empty()) {
            table("variants").remove(key);
        }
    }
    const auto rows = table("variants").all();
    ASSERT_FALSE(rows.empty());
    EXPECT_EQ(noticed().find("damaged row"), std::string::npos);
    for (const char* damaged : {"", "no row"}) {
        table("variants").put(rows.front().first, damaged);
        EXPECT_THAT(noticed(), HasSubstr("table variants,"));
    }
}

TEST_F(LedgerDamageTest, ARowThatIsGoneIsNoticedByWhoeverFollowsARowToIt) {
    for (const auto& [name, from] :
         {std::pair{"programs", "table account_programs,"}, std::pair{"shops", "table shop_ids,"},
          std::pair{"orders", "table open,"}}) {
        for (const auto& [key, value] : table(name).all()) {
            const RestoredFile restored(folder_.path());
            table(name).remove(key);
            EXPECT_THAT(noticed(), HasSubstr(from));
        }
    }
}

TEST_F(LedgerDamageTest, AnotherFormatIsRefusedAndNotTakenForDamage) {
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
    const std::uint32_t none = 0;
    EXPECT_EQ(refused_with({reinterpret_cast<const char*>(&none), sizeof(none)}).code,
              ErrorCode::kCorrupt);
    EXPECT_EQ(refused_with("x").code, ErrorCode::kCorrupt) << "too short to be one";
}

}  // namespace
}  // namespace sluice::store
