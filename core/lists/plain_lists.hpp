// Plain lists: those without a file of their own, and the table of all, of which commands, the API
// and exports are made. A new list is a function here, and an entry of the table.
#pragma once

#include <vector>

#include "core/lists/plain_list.hpp"

namespace sluice::lists {

/// The sums of a closed period, each of a creator, program and currency.
[[nodiscard]] const PlainList& period_sum_list();

[[nodiscard]] const std::vector<const PlainList*>& plain_lists();

}  // namespace sluice::lists
