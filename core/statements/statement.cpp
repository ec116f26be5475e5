#include <optional>

#include "core/journal/journal.hpp"
#include "core/ledger/account_rows.hpp"
#include "core/ledger/overview_rows.hpp"
#include "core/rules/account.hpp"
#include "core/statements/statements.hpp"
#include "core/values/lookup.hpp"

namespace sluice {
namespace {

StatementSums& sums_of(Statement& statement, const ProgramId& program, Currency currency) {
    const Decimal zero = zero_amount(currency);
    return value_at(statement.sums, {program, currency},
                    StatementSums{zero, zero, zero, zero, zero});
}

/// Returns the end of the last period that was closed at or before `at`.
std::optional<Timestamp> last_period(LedgerReader& ledger, AccountNumber account, Timestamp at) {
    std::optional<Timestamp> last;
    ledger.scan(Period{.account = account}, {1, 1}, [&](const Period& row) {
        if (row.until > at) {
            return false;
        }
        last = row.until;
        return true;
    });
    return last;
}

// ---- The books of an account --------------------------------------------------------------------

ProgramMonth empty_month(Currency currency) {
    const Decimal zero = zero_amount(currency);
    const BookMonth book{zero, zero, zero, zero};
    return {book, book, book, book, {zero, zero, zero, zero, zero}, 0, 0};
}

void open(BookMonth& book, const Decimal& change) {
    book.opening += change;
    book.closing += change;
}

void add(BookMonth& book, const Turnover& turnover, bool in_month) {
    const Decimal change = turnover.debit - turnover.credit;
    if (!in_month) {
        open(book, change);
        return;
    }
    book.debit += turnover.debit;
    book.credit += turnover.credit;
    book.closing += change;
}

void open_with(ProgramMonth& month, const PeriodSum& row) {
    open(month.owed, -row.closing_owed);
    open(month.in_payout, -row.closing_in_payout);
    open(month.paid, -row.closing_paid);
    open(month.expense, row.closing_owed + row.closing_in_payout + row.closing_paid);
}

/// Adds one node's part of a day.
void add(ProgramMonth& month, const DailySum& day, bool in_month) {
    add(month.expense, day.expense, in_month);
    add(month.owed, day.owed, in_month);
    add(month.in_payout, day.in_payout, in_month);
    add(month.paid, day.paid, in_month);
    if (in_month) {
        month.sums.earned += day.earned;
        month.sums.adjusted += day.adjusted;
        month.sums.paid_out += day.paid_out;
        month.postings += day.postings;
        month.late_postings += day.late_postings;
    }
}

}  // namespace

std::vector<Balance> stored_balances(LedgerReader& ledger, AccountNumber account,
                                     const ProgramId& program, const CreatorId& creator) {
    std::vector<Balance> stored;
    ledger.scan_balances_from({account, program, creator, {}}, [&](const Balance& row) {
        const bool is_own =
            row.key.account == account && row.key.program == program && row.key.creator == creator;
        if (is_own) {
            stored.push_back(row);
        }
        return is_own;
    });
    return stored;
}

void add_to(StatementSums& sums, const JournalEntry& entry, bool in_month) {
    const Decimal owed = change_in(entry, LedgerAccount::kOwed);
    sums.closing += owed;
    if (!in_month) {
        sums.opening += owed;
        return;
    }
    const StatementAmounts amounts = statement_amounts(entry);
    sums.earned += amounts.earned;
    sums.adjusted += amounts.adjusted;
    sums.paid_out += amounts.paid_out;
}

Statement read_statement(LedgerReader& ledger, AccountNumber account, const CreatorId& creator,
                         Timestamp from, Timestamp until,
                         const Visitor<std::pair<const JournalGroup*, std::size_t>>& visit) {
    Statement statement;
    const std::optional<Timestamp> closed_until =
        account_settings(ledger, account).row.closed_until;
    statement.is_closed = closed_until && *closed_until >= until;
    const std::optional<Timestamp> period = last_period(ledger, account, from);
    if (period) {
        const PeriodSum first{.account = account, .until = *period, .creator = creator};
        ledger.scan(first, {3, 3}, [&statement](const PeriodSum& row) {
            StatementSums& sums = sums_of(statement, row.program, row.currency);
            sums.opening = sums.closing = row.closing_owed;
        });
    }
    ledger.scan_creator_journal(
        account, creator, period.value_or(kFirstInstant), until, [&](const JournalGroup& group) {
            const bool in_month = group.accounting_date >= from;
            for (std::size_t i = 0; i < group.entries.size(); ++i) {
                const JournalEntry& entry = group.entries[i];
                if (is_memo(entry.reason)) {
                    continue;
                }
                add_to(sums_of(statement, group.program, entry.currency), entry, in_month);
                if (in_month && !visit({&group, i})) {
                    return false;
                }
            }
            return true;
        });
    return statement;
}

AccountMonth read_account_month(LedgerReader& ledger, AccountNumber account, Timestamp from,
                                Timestamp until) {
    AccountMonth months;
    const auto of = [&months](const auto& row) -> ProgramMonth& {
        return value_at(months, {row.program, row.currency}, empty_month(row.currency));
    };
    const std::optional<Timestamp> period = last_period(ledger, account, from);
    if (period) {
        const PeriodSum first{.account = account, .until = *period};
        ledger.scan(first, {2, 2}, [&of](const PeriodSum& row) { open_with(of(row), row); });
    }
    DailySum first;
    first.account = account;
    first.day = day_of(period.value_or(kFirstInstant));
    ledger.scan(first, {1, 2},
                [&, first_day = day_of(from), end = day_of(until)](const DailySum& day) {
                    if (day.day < end) {
                        add(of(day), day, day.day >= first_day);
                    }
                    return day.day < end;
                });
    for (auto& [key, month] : months) {
        month.sums.opening = -month.owed.opening;
        month.sums.closing = -month.owed.closing;
    }
    return months;
}

std::map<Currency, PeriodTotal> period_totals(LedgerReader& ledger, AccountNumber account,
                                              Timestamp until) {
    const Timestamp from =
        account_settings(ledger, account).row.closed_until.value_or(kFirstInstant);
    std::map<Currency, PeriodTotal> totals;
    for (const auto& [key, month] : read_account_month(ledger, account, from, until)) {
        const Decimal zero = zero_amount(key.second);
        PeriodTotal& total =
            value_at(totals, key.second, PeriodTotal{zero, zero, zero, zero, zero, zero});
        total.earned += month.sums.earned;
        total.adjusted += month.sums.adjusted;
        total.paid_out += month.sums.paid_out;
        total.owed += month.sums.closing;
        total.in_payouts -= month.in_payout.closing;
        total.paid -= month.paid.closing;
    }
    return totals;
}

}  // namespace sluice
