// A creator's statement, the trial balance of an account's month (rules S2, S3), and the accounting
// periods, as rows.
#pragma once

#include <map>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "core/ledger/account_rows.hpp"
#include "core/ledger/ledger.hpp"
#include "core/lists/list.hpp"
#include "core/lists/row_output.hpp"
#include "core/statements/statements.hpp"
#include "core/values/money.hpp"

namespace sluice::lists {

/// A calendar month in UTC.
struct Month {
    Timestamp from;  ///< First instant.
    Timestamp to;    ///< First instant of the next month.
    std::string name;
};

struct StatementOf {
    AccountNumber account;
    AccountId account_id;
    CreatorId creator;  ///< Any of the creator's ids.
    Month month;
};

using ShopNames = std::unordered_map<std::uint32_t, std::string>;
[[nodiscard]] ShopNames shop_names(LedgerReader& ledger);

/// A posting, or an opening or closing amount. What it does not name is empty.
struct StatementRowOf {
    Timestamp accounting_date;
    std::string_view program;
    Money money;
    std::string_view ledger_account, reason, shop{}, order{}, line{};
    std::uint64_t refers_to = 0;
    std::string_view payout{};
};
[[nodiscard]] const List<StatementRowOf>& statement_row_list();
struct StatementSumOf {
    const ProgramId& program;
    Currency currency;
    const StatementSums& sums;
};
[[nodiscard]] const List<StatementSumOf>& statement_sum_list();
/// A payout that was closed in the month.
struct StatementPayoutOf {
    const std::string& payout_id;
    Money money;
};
[[nodiscard]] const List<StatementPayoutOf>& statement_payout_list();
/// Returns the columns of a statement as one CSV file.
[[nodiscard]] std::vector<Column> statement_csv_columns();
/// Members of a statement as one object.
[[nodiscard]] const std::vector<Column>& statement_members();

/// One creator's month by accounting date, held in memory.
class StatementPage {
public:
    /// Throws LedgerFailure.
    /// @param shops, of  Must outlive the page.
    StatementPage(LedgerReader& ledger, const ShopNames& shops, const StatementOf& of);

    /// False if the creator has no entries up to the end of the month.
    [[nodiscard]] bool has_sums() const noexcept { return !statement_.sums.empty(); }
    [[nodiscard]] const CreatorId& shown() const noexcept { return shown_; }
    [[nodiscard]] const char* status() const;
    [[nodiscard]] const std::vector<Row>& rows() const noexcept { return rows_; }
    [[nodiscard]] const std::vector<Row>& sums() const noexcept { return sums_; }
    /// Returns the payouts that were closed in the month.
    [[nodiscard]] std::vector<Row> payouts() const;

    /// Returns one object: rows, sums, payouts.
    [[nodiscard]] Json object() const;
    /// Writes the rows; for each program and currency, those of `owed` lie between a row
    /// PERIOD_OPENING and a row PERIOD_CLOSING, which has the sums. Every row names the statement,
    /// so that the files of many creators can be read as one.
    void write_csv(RowOutput& out) const;

private:
    void add(const JournalGroup& group, std::size_t index);
    void add_sums(const ProgramId& program, Currency currency, const StatementSums& sums);
    [[nodiscard]] Row named(Row row, Row sums) const;

    const StatementOf& of_;
    CreatorId shown_;
    Statement statement_;
    const ShopNames& shops_;
    std::vector<Row> rows_, sums_;
    std::map<std::string, Money> payouts_;
};

/// An account's interval [month.from, month.to).
struct AccountMonthOf {
    AccountNumber account;
    AccountId account_id;
    Month month;
};

/// One ledger account of a program and currency.
struct TrialBalanceOf {
    const AccountId& account_id;
    const std::string& month;
    const ProgramId& program;
    Currency currency;
    std::string_view ledger_account;
    const BookMonth& book;
};
[[nodiscard]] const List<TrialBalanceOf>& trial_balance_list();

/// Writes the trial balance: every ledger account by program and currency. Returns the sums over
/// all programs and ledger accounts, by currency. Throws LedgerFailure.
std::map<Currency, BookMonth> write_trial_balance(LedgerReader& ledger, const AccountMonthOf& of,
                                                  RowOutput& out);

struct PeriodOf {
    const AccountId& account_id;
    const Period* period;  ///< Null is the open one.
};
[[nodiscard]] const List<PeriodOf>& period_list();
/// Lists the closed periods of an account, the oldest first.
void write_periods(LedgerReader& ledger, AccountNumber account, const AccountId& account_id,
                   RowOutput& out);

}  // namespace sluice::lists
