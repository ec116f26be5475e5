// Copies the rows of an environment's snapshot into a new environment.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string_view>

#include "core/values/result.hpp"
#include "lmdb_store/environment/environment.hpp"

namespace sluice::store {

/// Creates `folder`/data.mdb with all tables of the snapshot, synced. The pages are full, so the
/// copy is not larger than the rows need.
/// @param keeps  Returns false for a row of the main table that is left out.
[[nodiscard]] Status copy_environment(const ReadTxn& snapshot, const std::filesystem::path& folder,
                                      const std::function<bool(std::string_view key)>& keeps);

}  // namespace sluice::store
