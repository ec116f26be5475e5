// Export tables: the views of docs/postgresql.md with the columns that rules decide, products and
// closed periods, of one snapshot of either ledger; or an account's changes since a place of its
// feed. Creators have their first ids, as in the views, so that the tables can be joined.
//
// Storage failures are thrown as LedgerFailure.
#pragma once

#include <string_view>
#include <vector>

#include "core/exports/line.hpp"
#include "core/ledger/ledger.hpp"
#include "core/lists/changes.hpp"
#include "core/values/interface.hpp"
#include "core/values/timestamp.hpp"

namespace sluice::exports {

struct ExportTable {
    std::string_view name;
    std::vector<Column> columns;
};

/// Returns all tables. The last one is the table of changes.
[[nodiscard]] const std::vector<ExportTable>& export_tables();
/// Returns the tables that write_tables() fills: all but those of changes alone.
[[nodiscard]] std::vector<const ExportTable*> snapshot_tables();
/// Returns the tables that write_changes() fills. Their first two columns name a row.
[[nodiscard]] std::vector<const ExportTable*> change_tables();

/// Takes the lines of an export.
class ExportOutput : public Interface {
public:
    /// @param table  Of export_tables(). Returns false to end the export.
    [[nodiscard]] virtual bool add(const ExportTable& table, std::string_view line) = 0;
};

/// Writes the rows of all tables, in bounded memory (balances: one row for each creator).
/// @param now  Date of the balances.
/// @return false if `out` ended the export
[[nodiscard]] bool write_tables(LedgerReader& ledger, ExportFormat format, Timestamp now,
                                ExportOutput& out);

/// Names changes of an account that are to be written.
struct ChangesSince {
    AccountNumber account;
    lists::FeedPlace after;
    lists::JournalRows::ShowPayee show_payee = nullptr;  ///< As of JournalRows.
};
/// Writes the account's changes after a place, as the feed has them, and their journal entries.
/// Requires: the chains are those that the place was taken from.
/// @return false if `out` ended the export
[[nodiscard]] bool write_changes(LedgerReader& ledger, ExportFormat format,
                                 const ChangesSince& since, ExportOutput& out);

}  // namespace sluice::exports
