// Dry run row: what a command would change for one creator.
#pragma once

#include <cstdint>

#include "core/values/decimal.hpp"
#include "core/values/ids.hpp"
#include "core/values/money.hpp"

namespace sluice {

/// The number of orders that the creator would gain or lose, or of which another amount would have
/// accrued, and the sums over these orders. A command without orders, such as a credit, has a row
/// of 0 orders.
struct DryRunRow {
    ProgramId program;
    CreatorId creator;
    Currency currency;
    std::uint64_t orders = 0;
    Decimal before, after, difference;
};

}  // namespace sluice
