// Publication: writes the copy of the registry that nginx's workers read. Internal to lmdb_store.
//
// Each change publishes itself. The holder of the registry's writer lock publishes, so that copies
// and generations are in the order of the changes. A process that ends between a change and its
// publication leaves a copy that is behind, which the next command replaces.
#pragma once

#include "core/values/result.hpp"
#include "lmdb_store/store/format.hpp"
#include "os/files/file_io.hpp"

namespace sluice::store {

struct RegistryTables;

/// Creates the page of a store without a copy.
[[nodiscard]] Status create_generation(const StorePaths& paths, const FileOwner& owner);
/// Publishes the registry as it is now. Blocks while another process writes to it.
[[nodiscard]] Status publish_registry(const StorePaths& paths, const RegistryTables& tables);
/// The same, of a store whose registry is not open in this process.
[[nodiscard]] Status publish_registry(const StorePaths& paths);
/// Publishes the registry unless the copy is equal to it, byte for byte. It differs after a crash
/// between a change and its publication, after a restore, and if the copy was damaged.
[[nodiscard]] Status publish_if_behind(const StorePaths& paths, const RegistryTables& tables);
/// Returns why nginx cannot use the published registry, or success.
[[nodiscard]] Status check_published(const StorePaths& paths);

}  // namespace sluice::store
