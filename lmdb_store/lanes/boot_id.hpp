// Boot id: which start of the machine this is. Stamps and cells count within one.
#pragma once

#include "core/commit/lane_format.hpp"
#include "core/values/result.hpp"

namespace sluice::store {

[[nodiscard]] Result<Uuid> read_boot_id();

}  // namespace sluice::store
