// View names: what the views call the numbers in the tables, from the tables of core. Internal to
// pg_store; pure.
#pragma once

#include <string>

namespace sluice::pg {

/// Returns `sql` with the functions that name kinds, reasons, accounts and states in place of
/// `@names@`, and the bits of the anomaly kinds that block by default in place of `@blocking@`.
[[nodiscard]] std::string with_view_names(std::string sql);

}  // namespace sluice::pg
