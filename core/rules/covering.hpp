// Covering: which programs cover a shop, and since when each of them does.
#pragma once

#include <string_view>
#include <vector>

#include "core/ledger/ledger.hpp"

namespace sluice {

/// A program that covers the order's shop. It counts for orders with
/// max(reach, starts_at) <= platform_ordered_at < ends_at.
struct Covering {
    const ProgramRow* row = nullptr;
    Timestamp reach;  ///< Of the apply that added the shop (A2).

    [[nodiscard]] bool counts_for(Timestamp ordered_at) const noexcept;
};

/// Programs that cover a shop, by program id. They point into `rows`.
[[nodiscard]] std::vector<Covering> covering_programs(const std::vector<ProgramRow>& rows,
                                                      std::string_view shop_id,
                                                      LedgerReader& ledger);

}  // namespace sluice
