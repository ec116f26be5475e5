#include "program/system/file.hpp"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include <csignal>
#include <filesystem>
#include <fstream>

#include "unit/lmdb_store/temp_store.hpp"

namespace sluice::cli {
namespace {

class SecretFile : public testing::Test {
protected:
    std::string write(const std::string& contents, ::mode_t mode) {
        const std::string path = folder_ / "secret";
        std::ofstream(path, std::ios::binary | std::ios::trunc) << contents;
        EXPECT_EQ(::chmod(path.c_str(), mode), 0);
        return path;
    }

    const store::TempFolder temporary_;
    const std::filesystem::path folder_ = temporary_.path();
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

TEST_F(SecretFile, ANewFileIsPrivateAndGoesUnlessItIsKept) {
    const std::string path = folder_ / "new";
    { ASSERT_TRUE(write_new_secret(path, "0123456789abcdef").ok()); }
    EXPECT_FALSE(std::filesystem::exists(path));
    {
        auto file = write_new_secret(path, "0123456789abcdef");
        ASSERT_TRUE(file.ok());
        file->keep();
    }
    EXPECT_EQ(read_secret(path).value(), "0123456789abcdef");
    struct stat info {};
    ASSERT_EQ(::stat(path.c_str(), &info), 0);
    EXPECT_EQ(info.st_mode & 07777U, 0600U);
    const auto again = write_new_secret(path, "another-secret-1");
    ASSERT_FALSE(again.ok());
    EXPECT_EQ(again.error().code, ErrorCode::kConflict);
    EXPECT_EQ(read_secret(path).value(), "0123456789abcdef");
}

TEST_F(SecretFile, ANewFileThatCannotBeWrittenIsNotLeft) {
    const std::string path = folder_ / "new";
    ::rlimit before{};
    ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &before), 0);
    const auto handler = ::signal(SIGXFSZ, SIG_IGN);
    const ::rlimit none{0, before.rlim_max};
    ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &none), 0);
    const auto file = write_new_secret(path, "0123456789abcdef");
    ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &before), 0);
    ::signal(SIGXFSZ, handler);
    ASSERT_FALSE(file.ok());
    EXPECT_NE(file.error().message.find(path), std::string::npos);
    EXPECT_FALSE(std::filesystem::exists(path));
}

TEST_F(SecretFile, AFileThatAPersonNamesIsReadToItsEndOrRefused) {
    const std::string path = write("two", 0600);
    EXPECT_EQ(read_to_end(path, 3).value(), "two");
    EXPECT_EQ(read_to_end(path, 2).error().code, ErrorCode::kInvalid);
    EXPECT_EQ(read_to_end(folder_ / "none", 3).error().code, ErrorCode::kNotFound);
    EXPECT_NE(read_to_end(folder_, 100).error().message.find("Is a directory"), std::string::npos);
}

TEST_F(SecretFile, AWrittenFileIsPrivateAndComplete) {
    const std::string path = folder_ / "output";
    for (const Existing existing :
         {Existing::kEmptied, Existing::kAppendedTo, Existing::kEmptied, Existing::kAppendedTo}) {
        const auto file = open_for_writing(path, existing);
        ASSERT_TRUE(file.ok());
        std::fputs("line\n", file->get());
    }
    EXPECT_EQ(read_to_end(path, 100).value(), "line\nline\n");
    struct stat info {};
    ASSERT_EQ(::stat(path.c_str(), &info), 0);
    EXPECT_EQ(info.st_mode & 07777U, 0600U);
    EXPECT_EQ(open_for_writing(folder_ / "none" / "f", Existing::kEmptied).error().code,
              ErrorCode::kNotFound);
}

}  // namespace
}  // namespace sluice::cli
