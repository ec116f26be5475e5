// Candidates for an order and why each lost, for people.
#pragma once

#include <string_view>
#include <vector>

#include "core/explain/explain.hpp"

namespace sluice {

/// Of an attributed order: as they were when it was attributed.
[[nodiscard]] std::vector<ExplainedCandidate> candidates_then(const OrderState& order);
/// Of an order without a creator: every code and the latest touches, and why none of them counts.
[[nodiscard]] std::vector<ExplainedCandidate> candidates_now(const OrderState& order,
                                                             std::string_view shop_id,
                                                             LedgerReader& ledger);

}  // namespace sluice
