// Listed refunds: what a list states of the refunds of an order.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/values/decimal.hpp"

namespace sluice::cli {

/// The refunded amount of a line.
struct ListedRefund {
    std::string line;
    Decimal amount;
};

/// Returns the refunds of a translated order: one for each line, or none.
[[nodiscard]] std::vector<ListedRefund> refunds_of(std::string_view payload);

}  // namespace sluice::cli
