// Plain lists: every list of which commands, the API and exports are made. A new one is a file of
// this folder, and a line in plain_lists.cpp.
#pragma once

#include <vector>

#include "core/lists/plain_list.hpp"

namespace sluice::lists {

[[nodiscard]] const std::vector<const PlainList*>& plain_lists();

}  // namespace sluice::lists
