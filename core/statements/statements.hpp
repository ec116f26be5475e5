// Statements: a creator's balance and month, and the state of an order's commission, now or as of
// an instant (rules J2, H1, P1, S3).
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "core/ledger/ledger.hpp"
#include "core/rules/account.hpp"

namespace sluice {

// ---- Balances -----------------------------------------------------------------------------------

/// pending + blocked + payable == owed; owed + in_payout + paid == total.
struct BalanceAt {
    BalanceKey key;
    Decimal owed, pending, blocked, payable, in_payout, paid, total;
};

/// Totals of the open amounts of all creators.
struct OpenTotals {
    struct Blocked {
        Decimal amount;
        std::int64_t amounts = 0;  ///< Number of those above 0.
    };
    struct PendingDay {
        ProgramId program;
        Currency currency;
        Timestamp sold_on;  ///< Start of a UTC day.
        Decimal amount;
    };
    std::map<Currency, Blocked> blocked;  ///< By the orders' blocks. Only amounts above 0.
    /// Sums of what is pending, without amounts above 0 that are blocked. Each day of a program and
    /// currency has at most one.
    std::vector<PendingDay> pending;
};
/// Returns what is pending by currency and the day on which it clears.
[[nodiscard]] std::map<std::pair<Currency, Timestamp>, Decimal> clearing_days(
    LedgerReader& ledger, AccountNumber account, const OpenTotals& totals);

/// Visits the balances of one account, or of all, by key.
/// @param now     A commission is pending until it clears, and payable from that instant on.
/// @param totals  Filled before the first visit. Null, or empty.
void balances_at(LedgerReader& ledger, const std::optional<AccountNumber>& account, Timestamp now,
                 const Visitor<BalanceAt>& visit, OpenTotals* totals = nullptr);

/// Returns these balances of one account. Reads the open amounts of their creators alone.
/// @param stored  By key.
/// @param totals  Filled with those of these balances. Null, or empty.
[[nodiscard]] std::vector<BalanceAt> balances_at(LedgerReader& ledger, AccountNumber account,
                                                 Timestamp now, std::span<const Balance> stored,
                                                 OpenTotals* totals = nullptr);

/// Returns the stored balances of a creator in one program, by currency.
/// @param creator  First id.
[[nodiscard]] std::vector<Balance> stored_balances(LedgerReader& ledger, AccountNumber account,
                                                   const ProgramId& program,
                                                   const CreatorId& creator);

/// Visits the balances of a past instant: subtracts postings and payouts whose accounting date is
/// not before it (K8), and omits balances whose ledger accounts were all 0. Clearing days and
/// blocks are those of now, because the ledger keeps no history of them.
void balances_as_of(LedgerReader& ledger, const std::optional<AccountNumber>& account, Timestamp at,
                    const Visitor<BalanceAt>& visit);

// ---- A month of one creator, by accounting date -------------------------------------------------

/// Sums of the ledger account `owed`, per program and currency: opening + earned + adjusted -
/// paid_out = closing.
struct StatementSums {
    Decimal opening, earned, adjusted, paid_out, closing;
};

/// Adds a posting to the sums. ACCRUAL and ATTRIBUTION count as earned, payouts and their releases
/// as paid out, the rest as adjusted.
/// @param in_month  False for a posting before the interval, which the opening balance contains.
void add_to(StatementSums& sums, const JournalEntry& entry, bool in_month);

struct Statement {
    bool is_closed = false;  ///< A closed statement never changes.
    std::map<std::pair<ProgramId, Currency>, StatementSums> sums;
};

/// Returns the sums of a month, and visits each of its postings by accounting date. Reads the last
/// closed period before the month, and the creator's entries since then from an index.
[[nodiscard]] Statement read_statement(
    LedgerReader& ledger, AccountNumber account, const CreatorId& creator, Timestamp from,
    Timestamp until, const Visitor<std::pair<const JournalGroup*, std::size_t>>& visit);

// ---- The books of an account over an interval, by program and currency (books S2, S3) -----------

/// One ledger account over an interval: opening + debit - credit = closing. A balance that creators
/// are owed is a credit, so it is negative.
struct BookMonth {
    Decimal opening, debit, credit, closing;
};

/// The books of one program in one currency. The closing balances of the four books add up to 0.
struct ProgramMonth {
    BookMonth expense, owed, in_payout, paid;
    StatementSums sums;          ///< Sums of `owed` over all creators, as statements show them.
    std::uint64_t postings = 0;  ///< In the interval.
    /// Postings of the interval that were received before it (S1).
    std::uint64_t late_postings = 0;
};
using AccountMonth = std::map<std::pair<ProgramId, Currency>, ProgramMonth>;

/// Reads the sums of the days in [from, until), and for the opening balances the last closed period
/// before `from` and the days since. Requires: both are starts of UTC days.
[[nodiscard]] AccountMonth read_account_month(LedgerReader& ledger, AccountNumber account,
                                              Timestamp from, Timestamp until);

/// Sums of what a period close closes: over the days since the last closed period.
struct PeriodTotal {
    Decimal earned, adjusted, paid_out;
    Decimal owed, in_payouts, paid;  ///< At the end.
};
/// @param until  The start of a UTC day.
[[nodiscard]] std::map<Currency, PeriodTotal> period_totals(LedgerReader& ledger,
                                                            AccountNumber account, Timestamp until);

// ---- One order ----------------------------------------------------------------------------------

/// Says what blocks orders, and their status. Keeps what it reads, because many orders share
/// policies, programs and creators: for one snapshot of a ledger.
class OrderJudge {
public:
    explicit OrderJudge(LedgerReader& ledger) : ledger_(ledger), programs_(ledger) {}
    /// Returns HOLD, CREATOR_HOLD, and kinds of anomalies.
    [[nodiscard]] std::vector<std::string> blocked_by(const OrderState& order);
    /// Returns since when something of blocked_by() blocks the order: the earliest of all.
    [[nodiscard]] std::optional<Timestamp> blocked_since(const OrderState& order);
    /// Returns the first that applies of detached, waiting, rejected, cancelled, paid, in_payout,
    /// blocked, pending and payable. `paid` and `in_payout` refer to COMMISSION items in active
    /// payouts.
    [[nodiscard]] std::string_view status(const OrderState& order, Timestamp now);

private:
    [[nodiscard]] bool is_creator_held(const OrderState& order);
    [[nodiscard]] std::uint32_t open_anomalies(const OrderState& order);
    [[nodiscard]] bool is_cleared(const OrderState& order, Timestamp now);

    LedgerReader& ledger_;
    std::map<AccountNumber, std::uint32_t> blocking_;  ///< Bits of the anomaly kinds that block.
    ProgramsByName programs_;
    std::map<std::tuple<AccountNumber, CreatorId, ProgramId>, bool> holds_;
};

}  // namespace sluice
