// Order row: an order as columns of sluice_ledger.orders. Internal to pg_store; pure.
//
// Lists are columns that belong together, each with a value of every item as text (list_text.hpp),
// which views take apart. Only events and candidates are packed, because they hold no money and
// only `sluice explain` reads them.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "core/ledger/order_state.hpp"
#include "pg_store/connection/row_reader.hpp"
#include "pg_store/connection/row_writer.hpp"
#include "pg_store/rows/described.hpp"

namespace sluice::pg {

/// Returns the columns after account, shop, order_id and revision, separated by commas.
[[nodiscard]] const std::string& order_columns();
[[nodiscard]] std::size_t order_columns_count();

/// Writes one field for each of order_columns().
void encode_order(const OrderState& state, RowWriter& row);
/// Reads them into `state`, whose key must be set. Throws DamagedRow.
void decode_order(RowReader& row, OrderState& state);

// ---- The columns that payouts change, for an update of many orders at once ----------------------

/// Returns names of the columns, separated.
[[nodiscard]] const std::string& allocation_columns();
/// Returns `accrual_allocated = <prefix>accrual_allocated, ...`
[[nodiscard]] std::string allocation_assignments(const char* prefix);
/// Returns `$5::text[], ...`, an array over the orders for each column.
[[nodiscard]] std::string allocation_parameters(std::size_t first);
/// Adds the types of the fields that encode_allocations() writes.
void add_allocation_types(std::vector<Type>& types);
/// One order's values.
void encode_allocations(const OrderState& state, RowArrays& to);

}  // namespace sluice::pg
