#include "lmdb_store/store/master_key.hpp"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include "os/files/file_io.hpp"
#include "unit/lmdb_store/temp_store.hpp"

namespace sluice::store {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

TEST(MasterKeyRules, ASealedSecretOpensWithTheSameKeyAndId) {
    const MasterKey key = MasterKey::random();
    const std::string sealed = key.seal("correct horse battery", "tok-1");
    EXPECT_EQ(*key.open(sealed, "tok-1"), "correct horse battery");
    EXPECT_NE(key.seal("correct horse battery", "tok-1"), sealed) << "a fresh nonce each time";
    EXPECT_THAT(sealed, Not(HasSubstr("horse")));
}

TEST(MasterKeyRules, AnotherKeyIdOrAlteredBytesDoNotOpen) {
    const MasterKey key = MasterKey::random();
    const std::string sealed = key.seal("correct horse battery", "tok-1");
    EXPECT_EQ(MasterKey::random().open(sealed, "tok-1").error().code, ErrorCode::kCorrupt);
    EXPECT_EQ(key.open(sealed, "tok-2").error().code, ErrorCode::kCorrupt);
    for (std::size_t i = 0; i < sealed.size(); ++i) {
        std::string altered = sealed;
        altered[i] = static_cast<char>(altered[i] ^ 1);
        EXPECT_FALSE(key.open(altered, "tok-1").ok()) << i;
        EXPECT_FALSE(key.open(std::string_view(sealed).substr(0, i), "tok-1").ok()) << i;
    }
}

TEST(MasterKeyRules, IsSavedForItsOwnerOnly) {
    const TempFolder folder;
    const auto path = folder.path() / "master.key";
    const MasterKey key = MasterKey::random();
    ASSERT_TRUE(key.save(path).ok());
    struct stat info {};
    ASSERT_EQ(::stat(path.c_str(), &info), 0);
    EXPECT_EQ(info.st_mode & 07777U, 0400U);
    const auto loaded = MasterKey::load(path);
    ASSERT_TRUE(loaded.ok());
    EXPECT_EQ(*loaded->open(key.seal("secret", "t"), "t"), "secret");
}

TEST(MasterKeyRules, AnOpenFileReadsTheKeyThatOverwritesIt) {
    const TempFolder folder;
    const auto path = folder.path() / "master.key";
    ASSERT_TRUE(MasterKey::random().save(path).ok());
    const Fd open_before(::open(path.c_str(), O_RDONLY));
    struct stat before {};
    ASSERT_EQ(::stat(path.c_str(), &before), 0);
    const MasterKey next = MasterKey::random();
    ASSERT_TRUE(next.overwrite(path).ok());
    const auto read = MasterKey::read(open_before.get(), path);
    ASSERT_TRUE(read.ok());
    EXPECT_EQ(*read->open(next.seal("secret", "t"), "t"), "secret");
    struct stat after {};
    ASSERT_EQ(::stat(path.c_str(), &after), 0);
    EXPECT_EQ(after.st_ino, before.st_ino);
    EXPECT_EQ(after.st_mode & 07777U, 0400U);
    EXPECT_EQ(after.st_size, before.st_size);
}

/// `sluice key rotate` writes both keys, then the new one in front, then truncates the file.
/// Whatever part of that is on the disk after a power cut, the file opens, and its first key is one
/// of them.
TEST(MasterKeyRules, AFileOfTwoKeysIsReadAtEveryStepOfItsChange) {
    const TempFolder folder;
    const auto path = folder.path() / "master.key";
    const MasterKey old = MasterKey::random();
    const MasterKey next = MasterKey::random();
    const std::string sealed_old = old.seal("secret", "t");
    const std::string sealed_next = next.seal("secret", "t");
    ASSERT_TRUE(next.save(path).ok());
    const std::string next_line = read_text(path);
    ASSERT_TRUE(old.overwrite(path).ok());
    const std::string old_line = read_text(path);
    ASSERT_TRUE(old.overwrite(path, &next).ok());
    EXPECT_EQ(read_text(path), old_line + next_line);
    const std::string zeros(next_line.size(), '\0');
    for (const std::string& text :
         {old_line, old_line + zeros, old_line + next_line, next_line + next_line, next_line}) {
        const auto step = folder.path() / "step";
        std::filesystem::remove(step);
        write_text(step, text);
        ASSERT_EQ(::chmod(step.c_str(), 0400), 0);
        const auto read = MasterKey::load(step);
        ASSERT_TRUE(read.ok());
        EXPECT_EQ(
            read->first().open(text.starts_with(old_line) ? sealed_old : sealed_next, "t").ok(),
            true);
        EXPECT_EQ(read->next().has_value(), text.ends_with(next_line) && text != next_line);
        EXPECT_TRUE(!read->next() || read->next()->open(sealed_next, "t").ok());
    }
}

TEST(MasterKeyRules, OverwritingMakesNoFile) {
    const TempFolder folder;
    const auto path = folder.path() / "master.key";
    EXPECT_EQ(MasterKey::random().overwrite(path).error().code, ErrorCode::kNotFound);
    EXPECT_FALSE(std::filesystem::exists(path));
}

TEST(MasterKeyRules, AFileThatOthersMayReadIsRefused) {
    const TempFolder folder;
    const auto path = folder.path() / "master.key";
    ASSERT_TRUE(MasterKey::random().save(path).ok());
    for (const mode_t mode : {0440U, 0404U, 0420U, 0401U}) {
        ASSERT_EQ(::chmod(path.c_str(), mode), 0);
        const auto loaded = MasterKey::load(path);
        ASSERT_FALSE(loaded.ok()) << mode;
        EXPECT_EQ(loaded.error().code, ErrorCode::kPermission);
        EXPECT_THAT(loaded.error().message, HasSubstr(path.string()));
    }
}

TEST(MasterKeyRules, AFileThatIsNoKeyIsRefusedWithoutShowingIt) {
    const TempFolder folder;
    const auto path = folder.path() / "master.key";
    for (const std::string& text :
         {std::string(), std::string("abc\n"), std::string(64, 'g'), std::string(65, 'a'),
          std::string(200, 'a'), std::string(64, 'a') + "\nabc\n",
          std::string(64, 'a') + "\n" + std::string(64, 'b') + "\nc"}) {
        write_text(path, text);
        ASSERT_EQ(::chmod(path.c_str(), 0400), 0);
        const auto loaded = MasterKey::load(path);
        ASSERT_FALSE(loaded.ok()) << text;
        EXPECT_THAT(loaded.error().message, Not(HasSubstr("gggg")));
        std::filesystem::remove(path);
    }
    EXPECT_EQ(MasterKey::load(path).error().code, ErrorCode::kNotFound);
}

}  // namespace
}  // namespace sluice::store
