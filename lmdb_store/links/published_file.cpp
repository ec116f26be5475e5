#include "lmdb_store/links/published_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <string>
#include <utility>

#include "lmdb_store/registry/published.hpp"
#include "os/files/file_owner.hpp"
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

Result<PublishedHead> of_this_store(const StorePaths& paths, Result<PublishedHead> head) {
    if (!head) {
        return unusable_links(links_file(paths), "is damaged");
    }
    const Result<StoreFormat> format = read_store_format(paths);
    if (!format) {
        return format.error();
    }
    return head->store == format->uuid ? head
                                       : Result<PublishedHead>(unusable_links(
                                             links_file(paths), "belongs to another store"));
}

Result<std::string> links_bytes(const StorePaths& paths) {
    Result<std::string> bytes = read_plain_file(links_file(paths), kLinksFileBytesMax);
    return bytes || bytes.error().code == ErrorCode::kNotFound ||
                   bytes.error().code == ErrorCode::kPermission
               ? std::move(bytes)
               : Result<std::string>(unusable_links(links_file(paths), "is unreadable"));
}

/// Owner and mode of a file, or of the store's format instead.
FileOwner owner_like(const fs::path& path, const StorePaths& paths) {
    struct stat info {};
    const bool is_known =
        ::stat(path.c_str(), &info) == 0 || ::stat(paths.format.c_str(), &info) == 0;
    return is_known ? FileOwner{info.st_uid, info.st_gid, static_cast<mode_t>(info.st_mode & 0777U)}
                    : FileOwner{};
}

/// Maps the page for writing, and makes it if there is none.
Result<MappedFile> links_page(const StorePaths& paths) {
    Result<MappedFile> page = MappedFile::open(links_generation_file(paths), kGenerationBytes);
    if (page ||
        (page.error().code != ErrorCode::kNotFound && page.error().code != ErrorCode::kInvalid)) {
        return page;
    }
    const FileOwner file = owner_like(links_generation_file(paths), paths);
    FileOwner folder = file;
    folder.mode = (file.mode & 0040U) != 0 ? 0750 : 0700;
    Status made = create_links_folder(paths, folder, file);
    return made ? MappedFile::open(links_generation_file(paths), kGenerationBytes)
                : Result<MappedFile>(made.error());
}

/// Its temporary name belongs to the holder of the worker's lock.
Status replace_links(const StorePaths& paths, std::string_view bytes) {
    TemporaryFile temporary(links_file(paths).string() + ".new");
    const fs::path path = temporary.c_str();
    ::unlink(path.c_str());  // left by a process that was killed
    const Fd fd(open_retrying(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, 0600));
    if (!fd.ok()) {
        return system_error(errno, "create", path);
    }
    if (const int rc = write_all(fd.get(), bytes); rc != 0) {
        return system_error(rc, "write", path);
    }
    const FileOwner owner = owner_like(links_generation_file(paths), paths);
    if (const int rc = set_owner(fd.get(), owner.user, owner.group, owner.mode); rc != 0) {
        return system_error(rc, "set the owner of", path);
    }
    if (::fsync(fd.get()) != 0) {
        return system_error(errno, "write", path);
    }
    if (::rename(path.c_str(), links_file(paths).c_str()) != 0) {
        return system_error(errno, "replace", links_file(paths));
    }
    temporary.keep();
    return sync_folder(paths.links);
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
    const Result<StoreFormat> format = read_store_format(paths);
    if (!format) {
        return format.error();
    }
    const Result<MappedFile> page = links_page(paths);
    if (!page) {
        return page.error();
    }
    auto& counter = *static_cast<std::atomic<std::uint64_t>*>(page->data());
    PublishedHead head{format->uuid, 0, revision};
    if (const Result<std::string> last = links_bytes(paths)) {
        const Result<PublishedHead> before = PublishedLinks::read_head(*last);
        head.generation = before ? before->generation : 0;
        if (before && head.generation == counter.load() && links.finish(head) == *last) {
            return Status::success();
        }
    }
    head.generation = std::max(counter.load(), head.generation) + 1;
    if (Status replaced = replace_links(paths, links.finish(head)); !replaced) {
        return replaced;
    }
    counter.store(head.generation, std::memory_order_release);
    return Status::success();
}

Result<PublishedHead> read_links_head(const StorePaths& paths) {
    const Result<OpenFile> file = OpenFile::open(links_file(paths), OpenFile::Mode::kRead);
    if (!file) {
        return file.error();
    }
    const Result<std::string> bytes = file->read_at(0, PublishedLinks::kHeadBytes);
    return bytes ? of_this_store(paths, PublishedLinks::read_head(*bytes))
                 : Result<PublishedHead>(bytes.error());
}

Result<PublishedLinks> read_links(const StorePaths& paths, std::uint64_t generation) {
    Result<std::string> bytes = links_bytes(paths);
    if (!bytes) {
        return bytes.error();
    }
    Result<PublishedLinks> links = PublishedLinks::read(std::move(*bytes));
    if (!links) {
        return unusable_links(links_file(paths), "is cut off or damaged");
    }
    if (const auto head = of_this_store(paths, links->head()); !head) {
        return head.error();
    }
    if (links->head().generation < generation) {
        return unusable_links(links_file(paths), "is older than the last change (file " +
                                                     std::to_string(links->head().generation) +
                                                     " of " + std::to_string(generation) + ")");
    }
    return links;
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
