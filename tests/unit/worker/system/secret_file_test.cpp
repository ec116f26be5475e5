#include "worker/system/secret_file.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>

#include "worker/system/file.hpp"

namespace sluice::cli {
namespace {

class SecretFile : public testing::Test {
protected:
    void SetUp() override {
        std::string pattern = (std::filesystem::temp_directory_path() / "sluice-XXXXXX").string();
        ASSERT_NE(::mkdtemp(pattern.data()), nullptr);
        folder_ = pattern;
    }
    void TearDown() override { std::filesystem::remove_all(folder_); }

    std::string write(const std::string& contents, ::mode_t mode) {
        const std::string path = folder_ / "secret";
        std::ofstream(path, std::ios::binary | std::ios::trunc) << contents;
        EXPECT_EQ(::chmod(path.c_str(), mode), 0);
        return path;
    }

    std::filesystem::path folder_;
};

TEST_F(SecretFile, OneFinalNewlineIsStripped) {
    EXPECT_EQ(read_secret(write("0123456789abcdef\n", 0600)).value(), "0123456789abcdef");
    EXPECT_EQ(read_secret(write("0123456789abcdef\n\n", 0400)).value(), "0123456789abcdef\n");
    EXPECT_EQ(read_secret(write("0123456789abcdef", 0600)).value(), "0123456789abcdef");
}

TEST_F(SecretFile, IsRefusedWhenOthersCanReadIt) {
    for (const ::mode_t mode : {0640u, 0604u, 0644u, 0666u}) {
        const auto secret = read_secret(write("0123456789abcdef\n", mode));
        ASSERT_FALSE(secret.ok());
        EXPECT_EQ(secret.error().code, ErrorCode::kPermission);
        EXPECT_NE(secret.error().message.find("chmod 600"), std::string::npos);
        EXPECT_EQ(secret.error().message.find("0123456789abcdef"), std::string::npos);
    }
}

TEST_F(SecretFile, EmptyLongOrMissingIsAnError) {
    EXPECT_FALSE(read_secret(write("", 0600)).ok());
    EXPECT_FALSE(read_secret(write("\n", 0600)).ok());
    EXPECT_TRUE(read_secret(write(std::string(4096, 'x'), 0600)).ok());
    EXPECT_FALSE(read_secret(write(std::string(4097, 'x'), 0600)).ok());
    const auto missing = read_secret(folder_ / "none");
    ASSERT_FALSE(missing.ok());
    EXPECT_EQ(missing.error().code, ErrorCode::kNotFound);
}

TEST_F(SecretFile, ReplaceFileIsAtomicAndPrivate) {
    const std::string path = folder_ / "state";
    ASSERT_TRUE(replace_file(path, "one").ok());
    ASSERT_TRUE(replace_file(path, "two").ok());
    EXPECT_EQ(read_file(path, 100).value(), "two");
    EXPECT_FALSE(read_file(path, 2).ok());
    EXPECT_FALSE(std::filesystem::exists(path + ".tmp"));
    EXPECT_FALSE(read_file(folder_, 100).ok());
}

}  // namespace
}  // namespace sluice::cli
