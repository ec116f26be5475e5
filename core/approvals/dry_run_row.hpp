// Dry run row: what a command would change for one creator.
#pragma once

#include <cstdint>

#include "core/values/decimal.hpp"
#include "core/values/ids.hpp"
#include "core/values/money.hpp"

namespace sluice {

/// The number of orders of which the creator would have accrued another amount, and the sums over
/// these orders. A command without orders, such as a credit, has a row of 0 orders.
struct DryRunRow {
    ProgramId program;
    CreatorId creator;
    Currency currency;
    std::uint64_t orders = 0;
    Decimal before, after, difference;
};

}  // namespace sluice
