// Statement: one creator's month in an account, by accounting date (books S3).
#pragma once

#include "core/ledger/ledger.hpp"
#include "worker/cli/cli_values.hpp"
#include "worker/cli/output.hpp"

namespace sluice::cli {

struct StatementOf {
    AccountNumber account;
    AccountId account_id;
    CreatorId creator;  ///< By any of its ids.
    Month month;
};

/// Writes it to standard output. JSON is one object: rows, sums, payouts. A table has the sums and
/// payouts below the rows. CSV has the rows; those of the book `owed` lie between a row OPENING and
/// a row CLOSING, for each program and currency, which they add up to.
/// Throws LedgerFailure.
void write_statement(LedgerReader& ledger, const StatementOf& of, Format format);

}  // namespace sluice::cli
