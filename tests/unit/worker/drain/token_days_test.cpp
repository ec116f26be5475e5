// Token days: the last day of each token, kept over a restart of the worker.
#include "worker/drain/token_days.hpp"

#include <gtest/gtest.h>

#include <fstream>

#include "core/values/token_number.hpp"
#include "unit/lmdb_store/temp_store.hpp"

namespace sluice::worker {
namespace {

constexpr std::uint64_t kToken = 0xabc;
const Timestamp kMorning = *Timestamp::parse("2026-11-28T08:00:00Z");

std::string day_of(const store::StorePaths& paths, std::uint64_t token) {
    const auto days = read_token_days(paths);
    EXPECT_TRUE(days.ok());
    const auto found = days->find(token);
    return found == days->end() ? "" : day_text(found->second);
}

class TokenDaysRules : public testing::Test {
protected:
    store::TempFolder folder_;
    store::StorePaths paths_{folder_.path()};
};

TEST_F(TokenDaysRules, TheLastDayIsKeptOverARestart) {
    TokenDays days(paths_);
    days.note(kToken, kMorning);
    days.note(0, kMorning);
    ASSERT_TRUE(days.save().ok());
    EXPECT_EQ(day_of(paths_, kToken), "2026-11-28");
    TokenDays again(paths_);
    again.note(kToken, kMorning.plus_seconds(-86'400));
    again.note(2, kMorning.plus_seconds(86'400));
    ASSERT_TRUE(again.save().ok());
    EXPECT_EQ(day_of(paths_, kToken), "2026-11-28") << "an input that was received earlier";
    EXPECT_EQ(day_of(paths_, 2), "2026-11-29");
    EXPECT_EQ(read_token_days(paths_)->size(), 2U) << "0 is no token";
}

TEST_F(TokenDaysRules, ADayIsWrittenOnce) {
    TokenDays days(paths_);
    days.note(kToken, kMorning);
    ASSERT_TRUE(days.save().ok());
    ASSERT_TRUE(std::filesystem::remove(paths_.root / "token.days"));
    days.note(kToken, kMorning.plus_seconds(3600));
    ASSERT_TRUE(days.save().ok());
    EXPECT_EQ(day_of(paths_, kToken), "") << "nothing changed";
    days.note(kToken, kMorning.plus_seconds(86'400));
    ASSERT_TRUE(days.save().ok());
    EXPECT_EQ(day_of(paths_, kToken), "2026-11-29");
}

TEST_F(TokenDaysRules, LinesOfAnotherFormAreLeftOut) {
    std::ofstream(paths_.root / "token.days") << "tok_x 2026-11-28\n"
                                              << token_id_of(1) << " soon\n"
                                              << token_id_of(2) << " 2026-11-28\n";
    EXPECT_EQ(read_token_days(paths_)->size(), 1U);
    EXPECT_EQ(day_of(paths_, 2), "2026-11-28");
}

TEST_F(TokenDaysRules, NumbersThatNginxMadeUpAreForgottenBeforeTheFileGrows) {
    TokenDays days(paths_);
    days.note(kToken, kMorning);
    for (std::uint64_t made_up = 0; made_up < TokenDays::kTokensMax; ++made_up) {
        days.note(made_up << 16 | 1, kMorning.plus_seconds(-86'400));
    }
    ASSERT_TRUE(days.save().ok());
    EXPECT_LE(read_token_days(paths_)->size(), TokenDays::kTokensMax);
    EXPECT_EQ(day_of(paths_, kToken), "2026-11-28");
}

}  // namespace
}  // namespace sluice::worker
