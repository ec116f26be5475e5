// Files of the operating system: what an errno means, and what each call that fails leaves behind.
//
// Part of the program lmdb_store_test: there, calls of the system can be made to fail.
#include "os/files/file_io.hpp"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>

#include "unit/lmdb_store/failing_calls.hpp"
#include "unit/lmdb_store/temp_store.hpp"

namespace sluice {
namespace {

using store::fail_each;
using store::FailingCall;
using store::kSystem;
using store::read_text;
using store::TempFolder;
using store::write_text;
using testing::HasSubstr;

struct Meaning {
    int error;
    ErrorCode code;
};

TEST(OsFiles, ErrnosAreDistinguished) {
    for (const Meaning& meaning : {
             Meaning{ENOENT, ErrorCode::kNotFound},
             Meaning{ENOTDIR, ErrorCode::kNotFound},
             Meaning{EACCES, ErrorCode::kPermission},
             Meaning{EPERM, ErrorCode::kPermission},
             Meaning{EROFS, ErrorCode::kPermission},
             Meaning{ENOSPC, ErrorCode::kNoSpace},
             Meaning{EDQUOT, ErrorCode::kNoSpace},
             Meaning{EFBIG, ErrorCode::kNoSpace},
             Meaning{EEXIST, ErrorCode::kConflict},
             Meaning{EAGAIN, ErrorCode::kBusy},
             Meaning{EBUSY, ErrorCode::kBusy},
             Meaning{EIO, ErrorCode::kIo},
             Meaning{EMFILE, ErrorCode::kInternal},
         }) {
        const Error error = system_error(meaning.error, "write", "/some/file");
        EXPECT_EQ(error.code, meaning.code) << meaning.error;
        EXPECT_THAT(error.message, HasSubstr("cannot write \"/some/file\": "));
    }
    EXPECT_THAT(system_error(EROFS, "write", "f").message, HasSubstr("mounted read-only"));
}

TEST(OsFiles, OnlyAPlainFileOfTheExpectedSizeIsReadAsAWhole) {
    const TempFolder folder;
    EXPECT_EQ(read_file(folder.path(), 100).error().code, ErrorCode::kInvalid);
    write_text(folder.path() / "f", "12345");
    EXPECT_EQ(*read_file(folder.path() / "f", 5), "12345");
    EXPECT_EQ(read_file(folder.path() / "f", 4).error().code, ErrorCode::kInvalid);
}

TEST(OsFiles, AnOwnerOrAGroupAloneIsSet) {
    const TempFolder folder;
    write_text(folder.path() / "f", "x");
    FileOwner owner;
    owner.mode = 0640;
    owner.group = ::getegid();
    EXPECT_TRUE(set_owner(folder.path() / "f", owner).ok());
    const FailingCall call("sys_lchown", 0, EPERM);
    EXPECT_TRUE(set_owner(folder.path() / "f", owner).ok()) << "the group is there already";
    owner.group = ::getegid() + 1;
    EXPECT_EQ(set_owner(folder.path() / "f", owner).error().code, ErrorCode::kPermission);
}

TEST(OsFiles, AFileWithoutAFolderIsReplacedWhereTheProcessIs) {
    const TempFolder folder;
    const auto before = std::filesystem::current_path();
    std::filesystem::current_path(folder.path());
    const Status replaced = replace_file("f", "new", {});
    std::filesystem::current_path(before);
    EXPECT_TRUE(replaced.ok());
    EXPECT_EQ(read_text(folder.path() / "f"), "new");
}

TEST(OsFiles, ASignalOnTheWayIsNoError) {
    const TempFolder folder;
    {
        const FailingCall call("sys_open", 0, EINTR);
        write_text(folder.path() / "f", "12345");
        EXPECT_EQ(*read_file(folder.path() / "f", 5), "12345");
        EXPECT_TRUE(call.struck());
    }
    {
        const FailingCall call("sys_pread", 0, EINTR);
        const auto file = OpenFile::open(folder.path() / "f", OpenFile::Mode::kRead);
        EXPECT_EQ(*file->read_at(1, 100), "2345");
        EXPECT_TRUE(call.struck());
    }
    const FailingCall call("sys_pwrite", 0, EINTR);
    auto file = OpenFile::open(folder.path() / "f", OpenFile::Mode::kReadWrite);
    EXPECT_TRUE(file->write_at(3, "ab").ok());
    EXPECT_EQ(*file->read_at(0, 100), "123ab");
    EXPECT_TRUE(call.struck());
}

TEST(OsFiles, AReplacedFileIsPrivateAndLeavesNoTemporaryFile) {
    const TempFolder folder;
    const auto path = folder.path() / "f";
    ASSERT_TRUE(replace_file(path, "one").ok());
    ASSERT_TRUE(replace_file(path, "two").ok());
    EXPECT_EQ(read_text(path), "two");
    struct stat info {};
    ASSERT_EQ(::stat(path.c_str(), &info), 0);
    EXPECT_EQ(info.st_mode & 07777U, 0600U);
    EXPECT_EQ(names_in(folder.path())->size(), 1U);
}

/// In a container, process ids begin at 1 again with each start.
TEST(OsFiles, ATemporaryFileOfAnEarlierProcessIsReplaced) {
    const TempFolder folder;
    const auto path = folder.path() / "f";
    write_text(path.string() + ".new." + std::to_string(::getpid()), "half of some");
    ASSERT_TRUE(replace_file(path, "new").ok());
    EXPECT_EQ(read_text(path), "new");
    EXPECT_EQ(names_in(folder.path())->size(), 1U);
}

TEST(OsFiles, AFailedReplacementKeepsTheOldFileAndLeavesNoTemporaryFile) {
    const TempFolder folder;
    const auto path = folder.path() / "f";
    write_text(path, "old");
    for (const int error : {EIO, ENOSPC, EACCES}) {
        const int struck = fail_each([&](int nth) {
            FailingCall call(kSystem, nth, error);
            const Status replaced = replace_file(path, "new");
            call.disarm();
            const bool in_place = read_text(path) == "new";
            EXPECT_TRUE(in_place || !replaced.ok()) << call.name();
            // Only the sync of the folder comes after the renaming.
            EXPECT_EQ(replaced.ok(), !call.struck()) << call.name();
            EXPECT_EQ(names_in(folder.path())->size(), 1U) << call.name();
            write_text(path, "old");
            return call.struck();
        });
        EXPECT_GT(struck, 5);
    }
}

/// Some file systems of networks answer so to fsync() of a folder; there is nothing to sync.
TEST(OsFiles, AFileSystemThatSyncsNoFoldersIsNoError) {
    const TempFolder folder;
    const FailingCall call("sys_fsync", 0, EINVAL);
    EXPECT_TRUE(sync_folder(folder.path()).ok());
    EXPECT_TRUE(call.struck());
}

TEST(OsFiles, OnlyARegularFileWithOneNameIsOpenedPlainly) {
    const TempFolder folder;
    const auto path = [&](const char* name) { return folder.path() / name; };
    write_text(path("file"), "12345");
    EXPECT_TRUE(open_plain(path("file"), O_RDONLY).ok());
    EXPECT_EQ(read_plain_file(path("file"), 10).value(), "12345");
    EXPECT_EQ(open_plain(path("none"), O_RDONLY).error().code, ErrorCode::kNotFound);
    ASSERT_EQ(::mkfifo(path("fifo").c_str(), 0600), 0);
    std::filesystem::create_symlink("file", path("link"));
    std::filesystem::create_symlink("none", path("broken"));
    std::filesystem::create_directory(path("folder"));
    for (const auto& [name, kind] :
         {std::pair{"fifo", "a FIFO"}, std::pair{"link", "a symbolic link"},
          std::pair{"broken", "a symbolic link"}, std::pair{"folder", "a folder"}}) {
        for (const int flags : {O_RDONLY, O_WRONLY, O_RDWR}) {
            const auto opened = open_plain(path(name), flags);
            ASSERT_FALSE(opened.ok()) << name << flags;
            EXPECT_EQ(opened.error().code, ErrorCode::kCorrupt) << name << flags;
            EXPECT_THAT(opened.error().message, HasSubstr(kind));
            EXPECT_THAT(opened.error().message, HasSubstr("mv -T " + path(name).string() + " "));
        }
        EXPECT_THAT(check_plain(path(name)).error().message, HasSubstr(kind));
    }
    EXPECT_TRUE(check_plain(path("file")).ok());
    std::filesystem::create_hard_link(path("file"), path("second"));
    const auto linked = open_plain(path("file"), O_RDONLY);
    EXPECT_EQ(linked.error().code, ErrorCode::kPermission);  // it heals with the links
    EXPECT_THAT(linked.error().message, HasSubstr("hard links"));
    EXPECT_THAT(linked.error().message, HasSubstr("-samefile " + path("file").string()));
    EXPECT_THAT(check_plain(path("file")).error().message, HasSubstr("hard links"));
}

TEST(OsFiles, EachCallOnAnOpenFileThatFailsNamesThePath) {
    const TempFolder folder;
    const auto path = folder.path() / "f";
    write_text(path, "12345");
    const int struck = fail_each([&](int nth) {
        const FailingCall call(kSystem, nth, EIO);
        const auto said = [&](const Error& error) {
            EXPECT_EQ(error.code, ErrorCode::kIo);
            EXPECT_THAT(error.message, HasSubstr(path.string()));
        };
        auto file = OpenFile::open(path, OpenFile::Mode::kReadWrite);
        if (!file) {
            said(file.error());
            return call.struck();
        }
        const auto read = file->read_at(0, 5);
        const auto size = file->size();
        for (const Status& status : {read ? Status::success() : Status(read.error()),
                                     size ? Status::success() : Status(size.error()),
                                     file->write_at(0, "12345"), file->truncate(5), file->sync()}) {
            if (!status) {
                said(status.error());
            }
        }
        return call.struck();
    });
    EXPECT_EQ(struck, 7);  // open, fstat, pread, fstat, pwrite, ftruncate, fdatasync
}

}  // namespace
}  // namespace sluice
