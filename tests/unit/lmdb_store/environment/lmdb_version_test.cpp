// Files of LMDB 1.0 and of its copies in development, made by hand. tests/cli/test_lmdb_version.py
// gives a program the library of another version.
#include "lmdb_store/environment/lmdb_version.hpp"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <lmdb.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstring>

#include "lmdb_store/environment/environment.hpp"
#include "unit/lmdb_store/temp_store.hpp"

namespace sluice::store {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr std::uint32_t kMagic = 0xBEEFC0DE;
constexpr std::size_t kMagicOf09 = 16;
constexpr std::size_t kMagicOf10 = 24;

/// Both meta pages of a file, as far as it is recognized by them.
std::string meta_pages(std::size_t magic_at, std::uint32_t version) {
    std::string page(4096, '\0');
    std::memcpy(page.data() + magic_at, &kMagic, sizeof(kMagic));
    std::memcpy(page.data() + magic_at + 4, &version, sizeof(version));
    return page + page;
}

class LmdbVersion : public ::testing::Test {
protected:
    Status check_after(const std::string& pages) const {
        write_text(data_, pages);
        return check_format(data_);
    }
    Result<std::shared_ptr<Environment>> open() const {
        return Environment::open({.folder = store_.paths().queue});
    }

    TempStore store_;
    std::filesystem::path data_ = store_.paths().queue / "data.mdb";
};

TEST_F(LmdbVersion, TheLibraryAndItsOwnFileAreKnown) {
    EXPECT_TRUE(check_library().ok());
    EXPECT_TRUE(check_format(data_).ok());
    int major = 0;
    int minor = 0;
    int patch = 0;
    mdb_version(&major, &minor, &patch);
    EXPECT_EQ(lmdb_name(), "LMDB " + std::to_string(major) + "." + std::to_string(minor) + "." +
                               std::to_string(patch));
}

TEST_F(LmdbVersion, AFileOfAnotherVersionIsRefusedByNameAndNotAsDamaged) {
    const std::array<std::pair<std::string, const char*>, 4> files{{
        {meta_pages(kMagicOf10, 2), "LMDB 1.0 or newer (data version 2)"},
        {meta_pages(kMagicOf10, 999), "LMDB 1.0 or newer (data version 999)"},
        {meta_pages(kMagicOf09, 2), "another LMDB (data version 2)"},
        {meta_pages(kMagicOf09, 999), "another LMDB (data version 999)"},
    }};
    for (const auto& [pages, name] : files) {
        const Status refused = check_after(pages);
        ASSERT_FALSE(refused.ok()) << name;
        const auto opened = open();
        ASSERT_FALSE(opened.ok()) << name;
        for (const Error& error : {refused.error(), opened.error()}) {
            EXPECT_EQ(error.code, ErrorCode::kUnsupported);
            EXPECT_THAT(error.message,
                        AllOf(HasSubstr(name), HasSubstr(data_.string()),
                              HasSubstr("nothing is damaged"), Not(HasSubstr("backup"))));
        }
        EXPECT_EQ(read_text(data_), pages);
    }
}

TEST_F(LmdbVersion, AFileThatIsNoneOfLmdbIsStillDamaged) {
    EXPECT_TRUE(check_after(std::string(8192, 'x')).ok());
    const auto opened = open();
    ASSERT_FALSE(opened.ok());
    EXPECT_EQ(opened.error().code, ErrorCode::kCorrupt);
}

TEST_F(LmdbVersion, ALockFileInUseByAnotherVersionIsRefusedByName) {
    const std::string locks = (store_.paths().queue / "lock.mdb").string();
    std::array<int, 2> ready{};
    ASSERT_EQ(::pipe(ready.data()), 0);
    const pid_t user = ::fork();
    if (user == 0) {  // it has the lock of a reader, and writes the format word of 0.9.70
        const int fd = ::open(locks.c_str(), O_RDWR);
        struct flock lock {};
        lock.l_type = F_RDLCK;
        lock.l_len = 1;
        const std::array<std::uint32_t, 2> head{kMagic, 2 + (7U << 12)};
        const bool done = ::fcntl(fd, F_SETLK, &lock) == 0 &&
                          ::pwrite(fd, head.data(), sizeof(head), 0) == sizeof(head);
        ::_exit(::write(ready[1], done ? "y" : "n", 1) == 1 ? ::pause() : 1);
    }
    char done = 'n';
    ASSERT_EQ(::read(ready[0], &done, 1), 1);
    EXPECT_EQ(done, 'y');
    const auto opened = open();
    ::kill(user, SIGKILL);
    ::waitpid(user, nullptr, 0);
    ::close(ready[0]);
    ::close(ready[1]);
    ASSERT_FALSE(opened.ok());
    EXPECT_EQ(opened.error().code, ErrorCode::kUnsupported);
    EXPECT_THAT(opened.error().message, AllOf(HasSubstr("another version of LMDB"),
                                              HasSubstr(locks), Not(HasSubstr("backup"))));
    EXPECT_TRUE(open().ok()) << "once no process uses it, LMDB initializes it";
}

}  // namespace
}  // namespace sluice::store
