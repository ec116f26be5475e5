#include "core/statements/account_month.hpp"

#include "core/ledger/account_rows.hpp"
#include "core/ledger/overview_rows.hpp"

namespace sluice {
namespace {

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

class MonthReader {
public:
    explicit MonthReader(std::uint32_t first_day) : first_day_(first_day) {}

    void open_with(const PeriodSum& row) {
        ProgramMonth& month = of(row.program, row.currency);
        open(month.owed, -row.closing_owed);
        open(month.in_payout, -row.closing_in_payout);
        open(month.paid, -row.closing_paid);
        open(month.expense, row.closing_owed + row.closing_in_payout + row.closing_paid);
    }

    /// Adds one node's part of a day.
    void add_day(const DailySum& day) {
        ProgramMonth& month = of(day.program, day.currency);
        const bool in_month = day.day >= first_day_;
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

    [[nodiscard]] AccountMonth take() && {
        for (auto& [key, month] : months_) {
            month.sums.opening = -month.owed.opening;
            month.sums.closing = -month.owed.closing;
        }
        return std::move(months_);
    }

private:
    ProgramMonth& of(const ProgramId& program, Currency currency) {
        return months_.try_emplace({program, currency}, empty_month(currency)).first->second;
    }

    std::uint32_t first_day_;
    AccountMonth months_;
};

}  // namespace

AccountMonth read_account_month(LedgerReader& ledger, AccountNumber account, Timestamp from,
                                Timestamp until) {
    MonthReader reader(day_of(from));
    const std::optional<Timestamp> period = last_period(ledger, account, from);
    if (period) {
        PeriodSum first;
        first.account = account;
        first.until = *period;
        ledger.scan(first, {2, 2}, [&reader](const PeriodSum& row) { reader.open_with(row); });
    }
    DailySum first;
    first.account = account;
    first.day = day_of(period.value_or(kFirstInstant));
    ledger.scan(first, {1, 2}, [&reader, end = day_of(until)](const DailySum& day) {
        if (day.day >= end) {
            return false;
        }
        reader.add_day(day);
        return true;
    });
    return std::move(reader).take();
}

}  // namespace sluice
