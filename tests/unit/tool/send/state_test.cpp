#include "tool/send/state.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "unit/lmdb_store/temp_store.hpp"

namespace sluice::cli {
namespace {

const SendTarget kTarget{"http://h/event/ecomm", "s1", ""};

class SendStateFile : public testing::Test {
protected:
    std::string input(const std::string& contents) {
        const std::string path = folder_ / "in.ndjson";
        std::ofstream(path, std::ios::binary | std::ios::trunc) << contents;
        return path;
    }
    SendState load() { return SendState::load(folder_ / "state", kTarget).value(); }

    /// Visits the whole file; returns the lines that are not settled.
    static std::vector<std::uint64_t> visit(SendState& state, const std::string& path) {
        std::vector<std::uint64_t> open;
        const auto source = open_ndjson(path).value();
        SendRecord record;
        while (source->next(record).value()) {
            if (!state.visit(record)) {
                open.push_back(record.line);
            }
        }
        return open;
    }

    static Status verify(const SendState& state, const std::string& path) {
        return state.verify(*open_ndjson(path).value());
    }

    const store::TempFolder temporary_;
    const std::filesystem::path folder_ = temporary_.path();
};

using Lines = std::vector<std::uint64_t>;

TEST_F(SendStateFile, ARunContinuesWithUnsettledRecords) {
    const std::string path = input("a\nb\n\nc\nd\n");
    SendState state = load();
    EXPECT_TRUE(state.is_new());
    EXPECT_EQ(visit(state, path), (Lines{1, 2, 4, 5}));
    state.settle(1);
    state.settle(4);
    ASSERT_TRUE(state.save().ok());

    SendState resumed = load();
    EXPECT_FALSE(resumed.is_new());
    EXPECT_EQ(resumed.run_id(), state.run_id());
    ASSERT_TRUE(verify(resumed, path).ok());
    EXPECT_EQ(visit(resumed, path), (Lines{2, 5}));
    resumed.settle(2);
    ASSERT_TRUE(resumed.save().ok());

    SendState again = load();
    ASSERT_TRUE(verify(again, path).ok());
    EXPECT_EQ(visit(again, path), (Lines{5}));
}

TEST_F(SendStateFile, AChangedFileIsNoticed) {
    const std::string path = input("a\nb\nc\n");
    SendState state = load();
    (void)visit(state, path);
    state.settle(1);
    state.settle(3);
    ASSERT_TRUE(state.save().ok());
    for (const char* changed : {"x\nb\nc\n", "a\nb\nx\n", "a\n", "", "b\nc\na\n"}) {
        EXPECT_FALSE(verify(load(), input(changed)).ok()) << changed;
    }
    EXPECT_TRUE(verify(load(), input("a\nX\nc\nmore\n")).ok());
}

TEST_F(SendStateFile, AnotherTargetIsAnotherRun) {
    const std::string path = input("a\n");
    SendState state = load();
    ASSERT_TRUE(state.save().ok());
    EXPECT_TRUE(SendState::load(folder_ / "state", {"http://h/event/ecomm", "s2", ""}).ok());
    (void)visit(state, path);
    state.settle(1);
    ASSERT_TRUE(state.save().ok());
    const auto other = SendState::load(folder_ / "state", {"http://h/event/ecomm", "s2", ""});
    ASSERT_FALSE(other.ok());
    EXPECT_EQ(other.error().code, ErrorCode::kConflict);
}

TEST_F(SendStateFile, RubbishIsNoState) {
    for (const char* rubbish : {"", "{}", "[]", "{\"upto\":1}", "not json"}) {
        std::ofstream(folder_ / "state", std::ios::trunc) << rubbish;
        EXPECT_FALSE(SendState::load(folder_ / "state", kTarget).ok()) << rubbish;
    }
}

}  // namespace
}  // namespace sluice::cli
