// Published file: the links as nginx reads them, in the folder `<store>/links`.
//
//   links/published   the links (core/links/published_links.hpp). Each change replaces it by
//                     rename.
//   links/generation  a page with the generation of the last file. Readers map it for reading.
//
// The worker alone writes, under its lock. nginx needs only read permission. A file that is
// damaged, of another store, or older than the page says, is refused.
#pragma once

#include <cstdint>
#include <filesystem>

#include "core/links/published_links.hpp"
#include "core/values/result.hpp"
#include "lmdb_store/store/format.hpp"
#include "os/files/file_io.hpp"

namespace sluice::store {

[[nodiscard]] inline std::filesystem::path links_file(const StorePaths& paths) {
    return paths.links / "published";
}
[[nodiscard]] inline std::filesystem::path links_generation_file(const StorePaths& paths) {
    return paths.links / "generation";
}

/// Creates the folder and the page, and no file: until there is one, nginx knows no link.
/// @param folder, file  Owners and modes.
[[nodiscard]] Status create_links_folder(const StorePaths& paths, const FileOwner& folder,
                                         const FileOwner& file);
/// Publishes links, unless the file has the same ones already. Creates folder and page if they are
/// missing, as accessible as the store's format. Requires: the worker's lock is held.
/// @param revision  LinksHead::revision of these links.
[[nodiscard]] Status publish_links(const StorePaths& paths, const PublishedLinksWriter& links,
                                   std::uint64_t revision);

/// Reads the head of the file. kNotFound if there is none, kCorrupt if it is not this store's.
[[nodiscard]] Result<PublishedHead> read_links_head(const StorePaths& paths);
/// Reads and checks the whole file. Returns kCorrupt also if it is older than `generation`.
[[nodiscard]] Result<PublishedLinks> read_links(const StorePaths& paths, std::uint64_t generation);
/// Returns why nginx cannot use the file, or success.
[[nodiscard]] Status check_links_file(const StorePaths& paths);

}  // namespace sluice::store
