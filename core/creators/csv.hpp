// CSV of a creator's lists: the members of each row, in the order of its table (answers.hpp).
#pragma once

#include <string>
#include <vector>

#include "core/creators/answers.hpp"

namespace sluice {

[[nodiscard]] std::string creator_csv(const std::vector<CreatorOrder>& orders);
[[nodiscard]] std::string creator_csv(const std::vector<CreatorEntry>& entries);

}  // namespace sluice
