// Taken row: the columns of an order that payouts change, for an update of many orders at once.
// Internal to this room; pure.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "core/ledger/order_state.hpp"
#include "pg_store/connection/row_writer.hpp"

namespace sluice::pg {

/// Names of the columns, separated.
[[nodiscard]] const std::string& taken_columns();
/// `due_taken = <prefix>due_taken::numeric[], ...`
[[nodiscard]] std::string taken_assignments(const char* prefix);
/// `$5::text[], ...`, an array over the orders for each column.
[[nodiscard]] std::string taken_parameters(std::size_t first);
/// Adds the columns that encode_taken() fills.
void add_taken_columns(std::vector<ColumnArray>& columns);
/// One order's values.
void encode_taken(const OrderState& state, std::span<ColumnArray> columns);

}  // namespace sluice::pg
