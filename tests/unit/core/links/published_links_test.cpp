#include "core/links/published_links.hpp"

#include <gtest/gtest.h>

#include <string>

namespace sluice {
namespace {

constexpr const char* kStore = "11111111-2222-3333-4444-555555555555";

std::string some_links() {
    PublishedLinksWriter writer;
    writer.add({"anna", {1}, "https://shop.example/us", true, false});
    writer.add({"ben", {2}, "https://other.example/?a=1#b", false, true});
    return writer.finish({kStore, 7, 3});
}

TEST(PublishedLinks, ItIsReadAsItWasWritten) {
    const Result<PublishedLinks> links = PublishedLinks::read(some_links());
    ASSERT_TRUE(links.ok()) << links.error().message;
    EXPECT_EQ(links->head().store, kStore);
    EXPECT_EQ(links->head().generation, 7U);
    EXPECT_EQ(links->head().revision, 3U);
    ASSERT_EQ(links->links().size(), 2U);
    const PublishedLink* const ben = links->find("ben");
    ASSERT_NE(ben, nullptr);
    EXPECT_EQ(ben->account, AccountNumber{2});
    EXPECT_TRUE(ben->is_stopped);
    EXPECT_FALSE(ben->is_deep);
    EXPECT_EQ(ben->to.query, "a=1");
    EXPECT_EQ(links->find("annA"), nullptr);
    EXPECT_EQ(links->find(""), nullptr);
}

TEST(PublishedLinks, AFileWithoutLinksIsWhole) {
    const Result<PublishedLinks> links =
        PublishedLinks::read(PublishedLinksWriter().finish({kStore, 1, 0}));
    ASSERT_TRUE(links.ok());
    EXPECT_TRUE(links->links().empty());
    links->prefetch("anna");
    EXPECT_EQ(links->find("anna"), nullptr);
}

TEST(PublishedLinks, OfManyLinksEachIsFoundAndNoOther) {
    for (const std::size_t count : {1U, 2U, 3U, 4U, 1000U, 20'000U}) {
        PublishedLinksWriter writer;
        for (std::size_t i = 0; i < count; ++i) {
            writer.add({"link-" + std::to_string(i), {1}, "https://shop.example/", false, false});
        }
        const Result<PublishedLinks> links = PublishedLinks::read(writer.finish({kStore, 1, 1}));
        ASSERT_TRUE(links.ok()) << links.error().message;
        for (std::size_t i = 0; i < 2 * count; ++i) {
            const std::string id = "link-" + std::to_string(i);
            const PublishedLink* const found = links->find(id);
            ASSERT_EQ(found != nullptr, i < count) << id;
            EXPECT_TRUE(found == nullptr || found->id == id);
        }
    }
}

TEST(PublishedLinks, EveryCutAndEveryChangedByteIsFound) {
    const std::string file = some_links();
    for (std::size_t size = 0; size < file.size(); ++size) {
        EXPECT_FALSE(PublishedLinks::read(file.substr(0, size)).ok()) << size;
    }
    for (std::size_t at = 0; at < file.size(); ++at) {
        std::string damaged = file;
        damaged[at] = static_cast<char>(damaged[at] ^ 1);
        EXPECT_FALSE(PublishedLinks::read(damaged).ok()) << at;
    }
    EXPECT_FALSE(PublishedLinks::read(file + '\0').ok());
}

TEST(PublishedLinks, AnIdStandsOnce) {
    PublishedLinksWriter writer;
    writer.add({"anna", {1}, "https://shop.example/", false, false});
    writer.add({"anna", {2}, "https://evil.example/", false, false});
    EXPECT_FALSE(PublishedLinks::read(writer.finish({kStore, 1, 1})).ok());
}

TEST(PublishedLinks, ADestinationThatIsNoneIsNotServed) {
    PublishedLinksWriter writer;
    writer.add({"anna", {1}, "javascript:x", false, false});
    EXPECT_FALSE(PublishedLinks::read(writer.finish({kStore, 1, 1})).ok());
}

TEST(PublishedLinks, TheHeadIsReadAlone) {
    const std::string file = some_links();
    const auto head = PublishedLinks::read_head(file.substr(0, PublishedLinks::kHeadBytes));
    ASSERT_TRUE(head.ok());
    EXPECT_EQ(head->revision, 3U);
    EXPECT_FALSE(PublishedLinks::read_head(file.substr(0, PublishedLinks::kHeadBytes - 1)).ok());
}

}  // namespace
}  // namespace sluice
