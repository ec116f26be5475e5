#include "core/statements/account_month.hpp"

#include "core/journal/journal.hpp"
#include "core/ledger/account_rows.hpp"

namespace sluice {
namespace {

ProgramMonth empty_month(Currency currency) {
    const Decimal zero = zero_amount(currency);
    const BookMonth book{zero, zero, zero, zero};
    return {book, book, book, book, {zero, zero, zero, zero, zero}, 0, 0};
}

class MonthReader {
public:
    explicit MonthReader(Timestamp from) : from_(from) {}

    void open_with(const PeriodSum& row) {
        ProgramMonth& month = of(row.program, row.currency);
        open(month.owed, -row.closing_owed);
        open(month.in_payout, -row.closing_in_payout);
        open(month.paid, -row.closing_paid);
        open(month.expense, row.closing_owed + row.closing_in_payout + row.closing_paid);
        month.sums.opening += row.closing_owed;
        month.sums.closing += row.closing_owed;
    }

    void add(const JournalGroup& group) {
        for (const JournalEntry& entry : group.entries) {
            if (!is_memo(entry.reason)) {
                add(group, entry);
            }
        }
    }

    [[nodiscard]] AccountMonth take() && { return std::move(months_); }

private:
    ProgramMonth& of(const ProgramId& program, Currency currency) {
        return months_.try_emplace({program, currency}, empty_month(currency)).first->second;
    }

    static void open(BookMonth& book, const Decimal& change) {
        book.opening += change;
        book.closing += change;
    }

    void add(const JournalGroup& group, const JournalEntry& entry) {
        ProgramMonth& month = of(group.program, entry.currency);
        const bool in_month = group.accounting_date >= from_;
        const AccountSums change = change_by(entry);
        move(month.owed, -change.owed, in_month);
        move(month.in_payout, -change.in_payout, in_month);
        move(month.paid, -change.paid, in_month);
        move(month.expense, change.owed + change.in_payout + change.paid, in_month);
        add_to(month.sums, entry, in_month);
        month.postings += in_month ? 1U : 0U;
        month.late_postings += in_month && group.recorded_at < group.accounting_date ? 1U : 0U;
    }

    static void move(BookMonth& book, const Decimal& change, bool in_month) {
        if (!in_month) {
            open(book, change);
            return;
        }
        (change.is_negative() ? book.credit : book.debit) +=
            change.is_negative() ? -change : change;
        book.closing += change;
    }

    Timestamp from_;
    AccountMonth months_;
};

}  // namespace

AccountMonth read_account_month(LedgerReader& ledger, AccountNumber account, Timestamp from,
                                Timestamp until) {
    MonthReader reader(from);
    const std::optional<Timestamp> period = last_period(ledger, account, from);
    if (period) {
        PeriodSum first;
        first.account = account;
        first.until = *period;
        ledger.scan(first, {2, 2}, [&reader](const PeriodSum& row) {
            reader.open_with(row);
            return true;
        });
    }
    ledger.scan_account_journal(account, period.value_or(kFirstInstant), until,
                                [&reader](const JournalGroup& group) {
                                    reader.add(group);
                                    return true;
                                });
    return std::move(reader).take();
}

}  // namespace sluice
