// Parts of an audit: each compares some tables with what the journal and the rules say (rule D1).
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <tuple>

#include "core/audit/findings.hpp"
#include "core/ledger/ledger.hpp"
#include "core/ledger/overview_rows.hpp"

namespace sluice {

/// The actor that moved a payout to a state, and the receipt of that input.
struct PayoutMover {
    std::string actor;
    Timestamp at;
};

/// The journal's entries on one payout.
struct PayoutEntries {
    std::string pays;  ///< payee_text() of its postings; several are joined by `; `.
    std::optional<PayoutMover> closed_by, sent_by, ended_by;
    std::uint32_t sendings = 0;                      ///< Memo entries SENT.
    std::uint32_t repoints = 0;                      ///< The number of the last repoint.
    std::map<std::uint32_t, std::string> digests;    ///< By repoint, 0 for the close.
    std::map<std::uint32_t, PayoutMover> approvals;  ///< By repoint, 0 for the close.
    std::map<std::uint32_t, std::string> approved;   ///< The approved digests, by repoint.
    std::map<ProgramId, Decimal> posted;             ///< PAYOUT postings, none of them 0.
    Decimal left;                                    ///< Balance of its ledger account now.
    std::string first_state;                         ///< As the memo entry CLOSED says.
    std::uint32_t reasons = 0;                       ///< Bits of bit_of().
};
/// Returns `account 1, ann in USD`
[[nodiscard]] std::string payee_text(AccountNumber account, const CreatorId& creator,
                                     const Currency& currency);
/// Returns a bit for each reason that moves a payout; 0 for the others.
[[nodiscard]] std::uint32_t bit_of(JournalReason reason) noexcept;

/// The journal's entries on one credit.
struct CreditEntries {
    Decimal posted, accrued;  ///< Without and with its reversal.
};

/// Facts that one pass over the journal gathers for the other parts.
struct JournalFacts {
    std::map<std::string, PayoutEntries> payouts;  ///< By payout id.
    std::map<std::string, CreditEntries> credits;  ///< By the credit's command id.
    std::uint64_t order_groups = 0;                ///< Groups that belong to an order.
};

/// Items of a credit, whose command id is in `line`.
struct CreditItems {
    std::uint64_t count = 0;
    Decimal allocated;  ///< The sum of those in active payouts.
    Decimal largest;    ///< Without its sign.
};
using CreditKey = std::tuple<ProgramId, ShopId, OrderId, LineItemId>;

/// Facts that one pass over the items gathers.
struct ItemFacts {
    std::uint64_t count = 0;
    std::map<CreditKey, CreditItems> credits;
};

/// Adds up the journal by day and month, and compares the sums with those that are stored (b).
class SumAudit {
public:
    void count(const JournalGroup& group, const JournalEntry& entry);
    /// Called once, after all entries were counted.
    void check(LedgerReader& ledger, Findings& findings);

private:
    template <class Row>
    struct Sum {
        Row stored;  ///< The parts of all nodes.
        Row posted;  ///< By the journal.
    };

    void check_days(LedgerReader& ledger, Findings& findings);

    std::map<std::tuple<AccountNumber, std::uint32_t, CreatorId, ProgramId, Currency>,
             Sum<MonthlySum>>
        months_;
    std::map<std::tuple<AccountNumber, std::uint32_t, ProgramId, Currency>, Sum<DailySum>> days_;
};

/// Checks chains, balances and sums (a, b). Reads every node's journal.
[[nodiscard]] JournalFacts audit_journal(LedgerReader& ledger, Findings& findings);
/// Checks payouts against their items, postings and memo entries (c).
[[nodiscard]] ItemFacts audit_payouts(LedgerReader& ledger, const JournalFacts& facts,
                                      Findings& findings);
/// Checks orders and credits against journal, items, open index, counts by day and tier volumes
/// (d, e, g).
/// @param items  Items of all payouts: each belongs to an order or a credit.
void audit_orders(LedgerReader& ledger, const JournalFacts& facts, const ItemFacts& items,
                  Findings& findings);
/// Checks the sums of open amounts by hour against the rows that they add up (e).
void audit_open_sums(LedgerReader& ledger, Findings& findings);
/// Checks closed periods against the entries that they sum up (f).
void audit_periods(LedgerReader& ledger, Findings& findings);
/// Checks opening balances and the dates of their programs against what imports posted (d).
void audit_openings(LedgerReader& ledger, Findings& findings);
/// Checks what counts against the limits of payouts and adjustments (i).
void audit_limits(LedgerReader& ledger, Findings& findings);

}  // namespace sluice
