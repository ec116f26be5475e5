#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>

#include <algorithm>
#include <cerrno>
#include <fstream>
#include <string>

#include "lmdb_store/ledger/ledger.hpp"
#include "os/files/mapped_file.hpp"
#include "unit/lmdb_store/failing_calls.hpp"
#include "unit/lmdb_store/temp_store.hpp"

namespace sluice::store {
namespace {

/// Pages of files that count as memory of this process.
std::size_t file_bytes_resident() {
    std::ifstream status("/proc/self/status");
    for (std::string word; status >> word;) {
        if (word == "RssFile:") {
            std::size_t kilobytes = 0;
            status >> kilobytes;
            return kilobytes * 1024;
        }
    }
    ADD_FAILURE() << "no RssFile";
    return 0;
}

TEST(MappedPages, AreDroppedAndCanStillBeRead) {
    constexpr std::size_t kBytes = 16U << 20;
    const TempFolder folder;
    const std::filesystem::path path = folder.path() / "file";
    write_text(path, std::string(kBytes, 'x'));
    const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
    const auto* map =
        static_cast<const char*>(::mmap(nullptr, kBytes, PROT_READ, MAP_SHARED, fd, 0));
    ASSERT_NE(map, MAP_FAILED);
    const auto all_are_x = [&] {
        return std::string_view(map, kBytes).find_first_not_of('x') == std::string_view::npos;
    };
    ASSERT_TRUE(all_are_x());
    const std::size_t before = file_bytes_resident();
    release_mapped_pages(folder.path() / "." / "file");
    EXPECT_LT(file_bytes_resident() + kBytes / 2, before);
    EXPECT_TRUE(all_are_x());
    ::munmap(const_cast<char*>(map), kBytes);
    ::close(fd);
}

/// A private map has changes that are in no file; dropping its pages would lose them.
TEST(MappedPages, OnlySharedReadMapsOfTheFileAreDropped) {
    const TempFolder folder;
    const std::filesystem::path path = folder.path() / "file";
    write_text(path, std::string(4096, 'x'));
    const int fd = ::open(path.c_str(), O_RDWR | O_CLOEXEC);
    auto* mine =
        static_cast<char*>(::mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE, fd, 0));
    ASSERT_NE(mine, MAP_FAILED);
    mine[0] = 'y';
    release_mapped_pages(path);
    EXPECT_EQ(mine[0], 'y');
    ASSERT_EQ(::mprotect(mine, 4096, PROT_READ), 0);
    release_mapped_pages(path);
    EXPECT_EQ(mine[0], 'y');
    std::filesystem::remove(path);
    release_mapped_pages(path);
    EXPECT_EQ(mine[0], 'y') << "a file that is gone has no maps";
    ::munmap(mine, 4096);
    ::close(fd);
}

TEST(MappedPages, WithoutProcNoPageIsDropped) {
    const TempFolder folder;
    write_text(folder.path() / "file", "x");
    const FailingCall call("sys_fopen", 0, ENOENT);
    release_mapped_pages(folder.path() / "file");
    EXPECT_TRUE(call.struck());
}

/// A report over a million orders runs in bounded memory.
TEST(MappedPages, AWalkThroughTheLedgerDoesNotHoldAllOfIt) {
    constexpr int kOrders = 65'000;
    constexpr const char* kNode = "11111111-2222-3333-4444-555555555555";
    const TempFolder folder;
    ASSERT_TRUE(EmbeddedLedger::create(folder.path()).ok());
    const auto ledger = EmbeddedLedger::open(folder.path(), EmbeddedLedger::Mode::kReadWrite);
    ASSERT_TRUE(ledger.ok());
    {
        const auto txn = (*ledger)->begin(kNode);
        OrderState order;
        order.currency = *Currency::parse("USD");
        order.lines.emplace_back().id = LineItemId(std::string(700, 'l'));
        for (int i = 0; i < kOrders; ++i) {
            order.key = {{1}, {2}, OrderId("order-" + std::to_string(1'000'000 + i))};
            txn->put_order(order);
        }
        txn->commit();
    }
    const auto snapshot = (*ledger)->snapshot(kNode);
    const std::size_t before = file_bytes_resident();
    std::size_t largest = 0;
    int seen = 0;
    snapshot->scan_orders({1}, {2}, [&](const OrderState&) {
        largest = ++seen % 1000 == 0 ? std::max(largest, file_bytes_resident()) : largest;
        return true;
    });
    EXPECT_EQ(seen, kOrders);
    EXPECT_GT((*ledger)->size().bytes_to_last_page, 48U << 20);
    EXPECT_LT(largest, before + (32U << 20));
}

}  // namespace
}  // namespace sluice::store
