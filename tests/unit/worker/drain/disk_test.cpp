// A full disk under the drain. Needs a small file system of its own:
// SLUICE_SMALL_DISK names its folder, and TMPDIR the same, so that the store is made there.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>

#include "unit/worker/drain/fixture.hpp"
#include "worker/drain/rebuild.hpp"

namespace sluice::worker {
namespace {

/// Takes all room but `left_bytes`, until it is destroyed.
class Filler {
public:
    Filler(std::filesystem::path path, std::uint64_t left_bytes) : path_(std::move(path)) {
        const auto free = std::filesystem::space(path_.parent_path()).available;
        const int file = ::open(path_.c_str(), O_CREAT | O_WRONLY | O_TRUNC, 0600);
        const auto bytes = static_cast<off_t>(free - left_bytes);
        EXPECT_EQ(::posix_fallocate(file, 0, bytes), 0);
        ::close(file);
    }
    Filler(const Filler&) = delete;
    Filler& operator=(const Filler&) = delete;
    ~Filler() { std::filesystem::remove(path_); }

private:
    std::filesystem::path path_;
};

TEST(DrainDisk, AFullDiskIsWaitedForAndNothingIsPoison) {
    const char* const disk = std::getenv("SLUICE_SMALL_DISK");
    if (disk == nullptr) {
        GTEST_SKIP() << "SLUICE_SMALL_DISK is not set";
    }
    for (const std::uint64_t left : {16'384U, 65'536U, 262'144U, 1'048'576U}) {
        DrainStore store;
        store.program_and_creator();
        store.orders(0, 3000);
        store.orders(0, 1500, 2);
        auto filler = std::make_unique<Filler>(std::filesystem::path(disk) / "filler", left);
        int retries = 0;
        store.events_.retrying = [&](const Error& error) {
            EXPECT_EQ(error.code, ErrorCode::kNoSpace) << error.message;
            ++retries;
            filler.reset();  // an operator frees the disk
        };
        DrainOptions options;
        options.batch.records_max = 500;
        store.drain_all(options);
        filler.reset();
        store.drain_all(options);  // what the archive missed
        EXPECT_GT(retries, 0) << "the disk was never full: " << left;
        EXPECT_EQ(store.head().totals.dead, 0U);
        EXPECT_EQ(store.head().totals.applied, 4500U);
        EXPECT_TRUE(store.ledger()->verify(store.queue().uuid(), 3).empty());
        auto rebuilt = Rebuild::begin({store.paths().archive}, store.paths().root / "rebuilt", {});
        ASSERT_TRUE(rebuilt.ok()) << rebuilt.error().message;
        ASSERT_TRUE((*rebuilt)->replay().ok());
        const auto compared = (*rebuilt)->compare(*store.ledger(), store.queue().uuid());
        ASSERT_TRUE(compared.ok()) << compared.error().message;
        EXPECT_TRUE(compared->equal) << compared->text;
    }
}

}  // namespace
}  // namespace sluice::worker
