// Walk: every row of a ledger, in an order that depends on the rows alone.
#pragma once

#include <functional>

#include "core/copy/row_sink.hpp"

namespace sluice {

/// Feeds `to` with all rows of `from`. Memory: heads, chains, shops, and one row.
/// Throws LedgerFailure; DamagedRow if a row is damaged, or if there are more orders or entries
/// than the heads account for, or fewer.
void walk_ledger(WholeReader& from, RowSink& to);

/// The same rows to two sinks, in one walk.
void walk_ledger(WholeReader& from, RowSink& to, RowSink& also);

}  // namespace sluice
