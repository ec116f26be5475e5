// Later postings: the postings of an account from an instant on, by accounting date. A report
// subtracts them to show the balances and the open amounts before that instant (rules J2, K8).
#pragma once

#include <compare>
#include <map>
#include <string>
#include <vector>

#include "core/ledger/journal_rows.hpp"
#include "core/ledger/ledger.hpp"
#include "core/ledger/payout_rows.hpp"
#include "core/values/timestamp.hpp"

namespace sluice {

/// The constructor reads everything; it throws LedgerFailure.
class LaterPostings {
public:
    LaterPostings(LedgerReader& ledger, AccountNumber account, Timestamp at);

    /// Returns true if no amount that is open has changed since the instant.
    [[nodiscard]] bool changed_none() const noexcept { return units_.empty(); }
    /// Returns the later change of a balance, or nullptr. Valid as long as this object.
    [[nodiscard]] const AccountSums* books(const BalanceKey& key) const;
    /// Returns true if the row changed since the instant; open_then() has the amount of the
    /// instant.
    [[nodiscard]] bool changed(const OpenAmount& row) const;
    /// Returns the amounts that were open at the instant, for all rows that changed().
    [[nodiscard]] const std::vector<OpenAmount>& open_then(const ProgramId& program) const;

private:
    /// A position, or (shop 0) a credit, whose command id is in order_id.
    struct Unit {
        ProgramId program;
        CreatorId creator;
        ShopNumber shop;
        OrderId order_id;
        friend auto operator<=>(const Unit&, const Unit&) = default;
    };
    struct Change {
        std::map<Currency, Decimal> accrued;  ///< From expense to owed.
        Decimal allocated;                    ///< Allocated to payouts; for a credit.
        std::int64_t items = 0;               ///< Items in active payouts; for a credit.
    };

    static void add_accrued(Change& change, const JournalEntry& entry);
    void add(const JournalGroup& group);
    void find_credits(LedgerReader& ledger);
    void find_items(LedgerReader& ledger);
    void add_position(LedgerReader& ledger, const Unit& unit, const Change& change);
    void add_credit(LedgerReader& ledger, const Unit& unit, const Change& change);
    [[nodiscard]] bool stood_then(const PositionPayout& payout) const;

    AccountNumber account_;
    std::map<BalanceKey, AccountSums> books_;
    std::map<Unit, Change> units_;
    std::map<std::string, CreatorId> closed_, reopened_;  ///< Creators by payout id.
    /// Credits and reversals, until find_credits() has found their objects.
    std::vector<JournalGroup> credits_;
    std::map<ProgramId, std::vector<OpenAmount>> open_;
};

}  // namespace sluice
