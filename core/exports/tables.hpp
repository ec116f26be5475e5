// Export tables: the views of docs/postgresql.md, products and closed periods, of one snapshot of
// either ledger. Creators have their first ids, as in the views, so that the tables can be joined.
//
// Storage failures are thrown as LedgerFailure.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "core/exports/line.hpp"
#include "core/ledger/ledger.hpp"
#include "core/values/interface.hpp"
#include "core/values/timestamp.hpp"

namespace sluice::exports {

struct ExportTable {
    std::string_view name;
    std::vector<ExportColumn> columns;
};

/// Index in export_tables().
enum class ExportTableId : std::uint8_t {
    kOrders,
    kPositions,
    kCommissions,
    kJournal,
    kJournalReferences,
    kBalances,
    kPayouts,
    kPayoutItems,
    kAnomalies,
    kProducts,
    kPeriods,
    kPeriodSums,
};
[[nodiscard]] const std::vector<ExportTable>& export_tables();

/// Takes the lines of an export.
class ExportOutput : public Interface {
public:
    /// Returns false to end the export.
    [[nodiscard]] virtual bool add(ExportTableId table, std::string_view line) = 0;
};

/// Writes the rows of all tables, in bounded memory (balances: one row for each creator).
/// @param now  Date of the balances.
/// @return false if `out` ended the export
[[nodiscard]] bool write_tables(LedgerReader& ledger, ExportFormat format, Timestamp now,
                                ExportOutput& out);

}  // namespace sluice::exports
