// Position row: positions of an order as columns of sluice_ledger.orders. Internal to pg_store;
// pure.
//
// They are arrays in the order's own row, not a table of positions: an order is read, locked,
// compared and written as one value, so an event costs one row, and a batch of events the same few
// statements however many positions there are. What belongs to one position of several names it by
// its number, from 1.
#pragma once

#include <string>
#include <vector>

#include "core/ledger/order_state.hpp"
#include "pg_store/connection/row_reader.hpp"
#include "pg_store/connection/row_writer.hpp"

namespace sluice::pg {

inline constexpr const char* kPositionColumns[] = {
    "position_programs",
    "position_creators",
    "position_types",
    "position_causes",
    "position_commands",
    "position_topics",
    "position_at_s",
    "position_at_ns",
    "position_candidates",
    "position_volumes",
    "position_volume_currencies",
    "position_customers",
    "position_groups",
    "position_posted_s",
    "position_posted_ns",
    "cap_positions",
    "cap_currencies",
    "cap_amounts",
    "frozen_positions",
    "frozen_lines",
    "frozen_rates",
    "rate_kinds",
    "rate_values",
    "rate_currencies",
    "rate_bases",
    "rate_matches",
    "rate_programs",
    "rate_rules",
    "rate_tiers",
    "rate_shared_with",
    "accrual_positions",
    "accrual_lines",
    "accrual_currencies",
    "accrual_amounts",
    "accrual_allocated",
    "accrual_entries",
    "allocation_positions",
    "allocation_payouts",
    "allocation_currencies",
    "allocation_amounts",
    "allocation_commissions",
    "allocation_has_commission",
    "allocation_active",
};

/// Writes one field for each of kPositionColumns.
void encode_positions(const std::vector<Position>& positions, RowWriter& row);
/// Reads them. Throws DamagedField.
void decode_positions(RowReader& row, std::vector<Position>& positions);

}  // namespace sluice::pg
