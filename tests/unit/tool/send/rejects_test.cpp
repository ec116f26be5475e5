#include "tool/send/rejects.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "unit/lmdb_store/temp_store.hpp"

namespace sluice::cli {
namespace {

class SendRejects : public testing::Test {
protected:
    static std::string text_of(const std::filesystem::path& path) {
        std::ifstream file(path, std::ios::binary);
        return {std::istreambuf_iterator<char>(file), {}};
    }
    std::string summary(const Rejects& rejects) {
        const UniqueFile out(std::fopen((folder_ / "summary").c_str(), "w+b"));
        rejects.print_summary(out.get());
        std::fflush(out.get());
        return text_of(folder_ / "summary");
    }

    const store::TempFolder temporary_;
    const std::filesystem::path folder_ = temporary_.path();
};

TEST_F(SendRejects, AreSummedUpByReasonTheMostFrequentFirst) {
    Rejects rejects("o.ndjson");
    rejects.add(1, "tax: REQUIRED: is required");
    for (std::uint64_t line = 2; line < 2002; ++line) {
        const std::string item = "line_items[" + std::to_string(line % 7) + "].sku";
        rejects.add(line, item + ": REQUIRED: is required");
    }
    EXPECT_EQ(summary(rejects),
              "o.ndjson:2: line_items[2].sku: REQUIRED: is required\n"
              "o.ndjson:3: line_items[3].sku: REQUIRED: is required\n"
              "o.ndjson:4: line_items[4].sku: REQUIRED: is required\n"
              "... and 1,997 more: line_items[].sku: REQUIRED: is required\n"
              "o.ndjson:1: tax: REQUIRED: is required\n");
}

TEST_F(SendRejects, ManyReasonsTakeNoMoreRoom) {
    Rejects rejects("o");
    for (std::uint64_t line = 0; line < 5000; ++line) {
        rejects.add(line, "field" + std::to_string(line) + ": INVALID_FORMAT");
    }
    const std::string text = summary(rejects);
    EXPECT_NE(text.find("... and 4,897 more: other reasons\n"), std::string::npos) << text;
    EXPECT_LT(text.size(), 10'000U);
}

TEST_F(SendRejects, AllOfThemAreInTheFileForItsOwnerAlone) {
    const std::string path = folder_ / "rejects";
    {
        Rejects rejects("o");
        ASSERT_TRUE(rejects.write_to(path, false).ok());
        for (std::uint64_t line = 1; line < 10; ++line) {
            rejects.add(line, "tax: REQUIRED");
        }
        ASSERT_TRUE(rejects.flush().ok());
        EXPECT_NE(summary(rejects).find("all of them: " + path), std::string::npos);
    }
    Rejects further("o");
    ASSERT_TRUE(further.write_to(path, true).ok());
    further.add(10, "tax: REQUIRED");
    ASSERT_TRUE(further.flush().ok());
    const std::string text = text_of(path);
    EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 10);
    struct stat info {};
    ASSERT_EQ(::stat(path.c_str(), &info), 0);
    EXPECT_EQ(info.st_mode & 0777u, 0600u);
}

TEST_F(SendRejects, TheFileThatIsSentIsNotOverwritten) {
    const std::string path = folder_ / "orders";
    std::ofstream(path) << "precious\n";
    Rejects rejects(path);
    EXPECT_EQ(rejects.write_to(path, false).error().code, ErrorCode::kInvalid);
    EXPECT_EQ(text_of(path), "precious\n");
}

TEST_F(SendRejects, AFullDiskIsReported) {
    Rejects rejects("o");
    ASSERT_TRUE(rejects.write_to("/dev/full", false).ok());
    rejects.add(1, "tax: REQUIRED");
    EXPECT_FALSE(rejects.flush().ok());
}

TEST(SendRejectReason, LeavesOutRowsAndIndices) {
    EXPECT_EQ(reason_of("row 17, column 2: title: REQUIRED"), "column 2: title: REQUIRED");
    EXPECT_EQ(reason_of("row 17: expected JSON"), "expected JSON");
    EXPECT_EQ(reason_of("variants[12].prices[0].amount: X"), "variants[].prices[].amount: X");
    EXPECT_EQ(reason_of("expected 1 to 128 bytes"), "expected 1 to 128 bytes");
    EXPECT_EQ(reason_of("row 5"), "row 5");
    EXPECT_EQ(reason_of(""), "");
}

}  // namespace
}  // namespace sluice::cli
