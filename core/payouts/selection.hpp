// Selection: which of the payouts that a command names it moves, and what it says of the others.
// One rule for every verb on payouts and payout runs (P3).
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "core/commands/commands.hpp"
#include "core/ledger/journal_rows.hpp"
#include "core/ledger/ledger.hpp"
#include "core/ledger/payout_rows.hpp"
#include "core/values/result.hpp"

namespace sluice {

/// A transition of P3.
struct Transition {
    std::string_view verb, done;
    PayoutState to;
    std::vector<PayoutState> from;  ///< Ascending.
    JournalReason reason;           ///< Reason of its postings, or of its memo entry.
};
[[nodiscard]] const Transition& transition_of(PayoutVerb verb);
[[nodiscard]] const Transition& approval_transition();

/// A list in a sentence. It names the first 100, and counts the rest.
class Notes {
public:
    void add(const std::string& note);
    [[nodiscard]] std::string text() const;

private:
    std::string text_;
    std::size_t count_ = 0;
};

struct PayoutSelection {
    std::vector<Payout> moving;
    std::vector<Payout> done;  ///< In the state that the transition leads to.
    Notes notes;               ///< On those that do not move.
};

/// Returns the payouts with these ids, and those of the payout runs with these ids, each once.
/// Returns kNotFound if the account has no payout or payout run of an id.
[[nodiscard]] Result<std::vector<Payout>> payouts_of_ids(LedgerReader& ledger,
                                                         AccountNumber account,
                                                         const AccountId& account_id,
                                                         const std::vector<std::string>& ids);

/// Selects the payouts that move. Passes over a payout of a named run that is past the transition,
/// because it went on or ended, and notes it. Refuses a payout that is not ready for the
/// transition, and one that is past it and named itself.
/// @param ids  As the command names them.
[[nodiscard]] Result<PayoutSelection> select_payouts(std::vector<Payout> payouts,
                                                     const Transition& transition,
                                                     const std::vector<std::string>& ids);

}  // namespace sluice
