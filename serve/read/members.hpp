// Members of the objects that the API returns, with who sees them. Lists have their columns in
// core/reports/.
#pragma once

#include <vector>

#include "core/reports/column.hpp"

namespace sluice::serve {

[[nodiscard]] const std::vector<reports::Column>& me_members();
[[nodiscard]] const std::vector<reports::Column>& today_members();
[[nodiscard]] const std::vector<reports::Column>& order_members();
[[nodiscard]] const std::vector<reports::Column>& creator_members();
[[nodiscard]] const std::vector<reports::Column>& creator_link_members();
[[nodiscard]] const std::vector<reports::Column>& approval_members();
[[nodiscard]] const std::vector<reports::Column>& changes_members();

}  // namespace sluice::serve
