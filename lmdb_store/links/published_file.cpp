#include "lmdb_store/links/published_file.hpp"

#include <sys/stat.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <string>
#include <utility>

#include "lmdb_store/environment/store_failure.hpp"
#include "lmdb_store/registry/publish.hpp"
#include "lmdb_store/registry/published.hpp"
#include "os/files/mapped_file.hpp"

namespace sluice::store {
namespace {

namespace fs = std::filesystem;

/// A file of the most and longest links.
constexpr std::size_t kLinksFileBytesMax = kLinksMax * (kDestinationBytesMax + 128);

Error unusable_links(const fs::path& path, const std::string& what) {
    return {ErrorCode::kCorrupt, "\"" + path.string() + "\" " + what +
                                     ": it should be what the worker wrote last, and nginx serves "
                                     "the links that it read before. Start the worker again"};
}

/// Throws kCorrupt for the file of another store.
void check_store(const StorePaths& paths, const PublishedHead& head) {
    if (head.store != checked(read_store_format(paths)).uuid) {
        throw StoreFailure(unusable_links(links_file(paths), "belongs to another store"));
    }
}

Result<std::string> links_bytes(const StorePaths& paths) {
    Result<std::string> bytes = read_plain_file(links_file(paths), kLinksFileBytesMax);
    return bytes || bytes.error().code == ErrorCode::kNotFound ||
                   bytes.error().code == ErrorCode::kPermission
               ? std::move(bytes)
               : Result<std::string>(unusable_links(links_file(paths), "is unreadable"));
}

/// Maps the page for writing, and makes it if there is none.
MappedFile links_page(const StorePaths& paths) {
    return map_generation(links_generation_file(paths), [&paths] {
        const FileOwner file = owner_like(links_generation_file(paths), paths);
        FileOwner folder = file;
        folder.mode = (file.mode & 0040U) != 0 ? 0750 : 0700;
        return create_links_folder(paths, folder, file);
    });
}

}  // namespace

Status create_links_folder(const StorePaths& paths, const FileOwner& folder,
                           const FileOwner& file) {
    if (::mkdir(paths.links.c_str(), 0700) != 0 && errno != EEXIST) {
        return system_error(errno, "create", paths.links);
    }
    Status ok =
        replace_file(links_generation_file(paths), std::string(kGenerationBytes, '\0'), file);
    return ok ? set_owner(paths.links, folder) : ok;
}

Status publish_links(const StorePaths& paths, const PublishedLinksWriter& links,
                     std::uint64_t revision) {
    return attempt([&] {
        PublishedHead head{checked(read_store_format(paths)).uuid, 0, revision};
        const MappedFile page = links_page(paths);
        auto& counter = *static_cast<std::atomic<std::uint64_t>*>(page.data());
        if (const Result<std::string> last = links_bytes(paths)) {
            const Result<PublishedHead> before = PublishedLinks::read_head(*last);
            head.generation = before ? before->generation : 0;
            if (before && head.generation == counter.load() && links.finish(head) == *last) {
                return;
            }
        }
        head.generation = std::max(counter.load(), head.generation) + 1;
        replace_published(links_file(paths), owner_like(links_generation_file(paths), paths),
                          [&](int to) { return write_all(to, links.finish(head)); });
        counter.store(head.generation, std::memory_order_release);
    });
}

Result<PublishedHead> read_links_head(const StorePaths& paths) {
    return attempt([&] {
        const OpenFile file = checked(OpenFile::open(links_file(paths), OpenFile::Mode::kRead));
        Result<PublishedHead> head =
            PublishedLinks::read_head(checked(file.read_at(0, PublishedLinks::kHeadBytes)));
        if (!head) {
            throw StoreFailure(unusable_links(links_file(paths), "is damaged"));
        }
        check_store(paths, *head);
        return head;
    });
}

Result<PublishedLinks> read_links(const StorePaths& paths, std::uint64_t generation) {
    return attempt([&] {
        Result<PublishedLinks> links = PublishedLinks::read(checked(links_bytes(paths)));
        if (!links) {
            throw StoreFailure(unusable_links(links_file(paths), "is cut off or damaged"));
        }
        check_store(paths, links->head());
        if (links->head().generation < generation) {
            throw StoreFailure(
                unusable_links(links_file(paths), "is older than the last change (file " +
                                                      std::to_string(links->head().generation) +
                                                      " of " + std::to_string(generation) + ")"));
        }
        return links;
    });
}

Status check_links_file(const StorePaths& paths) {
    const Result<PublishedGeneration> page =
        PublishedGeneration::open(links_generation_file(paths));
    if (!page) {
        return page.error();
    }
    const Result<PublishedLinks> links = read_links(paths, page->current());
    return links ? Status::success() : Status(links.error());
}

}  // namespace sluice::store
