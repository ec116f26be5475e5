// Publication: writes the copy of the registry that nginx's workers read. Internal to lmdb_store.
//
// Each change publishes itself. The holder of the registry's writer lock publishes, so that copies
// and generations are in the order of the changes. A process that ends between a change and its
// publication leaves a copy that is behind, which the next command replaces.
//
// The worker publishes the links in the same way (lmdb_store/links), with the functions of the
// last section.
#pragma once

#include <filesystem>
#include <functional>

#include "core/values/result.hpp"
#include "lmdb_store/store/format.hpp"
#include "os/files/file_io.hpp"
#include "os/files/mapped_file.hpp"

namespace sluice::store {

struct RegistryTables;

/// Creates the page of a store without a copy.
[[nodiscard]] Status create_generation(const StorePaths& paths, const FileOwner& owner);
/// Publishes the registry as it is now. Blocks while another process writes to it.
[[nodiscard]] Status publish_registry(const StorePaths& paths, const RegistryTables& tables);
/// Publishes the registry of a store that this process has not opened.
[[nodiscard]] Status publish_registry(const StorePaths& paths);
/// Publishes the registry unless the copy is equal to it, byte for byte. It differs after a crash
/// between a change and its publication, after a restore, and if the copy was damaged.
[[nodiscard]] Status publish_if_behind(const StorePaths& paths, const RegistryTables& tables);
/// Returns why nginx cannot use the published registry, or success.
[[nodiscard]] Status check_published(const StorePaths& paths);

// ---- A published file and its page. Functions throw StoreFailure. -------------------------------

/// Returns owner and mode of a file, or those of the store's format if it is missing.
[[nodiscard]] FileOwner owner_like(const std::filesystem::path& path, const StorePaths& paths);
/// Maps a page for writing. Calls `create` first if the page is missing or cut off: nginx then
/// opens the store again.
[[nodiscard]] MappedFile map_generation(const std::filesystem::path& page,
                                        const std::function<Status()>& create);
/// Replaces a published file, durably, by what `write` writes to a descriptor. `write` returns 0 or
/// an errno. The temporary name belongs to the holder of the lock under which the file is
/// published.
void replace_published(const std::filesystem::path& path, const FileOwner& owner,
                       const std::function<int(int fd)>& write);

}  // namespace sluice::store
