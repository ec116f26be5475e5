// Can the worker processes use the store? Asked by the master and `nginx -t`, which opens nothing.
#pragma once

#include <optional>
#include <string>

#include "lmdb_store/store/format.hpp"
#include "ngx_module/nginx/ngx_api.hpp"

namespace sluice::ngx {

/// Looks with the user, group and supplementary groups of the workers at every directory down to
/// the files that they open. Creates and opens nothing.
/// @return what is wrong and what to do, or nothing.
[[nodiscard]] std::optional<std::string> check_store_access(const store::StorePaths& paths,
                                                            const ngx_core_conf_t& core);

}  // namespace sluice::ngx
