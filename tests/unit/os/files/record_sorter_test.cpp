// Sorting more records than memory takes.
//
// Part of the program lmdb_store_test.
#include "os/files/record_sorter.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "unit/lmdb_store/failing_calls.hpp"
#include "unit/lmdb_store/temp_store.hpp"

namespace sluice {
namespace {

using store::TempFolder;
using testing::ElementsAre;

std::vector<std::string> visited(RecordSorter& sorter, std::size_t most = SIZE_MAX) {
    std::vector<std::string> values;
    const Status read = sorter.visit([&](std::string_view value) {
        values.emplace_back(value);
        return values.size() < most;
    });
    EXPECT_TRUE(read.ok()) << read.error().message;
    return values;
}

std::string names_in_folder(const std::filesystem::path& folder) {
    std::string names;
    for (const auto& entry : std::filesystem::directory_iterator(folder)) {
        names += entry.path().filename().string() + " ";
    }
    return names;
}

TEST(RecordSorter, RecordsThatFitIntoMemoryNeedNoFile) {
    RecordSorter sorter("/nowhere");
    ASSERT_TRUE(sorter.add("b", "2").ok());
    ASSERT_TRUE(sorter.add("a", "1").ok());
    EXPECT_THAT(visited(sorter), ElementsAre("1", "2"));
    EXPECT_EQ(sorter.runs_count(), 0U);
    RecordSorter none("/nowhere");
    EXPECT_THAT(visited(none), ElementsAre());
}

TEST(RecordSorter, RunsAreMergedAsOftenAsTheyAreVisited) {
    constexpr std::uint32_t kSeed = 20'261'122;
    std::mt19937 random(kSeed);
    const TempFolder folder;
    RecordSorter sorter(folder.path(), 4096);
    std::vector<std::string> expected;
    for (int i = 0; i < 20'000; ++i) {
        std::string key = std::to_string(random());
        key.resize(1 + random() % 40, '\xff');
        key += "#" + std::to_string(i);
        const std::string value(random() % 30, 'v');
        ASSERT_TRUE(sorter.add(key, key + value).ok());
        expected.push_back(key + "\1" + value);
    }
    std::sort(expected.begin(), expected.end(), [](const std::string& a, const std::string& b) {
        return a.substr(0, a.rfind('\1')) < b.substr(0, b.rfind('\1'));
    });
    for (std::string& text : expected) {
        text.erase(text.rfind('\1'), 1);
    }
    EXPECT_TRUE(visited(sorter) == expected) << "seed " << kSeed;
    EXPECT_GT(sorter.runs_count(), 100U);
    EXPECT_EQ(visited(sorter, 3).size(), 3U);
    EXPECT_TRUE(visited(sorter) == expected) << "seed " << kSeed;
    EXPECT_EQ(names_in_folder(folder.path()), "") << "the file has no name";
}

TEST(RecordSorter, ARecordMayBeLongerThanTheBuffer) {
    const TempFolder folder;
    RecordSorter sorter(folder.path(), 100);
    const std::string large(300'000, 'x');
    for (const char* key : {"c", "a", "d", "b"}) {
        ASSERT_TRUE(sorter.add(key, key + large).ok());
    }
    EXPECT_THAT(visited(sorter), ElementsAre("a" + large, "b" + large, "c" + large, "d" + large));
}

TEST(RecordSorter, AFolderThatTakesNoFileIsNotNeeded) {
    RecordSorter sorter("/proc/self", 10);
    for (const char* key : {"b", "a"}) {
        ASSERT_TRUE(sorter.add(key, key).ok());
    }
    EXPECT_THAT(visited(sorter), ElementsAre("a", "b"));
    EXPECT_EQ(sorter.runs_count(), 2U);
}

/// All records in their order, or an error that says what was done: never fewer.
TEST(RecordSorter, ADiskThatFailsIsSaid) {
    const TempFolder folder;
    int said = 0;
    const int struck = store::fail_each([&](int nth) {
        const store::FailingCall call(store::kSystem, nth, EIO);
        RecordSorter sorter(folder.path(), 30);
        std::vector<std::string> values;
        Status done;
        for (const char* key : {"d", "b", "a", "c"}) {
            done = done ? sorter.add(key, key) : done;
        }
        done = done ? sorter.visit([&values](std::string_view value) {
            values.emplace_back(value);
            return true;
        })
                    : done;
        if (done) {
            EXPECT_THAT(values, ElementsAre("a", "b", "c", "d")) << call.name();
        } else {
            EXPECT_EQ(done.error().code, ErrorCode::kIo);
            EXPECT_THAT(done.error().message, testing::HasSubstr("temporary file"));
            ++said;
        }
        return call.struck();
    });
    EXPECT_GT(struck, 4);
    EXPECT_GT(said, 3);
}

}  // namespace
}  // namespace sluice
