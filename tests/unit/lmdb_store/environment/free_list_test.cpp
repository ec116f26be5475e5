// A data file that ends before its last page: whole if the missing pages are free, else cut off.
//
// The files here are made by hand in LMDB's format, because LMDB itself makes no damaged ones.
#include <fcntl.h>
#include <gtest/gtest.h>

#include <cerrno>
#include <cstring>
#include <functional>

#include "lmdb_store/environment/folder_check.hpp"
#include "os/files/file_io.hpp"
#include "unit/lmdb_store/failing_calls.hpp"
#include "unit/lmdb_store/temp_store.hpp"

namespace sluice::store {
namespace {

constexpr std::size_t kPageSize = 4096;
constexpr std::uint64_t kTxn = 8;
constexpr std::size_t kPages = 6;         // in the file: two metas, branch, leaf, overflow, another
constexpr std::uint64_t kLastPage = 8;    // 6, 7 and 8 are missing
constexpr std::size_t kMetaAt = 16;       // behind the page's head
constexpr std::size_t kRootAt = 24 + 40;  // of the tree of free pages, in the meta
constexpr std::size_t kTxnAt = 24 + 96 + 8;
constexpr std::uint16_t kBranch = 1, kLeaf = 2, kBigData = 1;

/// A data file of a few pages.
class Pages {
public:
    Pages() : bytes_(kPages * kPageSize, '\0') {
        for (std::size_t page = 0; page < kPages; ++page) {
            put<std::uint64_t>(page, 0, page);
        }
        for (const std::size_t meta : {0U, 1U}) {
            put<std::uint32_t>(meta, kMetaAt, 0xBEEFC0DE);
            put<std::uint32_t>(meta, kMetaAt + 4, 1);
            put<std::uint32_t>(meta, kMetaAt + 24, kPageSize);
            put<std::uint64_t>(meta, kMetaAt + kTxnAt, kTxn - meta);
            set_root(meta, 2);
        }
    }
    template <class Number>
    void put(std::size_t page, std::size_t at, Number value) {
        std::memcpy(bytes_.data() + page * kPageSize + at, &value, sizeof(value));
    }
    void set_root(std::size_t meta, std::uint64_t page) {
        put<std::uint64_t>(meta, kMetaAt + kRootAt, page);
    }
    void set_head(std::size_t page, std::uint16_t flags, std::size_t nodes_count) {
        put<std::uint16_t>(page, 10, flags);
        put<std::uint16_t>(page, 12, static_cast<std::uint16_t>(16 + 2 * nodes_count));
    }
    /// Its data begins 16 bytes behind `at`: head and a key of 8.
    void put_node(std::size_t page, std::size_t index, std::uint16_t at, std::uint64_t word,
                  std::uint16_t flags) {
        put<std::uint16_t>(page, 16 + 2 * index, at);
        put<std::uint16_t>(page, at, static_cast<std::uint16_t>(word));
        put<std::uint16_t>(page, at + 2U, static_cast<std::uint16_t>(word >> 16));
        put<std::uint16_t>(page, at + 4U, flags);
        put<std::uint16_t>(page, at + 6U, 8);
    }
    void put_list(std::size_t page, std::size_t at, const std::vector<std::uint64_t>& numbers) {
        put<std::uint64_t>(page, at, numbers.size());
        for (const std::uint64_t number : numbers) {
            put(page, at += 8, number);
        }
    }
    /// Page 2 is a leaf with one list.
    void leaf_with(const std::vector<std::uint64_t>& numbers) {
        set_head(2, kLeaf, 1);
        put_node(2, 0, 1000, 8 * (numbers.size() + 1), 0);
        put_list(2, 1016, numbers);
    }
    [[nodiscard]] int are_free(std::uint64_t txn = kTxn,
                               std::uint64_t last_page = kLastPage) const {
        const TempFolder folder;
        write_text(folder.path() / "data.mdb", bytes_);
        const Fd fd(::open((folder.path() / "data.mdb").c_str(), O_RDONLY | O_CLOEXEC));
        return missing_pages_are_free(fd.get(), txn, kPages, last_page);
    }

private:
    std::string bytes_;
};

TEST(FreeList, AFileThatIsLongEnoughNeedsNoList) {
    const Pages pages;
    EXPECT_EQ(pages.are_free(kTxn, kPages - 1), 1);
    EXPECT_EQ(pages.are_free(kTxn, kPages + (1U << 25)), 0) << "too much is missing to look";
}

TEST(FreeList, EveryMissingPageMustBeInTheList) {
    Pages pages;
    pages.leaf_with({8, 7, 6});
    EXPECT_EQ(pages.are_free(), 1);
    pages.leaf_with({8, 6});
    EXPECT_EQ(pages.are_free(), 0);
    pages.leaf_with({8, 7, 3, 900});
    EXPECT_EQ(pages.are_free(), 0) << "page 6 is neither there nor free";
    pages.leaf_with({8, 7, 6});
    pages.put<std::uint64_t>(2, 1016, 2);  // the list says that it is shorter
    EXPECT_EQ(pages.are_free(), 0);
    pages.set_root(0, ~std::uint64_t{0});
    EXPECT_EQ(pages.are_free(), 0) << "there is no free page at all";
}

TEST(FreeList, TheMetaPageOfTheSnapshotIsTaken) {
    Pages pages;
    pages.leaf_with({8, 7, 6});
    EXPECT_EQ(pages.are_free(kTxn - 1), 1) << "of the other meta page";
    EXPECT_EQ(pages.are_free(kTxn + 1), 0) << "of none";
    pages.put<std::uint32_t>(0, kMetaAt, 0xBEEF);
    EXPECT_EQ(pages.are_free(), 0) << "no meta page";
}

TEST(FreeList, BranchesAndListsOnPagesOfTheirOwnAreFollowed) {
    Pages pages;
    pages.set_head(2, kBranch, 2);
    pages.put_node(2, 0, 1000, 3, 0);
    pages.put_node(2, 1, 1100, 5, 0);
    for (const std::size_t leaf : {3U, 5U}) {
        pages.set_head(leaf, kLeaf, 1);
    }
    pages.put_node(3, 0, 1000, 3 * 8, kBigData);
    pages.put<std::uint64_t>(3, 1016, 4);  // the list lies on page 4
    pages.put_list(4, 16, {7, 6});
    pages.put_node(5, 0, 1000, 2 * 8, 0);
    pages.put_list(5, 1016, {8});
    EXPECT_EQ(pages.are_free(), 1);
    pages.put<std::uint64_t>(3, 1016, 60);
    EXPECT_EQ(pages.are_free(), 0) << "a list beyond the end of the file";
    pages.put<std::uint64_t>(3, 1016, 4);
    pages.put_node(2, 1, 1100, 2, 0);
    EXPECT_EQ(pages.are_free(), 0) << "a tree that leads in circles";
    pages.put_node(2, 1, 1100, 77, 0);
    EXPECT_EQ(pages.are_free(), 0) << "a branch beyond the end of the file";
}

TEST(FreeList, NoValueOfADamagedPageIsUsed) {
    const std::vector<std::function<void(Pages&)>> damages = {
        [](Pages& pages) { pages.put<std::uint64_t>(2, 0, 3); },        // another page's number
        [](Pages& pages) { pages.put<std::uint16_t>(2, 12, 15); },      // ends before its nodes
        [](Pages& pages) { pages.put<std::uint16_t>(2, 12, 4097); },    // ends behind its end
        [](Pages& pages) { pages.put<std::uint16_t>(2, 10, 0); },       // neither branch nor leaf
        [](Pages& pages) { pages.put<std::uint16_t>(2, 16, 4090); },    // a node behind the end
        [](Pages& pages) { pages.put<std::uint16_t>(2, 1000, 4096); },  // a list behind the end
        [](Pages& pages) { pages.put_node(2, 0, 1000, 0xFFFF'FFFF, kBigData); },  // longer than all
        [](Pages& pages) {
            pages.set_head(2, kLeaf, 2);  // the first of two nodes lies behind the end
            pages.put_node(2, 1, 1000, 32, 0);
            pages.put<std::uint16_t>(2, 16, 4090);
        },
        [](Pages& pages) { pages.put<std::uint32_t>(0, kMetaAt + 24, 0); },  // pages of no bytes
        [](Pages& pages) { pages.put<std::uint32_t>(0, kMetaAt + 24, 0xFFFF'F000); },
    };
    for (std::size_t i = 0; i < damages.size(); ++i) {
        Pages pages;
        pages.leaf_with({8, 7, 6});
        damages[i](pages);
        EXPECT_EQ(pages.are_free(), 0) << i;
    }
}

TEST(FreeList, AFailedReadIsDistinguishedFromDamage) {
    Pages pages;
    pages.leaf_with({8, 7, 6});
    for (const int nth : {0, 1}) {
        const FailingCall call("sys_pread", nth, EIO);
        EXPECT_EQ(pages.are_free(), -EIO);
        EXPECT_TRUE(call.struck());
    }
    {
        const FailingCall call("sys_pread", 1, EIO);  // of the other meta page
        EXPECT_EQ(pages.are_free(kTxn - 1), -EIO);
    }
    pages.set_head(2, kBranch, 2);
    pages.put_node(2, 0, 1000, 3, 0);
    pages.put_node(2, 1, 1100, 4, 0);
    const FailingCall call("sys_pread", 2, EIO);  // of a leaf while another one is waiting
    EXPECT_EQ(pages.are_free(), -EIO);
}

}  // namespace
}  // namespace sluice::store
