// Later transfers: what an account booked after an instant, so that a report can take it back and
// show how the books and what was open stood then (books J2, P1: as of T, by accounting date).
#pragma once

#include <compare>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "core/ledger/journal_rows.hpp"
#include "core/ledger/ledger.hpp"
#include "core/ledger/payout_rows.hpp"
#include "core/values/timestamp.hpp"

namespace sluice {

/// Read at once, by the constructor; throws LedgerFailure.
class LaterTransfers {
public:
    LaterTransfers(LedgerReader& ledger, AccountNumber account, Timestamp at);

    /// What the books got after the instant; nullptr: nothing. Valid as long as this object.
    [[nodiscard]] const Balance* books(const BalanceKey& key) const;
    /// True if the row of now does not show what was open then: open_then() has it.
    [[nodiscard]] bool changed(const OpenAmount& row) const;
    /// What was open then of all positions and credits that changed() is true for.
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
        std::map<Currency, Decimal> booked;  ///< From expense to owed.
        Decimal taken;                       ///< Of a credit, by payouts.
        std::int64_t items = 0;              ///< Likewise: standing items.
    };

    void add(const JournalGroup& group);
    void find_credits(LedgerReader& ledger);
    void find_items(LedgerReader& ledger);
    void add_position(LedgerReader& ledger, const Unit& unit, const Change& change);
    void add_credit(LedgerReader& ledger, const Unit& unit, const Change& change);
    [[nodiscard]] bool stood_then(const PositionPayout& payout) const;

    AccountNumber account_;
    std::map<BalanceKey, Balance> books_;
    std::map<Unit, Change> units_;
    std::map<std::string, CreatorId> closed_, reopened_;  ///< Payouts; whose they are.
    /// Credits and reversals, until find_credits() knows what they are of.
    std::vector<JournalGroup> credits_;
    std::map<ProgramId, std::vector<OpenAmount>> open_;
};

}  // namespace sluice
