// Order row: an order as columns of sluice_ledger.orders. Internal to this room; pure.
//
// Lists are parallel arrays, so that every amount is a numeric that SQL can read. Only what is not
// money and asked for by `sluice explain` alone is packed: events and candidates.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/ledger/order_state.hpp"
#include "pg_store/connection/row_reader.hpp"
#include "pg_store/connection/row_writer.hpp"

namespace sluice::pg {

/// The columns behind account, shop, order_id and revision, separated by commas.
[[nodiscard]] const std::string& order_columns();
[[nodiscard]] std::size_t order_columns_count();

/// Writes one field for each of order_columns().
void encode_order(const OrderState& state, RowWriter& row);
/// Reads them; `state.key` says which order it is, all else is set. Throws DamagedRow.
void decode_order(RowReader& row, OrderState& state);

}  // namespace sluice::pg
