// Error codes for LMDB's errors and for defects of a folder, with messages for the person who can
// act.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cerrno>

#include "lmdb_store/environment/environment.hpp"
#include "lmdb_store/environment/folder_check.hpp"
#include "lmdb_store/store/master_key.hpp"
#include "unit/lmdb_store/failing_calls.hpp"
#include "unit/lmdb_store/temp_store.hpp"

namespace sluice::store {
namespace {

using testing::HasSubstr;

struct Meaning {
    int error;
    ErrorCode code;
};

TEST(ErrorCodes, CodesOfLmdbAreDistinguished) {
    for (const Meaning& meaning : {
             Meaning{MDB_MAP_FULL, ErrorCode::kFull},
             Meaning{MDB_TXN_FULL, ErrorCode::kFull},
             Meaning{ENOSPC, ErrorCode::kNoSpace},
             Meaning{EDQUOT, ErrorCode::kNoSpace},
             Meaning{EFBIG, ErrorCode::kNoSpace},
             Meaning{EIO, ErrorCode::kIo},
             Meaning{MDB_PANIC, ErrorCode::kIo},
             Meaning{MDB_CORRUPTED, ErrorCode::kCorrupt},
             Meaning{MDB_PAGE_NOTFOUND, ErrorCode::kCorrupt},
             Meaning{MDB_INVALID, ErrorCode::kCorrupt},
             Meaning{MDB_INCOMPATIBLE, ErrorCode::kCorrupt},
             Meaning{MDB_VERSION_MISMATCH, ErrorCode::kUnsupported},
             Meaning{MDB_READERS_FULL, ErrorCode::kBusy},
             Meaning{MDB_MAP_RESIZED, ErrorCode::kBusy},
             Meaning{EAGAIN, ErrorCode::kBusy},
             Meaning{EBUSY, ErrorCode::kBusy},
             Meaning{ENOENT, ErrorCode::kNotFound},
             Meaning{EACCES, ErrorCode::kPermission},
             Meaning{EPERM, ErrorCode::kPermission},
             Meaning{EROFS, ErrorCode::kPermission},
             Meaning{MDB_NOTFOUND, ErrorCode::kNotFound},
             Meaning{MDB_BAD_TXN, ErrorCode::kInternal},
             Meaning{EINVAL, ErrorCode::kInternal},
             Meaning{ENOMEM, ErrorCode::kInternal},
         }) {
        const Error error = lmdb_error(meaning.error, "write", "/some/folder");
        EXPECT_EQ(error.code, meaning.code) << meaning.error;
        EXPECT_THAT(error.message, HasSubstr("cannot write \"/some/folder\": "));
    }
    EXPECT_THAT(lmdb_error(EIO, "read", "f").message, HasSubstr("check the disk"));
    EXPECT_THAT(lmdb_error(MDB_INVALID, "read", "f").message, HasSubstr("backup"));
    EXPECT_THAT(lmdb_error(MDB_VERSION_MISMATCH, "read", "f").message,
                HasSubstr("another version of LMDB"));
}

/// Maps and locks are not shared over a network: two machines would write over each other.
TEST(ErrorCodes, AStoreOnANetworkFileSystemIsRefused) {
    const TempFolder folder;
    EXPECT_TRUE(check_file_system(folder.path()).ok());
    for (const auto& [type, name] :
         {std::pair{0x6969L, "NFS"}, std::pair{0xFF534D42L, "SMB"}, std::pair{0xFE534D42L, "SMB"},
          std::pair{0x517BL, "SMB"}, std::pair{0x01021997L, "9P"}, std::pair{0x5346414FL, "AFS"},
          std::pair{0x6B414653L, "AFS"}, std::pair{0x73757245L, "Coda"},
          std::pair{0x00C36400L, "Ceph"}, std::pair{0x0BD00BD0L, "Lustre"},
          std::pair{0x01161970L, "GFS2"}, std::pair{0x7461636FL, "OCFS2"},
          std::pair{0x65735546L, "FUSE"}}) {
        const FileSystemType seems(type);
        const Status checked = check_file_system(folder.path());
        ASSERT_FALSE(checked.ok()) << name;
        EXPECT_EQ(checked.error().code, ErrorCode::kUnsupported);
        EXPECT_THAT(checked.error().message, HasSubstr(std::string("is on ") + name));
        EXPECT_EQ(init_store(StorePaths(folder.path() / "store"), {}).ok(), false) << name;
    }
}

TEST(ErrorCodes, AMissingFolderAndAMissingFileAreDistinguished) {
    const TempFolder folder;
    write_text(folder.path() / "file", "x");
    EXPECT_EQ(check_folder(folder.path() / "file" / "store", true).error().code,
              ErrorCode::kNotFound);
    EXPECT_EQ(check_folder(folder.path() / "nothing", true).error().code, ErrorCode::kNotFound);
    std::filesystem::create_directories(folder.path() / "store" / "data.mdb");
    const Status checked = check_folder(folder.path() / "store", true);
    EXPECT_EQ(checked.error().code, ErrorCode::kCorrupt);
    EXPECT_THAT(checked.error().message, HasSubstr("is a folder and should be a regular file"));
}

TEST(ErrorCodes, AReadOnlyFileNamesItsOwner) {
    const TempStore store;
    for (const int error : {EACCES, EPERM, EROFS}) {
        const FailingCall call("sys_faccessat", 0, error);
        const Status checked = check_folder(store.paths().queue, false);
        ASSERT_FALSE(checked.ok());
        EXPECT_EQ(checked.error().code, ErrorCode::kPermission);
        EXPECT_EQ(checked.error().message.find("it belongs to user") != std::string::npos,
                  error != EROFS);
    }
}

TEST(ErrorCodes, AnOwnerWithoutANameIsGivenByHisNumber) {
    const TempStore store;
    const auto& queue = store.paths().queue;
    for (const auto& path : {queue, queue / "data.mdb", queue / "lock.mdb"}) {
        if (::chown(path.c_str(), 54'321, 54'322) != 0) {
            GTEST_SKIP() << "only root can give files away";
        }
    }
    const FailingCall call("sys_faccessat", 1, EACCES);
    EXPECT_THAT(check_folder(store.paths().queue, false).error().message,
                HasSubstr("it belongs to user 54321, group 54322"));
}

TEST(ErrorCodes, AFileOfAForeignOwnerIsRefusedByName) {
    const TempStore store;
    const auto lock = store.paths().queue / "lock.mdb";
    if (::chown(lock.c_str(), 54'321, 54'322) != 0) {
        GTEST_SKIP() << "only root can give files away";
    }
    const Status checked = check_folder(store.paths().queue, false);
    EXPECT_EQ(checked.error().code, ErrorCode::kPermission);
    EXPECT_THAT(checked.error().message, HasSubstr("belongs to user 54321"));
    EXPECT_THAT(checked.error().message, HasSubstr("chown -h 0 " + lock.string()));
}

}  // namespace
}  // namespace sluice::store
