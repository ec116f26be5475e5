// Candidates for an order and why each lost, for people.
#pragma once

#include <string_view>
#include <vector>

#include "core/ledger/ledger.hpp"

namespace sluice {

struct ExplainedCandidate {
    AttributionType type = AttributionType::kAffiliateCode;
    std::string source;            ///< `code SAVE`, or `touch of 2026-01-01T00:00:00Z`
    std::string program, creator;  ///< Empty: a code that nobody owns.
    bool won = false;
    std::string words;  ///< Why it won or lost.
};

/// Of an attributed order: as they were when it was attributed.
[[nodiscard]] std::vector<ExplainedCandidate> candidates_then(const OrderState& order);
/// Of an order without a creator: every code and the latest touches, and why none of them counts.
[[nodiscard]] std::vector<ExplainedCandidate> candidates_now(const OrderState& order,
                                                             std::string_view shop_id,
                                                             LedgerReader& ledger);

}  // namespace sluice
