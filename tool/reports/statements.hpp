// Statements and trial balances as the command line prints them.
#pragma once

#include "core/ledger/ledger.hpp"
#include "core/lists/statement.hpp"
#include "core/values/result.hpp"
#include "program/cli/output.hpp"

namespace sluice::cli {

/// Writes the statement, one creator's month by accounting date (rule S3), to standard output. A
/// table has the sums and payouts below the rows. Throws LedgerFailure.
void write_statement(LedgerReader& ledger, const lists::StatementOf& of, Format format);

/// Writes the statement of every creator who has one to a file of its own: `<creator id>.csv`, with
/// `%2F` for a slash. Returns the number of files. Throws LedgerFailure.
/// @param folder  Its descriptor.
[[nodiscard]] Result<std::size_t> write_statements(LedgerReader& ledger,
                                                   const lists::AccountMonthOf& of, Format format,
                                                   int folder);

/// Writes the trial balance of an account's month (S2); a table has the totals below. Throws
/// LedgerFailure.
void write_trial_balance(LedgerReader& ledger, const lists::AccountMonthOf& of, Format format);

}  // namespace sluice::cli
