#include <optional>

#include "core/journal/journal.hpp"
#include "core/ledger/account_rows.hpp"
#include "core/rules/account.hpp"
#include "core/statements/statements.hpp"

namespace sluice {
namespace {

StatementSums& sums_of(Statement& statement, const ProgramId& program, Currency currency) {
    const Decimal zero = zero_amount(currency);
    return statement.sums
        .try_emplace({program, currency}, StatementSums{zero, zero, zero, zero, zero})
        .first->second;
}

void open_with(Statement& statement, LedgerReader& ledger, Timestamp period) {
    PeriodSum first;
    first.account = statement.account;
    first.until = period;
    first.creator = statement.creator;
    ledger.scan(first, {3, 3}, [&statement](const PeriodSum& row) {
        StatementSums& sums = sums_of(statement, row.program, row.currency);
        sums.opening = sums.closing = row.closing_owed;
    });
}

}  // namespace

std::optional<Timestamp> last_period(LedgerReader& ledger, AccountNumber account, Timestamp at) {
    std::optional<Timestamp> last;
    Period first;
    first.account = account;
    ledger.scan(first, {1, 1}, [&](const Period& row) {
        if (row.until > at) {
            return false;
        }
        last = row.until;
        return true;
    });
    return last;
}

void add_to(StatementSums& sums, const JournalEntry& entry, bool in_month) {
    const Decimal owed = into(entry, LedgerAccount::kOwed);
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
    statement.account = account;
    statement.creator = creator;
    statement.from = from;
    statement.until = until;
    const std::optional<Timestamp> closed_until =
        account_settings(ledger, account).row.closed_until;
    statement.is_closed = closed_until && *closed_until >= until;
    const std::optional<Timestamp> period = last_period(ledger, account, from);
    if (period) {
        open_with(statement, ledger, *period);
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

}  // namespace sluice
