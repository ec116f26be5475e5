// Reports: rows of the ledger as listings. Each reads one snapshot, row by row, in bounded memory
// (balances: one row for each creator).
//
// Storage failures are thrown as LedgerFailure. Reports are ordered: orders and anomalies by shop
// and order, the journal by node and entry, balances by account, program, creator and currency,
// products by shop and product, payouts in the order of closing.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/ledger/ledger.hpp"
#include "core/ledger/payout_rows.hpp"
#include "core/values/ids.hpp"
#include "core/values/timestamp.hpp"
#include "worker/access/accounts.hpp"
#include "worker/cli/cli_values.hpp"
#include "worker/cli/output.hpp"

namespace sluice::cli {

struct ReportFilter {
    std::optional<AccountId> account;  ///< Absent means every account.
    std::optional<ShopId> shop;
    std::optional<CreatorId> creator;  ///< Any of the creator's ids.
    std::optional<Timestamp> from;     ///< Inclusive.
    std::optional<Timestamp> to;       ///< Exclusive.
    bool by_receipt = false;           ///< The journal's dates are receipts, not accounting dates.
    std::optional<Timestamp> as_of;    ///< Date of the amounts; absent means now.
    bool negative = false;             ///< Only balances below 0, with their age.
    std::optional<PayoutState> state;
    std::string payout_run;  ///< Empty means any.
    std::optional<Currency> currency;

    [[nodiscard]] bool covers(Timestamp time) const noexcept {
        return (!from || *from <= time) && (!to || time < *to);
    }
    /// @param first  The first id of the creator.
    [[nodiscard]] bool covers(const CreatorNames& names, AccountNumber account_number,
                              const CreatorId& first) const {
        return !creator || names.first(account_number, *creator) == first;
    }
};

/// Options of a report in addition to --ledger and --format.
enum ReportOption : unsigned {
    kByAccount = 1,     ///< --account
    kNeedsAccount = 2,  ///< --account, or --all-accounts (S4).
    kByShop = 4,        ///< --shop
    kByCreator = 8,     ///< --creator
    kByTime = 16,       ///< --from, --to
    kAsOf = 32,         ///< --as-of
    kByPayout = 64,     ///< --state, --payout-run, --currency
    kAsOfPast = 128,    ///< --as-of may lie in the past.
    kByDate = 256,      ///< --by
    kNegative = 512,    ///< --negative
};

/// A report: its columns, and the function that writes its rows.
struct Report {
    std::string_view name;
    std::string_view description;
    std::vector<Column> columns;
    /// @param now  filter.as_of, if it has one.
    void (*write)(LedgerReader& ledger, const ReportFilter& filter, Timestamp now, Listing& out);
    unsigned options = 0;  ///< Bits of ReportOption.
};

[[nodiscard]] const std::vector<Report>& reports();

// One source file for each, or for a few.
[[nodiscard]] std::vector<Column> order_columns();
void write_orders(LedgerReader& ledger, const ReportFilter& filter, Timestamp now, Listing& out);
[[nodiscard]] std::vector<Column> anomaly_columns();
void write_anomalies(LedgerReader& ledger, const ReportFilter& filter, Timestamp now, Listing& out);
[[nodiscard]] std::vector<Column> journal_columns();
void write_journal(LedgerReader& ledger, const ReportFilter& filter, Timestamp now, Listing& out);
[[nodiscard]] std::vector<Column> balance_columns();
/// Returns the further columns of `report balances --negative`.
[[nodiscard]] std::vector<Column> negative_columns();
void write_balances(LedgerReader& ledger, const ReportFilter& filter, Timestamp now, Listing& out);
[[nodiscard]] std::vector<Column> payout_columns();
void write_payouts(LedgerReader& ledger, const ReportFilter& filter, Timestamp now, Listing& out);

[[nodiscard]] std::vector<Column> payee_columns(bool history);
/// Lists creators with their payees, or with `history` the changes of payees by time.
void write_payees(LedgerReader& ledger, const ReportFilter& filter, bool history, Listing& out);

[[nodiscard]] std::vector<Column> approval_columns();
/// Lists approvals by node and entry, with the keys that signed them.
/// @param verifies  Check all signatures.
/// Returns the number of signatures that prove nothing.
std::uint64_t write_approvals(LedgerReader& ledger, const ReportFilter& filter, bool verifies,
                              Listing& out);

/// Returns the shops of the ledger that the filter covers, sorted by shop id.
[[nodiscard]] std::vector<ShopRow> shops_of(LedgerReader& ledger, const ReportFilter& filter);

struct StatementOf {
    AccountNumber account;
    AccountId account_id;
    CreatorId creator;  ///< Any of the creator's ids.
    Month month;
};

/// Writes the statement, one creator's month by accounting date (rule S3), to standard output.
/// JSON is one object: rows, sums, payouts. A table has the sums and payouts below the rows. CSV
/// has the rows; for each program and currency, those of `owed` lie between a row OPENING and a row
/// CLOSING, which has the sums. Throws LedgerFailure.
void write_statement(LedgerReader& ledger, const StatementOf& of, Format format);

struct StatementsOf {
    AccountNumber account;
    AccountId account_id;
    Month month;
};

/// Writes the statement of every creator who has one to a file of its own: `<creator id>.csv`, with
/// `%2F` for a slash. Returns the number of files. Throws LedgerFailure.
/// @param folder  Its descriptor.
[[nodiscard]] Result<std::size_t> write_statements(LedgerReader& ledger, const StatementsOf& of,
                                                   Format format, int folder);

/// Writes the trial balance of an account's month (S2): every ledger account by program and
/// currency. Throws LedgerFailure.
void write_trial_balance(LedgerReader& ledger, const StatementsOf& of, Format format);

}  // namespace sluice::cli
