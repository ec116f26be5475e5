// Files of an export: rows in a file, digests, and what an abandoned folder leaves.
#include "tool/export/table_files.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>

#include "core/protocol/signature.hpp"
#include "program/system/file.hpp"

namespace sluice::cli {
namespace {

namespace fs = std::filesystem;
using exports::ExportFormat;
using exports::ExportLine;
using exports::ExportTable;

const ExportTable kTable{"things",
                         {{"id", lists::ColumnType::kText, lists::Scope::kLedger},
                          {"sum", lists::ColumnType::kAmount, lists::Scope::kLedger}}};

std::string text_of(const fs::path& file) {
    std::ostringstream text;
    text << std::ifstream(file, std::ios::binary).rdbuf();
    return text.str();
}

std::set<std::string> names_of(const fs::path& folder) {
    std::set<std::string> names;
    for (const auto& entry : fs::directory_iterator(folder)) {
        names.insert(entry.path().filename());
    }
    return names;
}

class TableFilesTest : public testing::Test {
protected:
    TableFilesTest()
        : temporary_(TemporaryFolder::make("export-test").value()),
          path_(temporary_.path() / "out"),
          folder_(OutputFolder::open(path_).value()) {}

    /// Writes `rows` rows, at most 3 in a file.
    TableFiles write(ExportFormat format, int rows) {
        TableFiles files(folder_, {format, false, 3}, kTable);
        ExportLine line(format, kTable.columns);
        for (int i = 0; i < rows; ++i) {
            line.add(std::to_string(i));
            line.add(Decimal(150, 2));
            EXPECT_TRUE(files.add(line.end()).ok());
        }
        EXPECT_TRUE(files.finish().ok());
        return files;
    }

    TemporaryFolder temporary_;
    fs::path path_;
    OutputFolder folder_;
};

TEST_F(TableFilesTest, BeginsANewFileAfterTheLimit) {
    const TableFiles files = write(ExportFormat::kNdjson, 7);
    ASSERT_EQ(files.files().size(), 3U);
    EXPECT_EQ(files.rows(), 7U);
    EXPECT_EQ(files.files()[2].rows, 1U);
    EXPECT_EQ(text_of(path_ / "things-0003.ndjson"), "{\"id\":\"6\",\"sum\":\"1.50\"}\n");
    for (const ExportFile& file : files.files()) {
        EXPECT_EQ(file.sha256, to_hex(sha256(text_of(path_ / file.name))));
        EXPECT_EQ(file.bytes, fs::file_size(path_ / file.name));
    }
}

TEST_F(TableFilesTest, HasNoEmptyFileAfterAFullOne) {
    EXPECT_EQ(write(ExportFormat::kNdjson, 6).files().size(), 2U);
}

TEST_F(TableFilesTest, EveryCsvFileHasTheHeader) {
    write(ExportFormat::kCsv, 4);
    EXPECT_EQ(text_of(path_ / "things-0002.csv"), "id,sum\n3,1.50\n");
}

TEST_F(TableFilesTest, ATableWithoutRowsHasOneFile) {
    const TableFiles files = write(ExportFormat::kCsv, 0);
    ASSERT_EQ(files.files().size(), 1U);
    EXPECT_EQ(text_of(path_ / "things-0001.csv"), "id,sum\n");
}

TEST_F(TableFilesTest, FilesAppearUnderTheirNamesWhenTheyAreComplete) {
    auto begun = folder_.create("a.ndjson");
    ASSERT_TRUE(begun.ok());
    EXPECT_EQ(names_of(path_), std::set<std::string>{"a.ndjson.new"});
    ASSERT_TRUE(folder_.place("a.ndjson", *begun).ok());
    EXPECT_EQ(names_of(path_), std::set<std::string>{"a.ndjson"});
}

TEST_F(TableFilesTest, AnAbandonedFolderIsRemoved) {
    write(ExportFormat::kNdjson, 4);
    ASSERT_TRUE(folder_.create("begun.ndjson").ok());
    { const OutputFolder abandoned = std::move(folder_); }
    EXPECT_FALSE(std::filesystem::exists(path_));
}

TEST_F(TableFilesTest, RefusesNamesThatLeaveTheFolder) {
    for (const char* name : {"../x", "/x", ".", "", "a/b", "A"}) {
        EXPECT_FALSE(folder_.create(name).ok()) << name;
    }
}

TEST_F(TableFilesTest, ReplacesNoFileOfAnotherProgram) {
    auto begun = folder_.create("a.ndjson");
    std::ofstream(path_ / "a.ndjson") << "mine";
    EXPECT_FALSE(folder_.place("a.ndjson", *begun).ok());
    EXPECT_EQ(text_of(path_ / "a.ndjson"), "mine");
}

}  // namespace
}  // namespace sluice::cli
