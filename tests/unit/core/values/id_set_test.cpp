#include "core/values/id_set.hpp"

#include <gtest/gtest.h>

#include <random>
#include <set>
#include <string>

namespace sluice {
namespace {

TEST(IdSetRules, TheSecondOfTwoEqualIdsIsTheRepeat) {
    const std::vector<std::string_view> ids{"a", "b", "a", "c", "b", "a"};
    IdSet set;
    set.assign(ids);
    EXPECT_TRUE(set.has_repeats());
    for (const auto& [position, repeat] : std::vector<std::pair<std::size_t, bool>>{
             {0, false}, {1, false}, {2, true}, {3, false}, {4, true}, {5, true}, {6, false}}) {
        EXPECT_EQ(set.is_repeat(position), repeat) << position;
    }
    EXPECT_TRUE(set.contains("c"));
    EXPECT_FALSE(set.contains("d"));
}

TEST(IdSetRules, EmptyIdsRepeatNothing) {
    const std::vector<std::string_view> ids(40);
    IdSet set;
    set.assign(ids);
    EXPECT_FALSE(set.has_repeats());
    set.assign(std::span(ids).first(3));
    EXPECT_FALSE(set.has_repeats());
}

TEST(IdSetProperties, ShortAndLongListsAgreeWithAPlainSet) {
    std::mt19937_64 random(123);
    IdSet set;
    for (int round = 0; round < 2000; ++round) {
        std::vector<std::string> texts(random() % 60);
        for (std::string& text : texts) {
            text = std::to_string(random() % 50);
        }
        const std::vector<std::string_view> ids(texts.begin(), texts.end());
        set.assign(ids);
        std::set<std::string_view> seen;
        bool repeats = false;
        for (std::size_t i = 0; i < ids.size(); ++i) {
            const bool repeat = !seen.insert(ids[i]).second;
            repeats = repeats || repeat;
            ASSERT_EQ(set.is_repeat(i), repeat);
        }
        ASSERT_EQ(set.has_repeats(), repeats);
        for (int id = 0; id < 50; ++id) {
            ASSERT_EQ(set.contains(std::to_string(id)), seen.count(std::to_string(id)) == 1);
        }
    }
}

}  // namespace
}  // namespace sluice
