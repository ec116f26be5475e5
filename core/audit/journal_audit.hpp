// The journal, read once: chains and balances are judged, and what payouts, credits and orders
// are compared with is gathered (rule D1, a and b).
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "core/audit/findings.hpp"
#include "core/ledger/ledger.hpp"

namespace sluice {

/// Who moved a payout to a state, and when that was received.
struct PayoutMover {
    std::string actor;
    Timestamp at;
};

/// What the journal says of one payout.
struct PayoutEntries {
    std::string pays;  ///< As payee_text() says it; more than one: their texts in a row.
    std::optional<PayoutMover> closed_by, approved_by, sent_by, ended_by;
    std::map<ProgramId, Decimal> posted;  ///< PAYOUT transfers; none is 0.
    Decimal left;                         ///< On its book now.
    std::string closed;                   ///< Of the mark CLOSED: digest, first state.
    std::uint32_t reasons = 0;            ///< Bits of bit_of().
};
/// `account 1, ann in USD`
[[nodiscard]] std::string payee_text(AccountNumber account, const CreatorId& creator,
                                     const Currency& currency);
/// Of the reasons and marks that move a payout; 0 for the others.
[[nodiscard]] std::uint32_t bit_of(JournalReason reason) noexcept;

struct JournalFacts {
    std::map<std::string, PayoutEntries> payouts;  ///< By payout id.
    std::map<std::string, Decimal> credits;        ///< By the credit's command id.
    std::uint64_t order_groups = 0;                ///< Groups that belong to an order.
};

/// Reads every node's journal.
[[nodiscard]] JournalFacts audit_journal(LedgerReader& ledger, Findings& findings);

}  // namespace sluice
