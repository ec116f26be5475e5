#include "core/payouts/selection.hpp"

#include <algorithm>
#include <array>
#include <set>
#include <utility>

#include "core/approvals/subject.hpp"
#include "core/orders/reply.hpp"
#include "core/values/lookup.hpp"
#include "core/values/texts.hpp"

namespace sluice {
namespace {

constexpr std::size_t kNotesMax = 100;

std::string already(const Payout& payout, const Transition& transition) {
    std::string actor = payout.ended_by;
    std::optional<Timestamp> at = payout.ended_at;
    if (transition.to == PayoutState::kApproved) {
        if (payout.approved_by.empty()) {
            return "payout " + payout.payout_id + " needs no approval";
        }
        actor = payout.approved_by;
        at = payout.approved_at;
    } else if (transition.to == PayoutState::kSent) {
        actor = payout.sent_by;
        at = payout.sent_at;
    }
    return "payout " + payout.payout_id + " was " + std::string(transition.done) + " by " + actor +
           " at " + at.value_or(Timestamp()).to_string();
}

/// States are numbered in the order of a payout's life.
bool is_past(PayoutState state, const Transition& transition) {
    return state > transition.from.back();
}

}  // namespace

const Transition& transition_of(PayoutVerb verb) {
    static const std::array<Transition, 6> transitions{{
        {"sent", "sent", PayoutState::kSent, {PayoutState::kApproved}, JournalReason::kMemoSent},
        {"settle",
         "settled",
         PayoutState::kPaid,
         {PayoutState::kApproved, PayoutState::kSent},
         JournalReason::kSettle},
        {"void",
         "voided",
         PayoutState::kVoid,
         {PayoutState::kClosed, PayoutState::kApproved},
         JournalReason::kVoid},
        {"failed", "failed", PayoutState::kFailed, {PayoutState::kSent}, JournalReason::kFailed},
        {"returned",
         "returned",
         PayoutState::kReturned,
         {PayoutState::kPaid},
         JournalReason::kReturned},
        {"repoint",
         "repointed",
         PayoutState::kClosed,
         {PayoutState::kClosed, PayoutState::kApproved},
         JournalReason::kMemoRepointed},
    }};
    return transitions.at(static_cast<std::size_t>(verb) - 1);
}

const Transition& approval_transition() {
    static const Transition transition{"approve",
                                       "approved",
                                       PayoutState::kApproved,
                                       {PayoutState::kClosed},
                                       JournalReason::kMemoApproved};
    return transition;
}

void Notes::add(const std::string& note) {
    if (++count_ <= kNotesMax) {
        text_ += (text_.empty() ? "" : "; ") + note;
    }
}

std::string Notes::text() const {
    return count_ <= kNotesMax ? text_
                               : text_ + "; and " + std::to_string(count_ - kNotesMax) +
                                     " more, as `sluice payout list` shows";
}

Result<std::vector<Payout>> payouts_of_ids(LedgerReader& ledger, AccountNumber account,
                                           const AccountId& account_id,
                                           const std::vector<std::string>& ids) {
    std::vector<Payout> all;
    std::set<std::string> known;
    for (const std::string& id : ids) {
        std::optional<std::vector<Payout>> found = payouts_named(ledger, account, id);
        if (!found) {
            return not_found("account " + account_id.str() + " has no payout " + id);
        }
        for (Payout& payout : *found) {
            if (known.insert(payout.payout_id).second) {
                all.push_back(std::move(payout));
            }
        }
    }
    return all;
}

Result<PayoutSelection> select_payouts(std::vector<Payout> payouts, const Transition& transition,
                                       const std::vector<std::string>& ids) {
    const std::set<std::string> named(ids.begin(), ids.end());
    PayoutSelection selection;
    for (Payout& payout : payouts) {
        const std::string state(to_string(payout.state));
        if (std::ranges::count(transition.from, payout.state) != 0) {
            selection.moving.push_back(std::move(payout));
        } else if (payout.state == transition.to) {
            selection.notes.add(already(payout, transition));
            selection.done.push_back(std::move(payout));
        } else if (is_past(payout.state, transition) && !named.contains(payout.payout_id)) {
            selection.notes.add("payout " + payout.payout_id + " is passed over: it is " + state);
        } else {
            return refused(
                "payout " + payout.payout_id + " is " + state + ": " +
                std::string(transition.verb) + " is not possible; expected " +
                joined(transition.from, " or ", [](PayoutState from) { return to_string(from); }));
        }
    }
    return selection;
}

}  // namespace sluice
