#include <algorithm>
#include <array>
#include <functional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "core/approvals/approval.hpp"
#include "core/approvals/limits.hpp"
#include "core/approvals/signed_approval.hpp"
#include "core/approvals/subject.hpp"
#include "core/commands/ids.hpp"
#include "core/ledger/list_rows.hpp"
#include "core/payouts/allocation.hpp"
#include "core/payouts/items.hpp"
#include "core/payouts/payouts.hpp"

namespace sluice {
namespace {

/// A transition of P3.
struct Move {
    std::string_view verb, done;
    PayoutState to;
    std::vector<PayoutState> from;
    JournalReason reason;  ///< Reason of its postings, or of its memo entry.
};

const Move& move_of(PayoutVerb verb) {
    static const std::array<Move, 6> moves{{
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
    return moves.at(static_cast<std::size_t>(verb) - 1);
}

const Move& approve_move() {
    static const Move move{"approve",
                           "approved",
                           PayoutState::kApproved,
                           {PayoutState::kClosed},
                           JournalReason::kMemoApproved};
    return move;
}

/// Returns the payout with this id, or all payouts of the payout run with this id, by number.
Result<std::vector<Payout>> named(const std::string& id, const CommandContext& context,
                                  LedgerTxn& txn) {
    std::optional<std::vector<Payout>> found = payouts_named(txn, context.account, id);
    if (!found) {
        return Error{ErrorCode::kNotFound,
                     "account " + context.account_id.str() + " has no payout " + id};
    }
    return *std::move(found);
}

Result<std::vector<Payout>> all_named(const std::vector<std::string>& ids,
                                      const CommandContext& context, LedgerTxn& txn) {
    std::vector<Payout> all;
    std::set<std::string> known;
    for (const std::string& id : ids) {
        Result<std::vector<Payout>> found = named(id, context, txn);
        if (!found) {
            return found.error();
        }
        for (Payout& payout : *found) {
            if (known.insert(payout.payout_id).second) {
                all.push_back(std::move(payout));
            }
        }
    }
    return all;
}

std::string already(const Payout& payout, const Move& move) {
    std::string actor = payout.ended_by;
    std::optional<Timestamp> at = payout.ended_at;
    if (move.to == PayoutState::kApproved) {
        if (payout.approved_by.empty()) {
            return "payout " + payout.payout_id + " needs no approval";
        }
        actor = payout.approved_by;
        at = payout.approved_at;
    } else if (move.to == PayoutState::kSent) {
        actor = payout.sent_by;
        at = payout.sent_at;
    }
    return "payout " + payout.payout_id + " was " + std::string(move.done) + " by " + actor +
           " at " + at.value_or(Timestamp()).to_string();
}

/// Payouts that move, and a note on those that were moved before or are passed over.
struct Moving {
    std::vector<Payout> payouts;
    std::string note;
};

/// Whether a move passes over the payout: the settlement of a payout run leaves out payouts that
/// have ended.
bool is_passed_over(const Payout& payout, const Move& move, const std::set<std::string>& by_id) {
    return move.to == PayoutState::kPaid && !is_active(payout.state) &&
           !by_id.contains(payout.payout_id);
}

/// @param by_id  Ids that the command names; other payouts belong to a run that it names.
Result<Moving> select_movable(std::vector<Payout> payouts, const Move& move,
                              const std::set<std::string>& by_id) {
    Moving moving;
    for (Payout& payout : payouts) {
        if (std::find(move.from.begin(), move.from.end(), payout.state) != move.from.end()) {
            moving.payouts.push_back(std::move(payout));
        } else if (payout.state == move.to) {
            moving.note += (moving.note.empty() ? "" : "; ") + already(payout, move);
        } else if (is_passed_over(payout, move, by_id)) {
            moving.note += (moving.note.empty() ? "payout " : "; payout ") + payout.payout_id +
                           " is passed over: it is " + std::string(to_string(payout.state));
        } else {
            return refused("payout " + payout.payout_id + " is " +
                           std::string(to_string(payout.state)) + ": " + std::string(move.verb) +
                           " is not possible");
        }
    }
    return moving;
}

void stamp(Payout& payout, const Move& move, const CommandContext& context) {
    payout.state = move.to;
    const Timestamp at = context.source.received_at;
    if (move.to == PayoutState::kApproved) {
        payout.approved_by = context.actor();
        payout.approved_at = at;
    } else if (move.to == PayoutState::kSent) {
        payout.sent_by = context.actor();
        payout.sent_at = at;
    } else if (move.to == PayoutState::kClosed) {
        payout.repointed_by = context.actor();
        ++payout.repoints;
        payout.approved_by.clear();
        payout.approved_at.reset();
    } else {
        payout.ended_by = context.actor();
        payout.ended_at = at;
    }
}

/// @param line  Text of the memo entries of a move that has no postings.
void write(Moving& moving, const Move& move, const CommandContext& context, ProgramCache& programs,
           const std::function<std::string(const Payout&)>& line, LedgerTxn& txn) {
    const AccountSettings& settings = programs.settings(txn, context.account);
    const bool posts = !is_memo(move.reason);
    PayoutAllocation allocation(context.source, settings, txn);
    PartsOf parts = posts ? parts_of(moving.payouts, txn) : PartsOf();
    if (move.to == PayoutState::kVoid || move.to == PayoutState::kClosed) {
        uncount_payouts(moving.payouts, txn);
    }
    for (Payout& payout : moving.payouts) {
        txn.erase(PayoutByAccount{payout.account, payout.state, payout.payout_id});
        stamp(payout, move, context);
        txn.put(payout);
        txn.put(PayoutByAccount{payout.account, payout.state, payout.payout_id});
        if (posts) {
            allocation.post_parts(payout, parts[payout.payout_id], move.reason);
        }
    }
    if (!posts) {
        for (const Payout& payout : moving.payouts) {
            allocation.post_memo(payout.creator, payout.payout_id, move.reason, line(payout));
        }
    }
    allocation.follow(moving.payouts);
}

/// Sets the payees that the creators have now. Drops payouts that have them already.
Status repoint(Moving& moving, const CommandContext& context, LedgerTxn& txn) {
    std::vector<Payout> changed;
    for (Payout& payout : moving.payouts) {
        CreatorRow profile{context.account, payout.creator, {}, {}, {}};
        if (!txn.load(profile) || profile.payee.empty()) {
            return refused("payout " + payout.payout_id + ": creator " + payout.creator.str() +
                           " has no payee; set one with `sluice creator set`");
        }
        if (profile.payee == payout.payee) {
            moving.note += (moving.note.empty() ? "" : "; ") + ("payout " + payout.payout_id) +
                           " goes to payee " + payout.payee + " already";
            continue;
        }
        payout.payee = profile.payee;
        changed.push_back(std::move(payout));
    }
    moving.payouts = std::move(changed);
    return {};
}

/// Refuses an export whose bytes were made of other payouts: one was repointed since, or sent by
/// another export (K2).
Status check_unchanged(const PayoutMove& command, const std::vector<Payout>& payouts) {
    if (command.expect.empty() || command.expect == to_hex(payouts_digest(payouts))) {
        return {};
    }
    return refused(
        "a payout of message " + command.message +
        " was repointed or sent while its file was made; nothing was sent: export them again");
}

/// Keeps the bank's reference of payouts that were settled without one, so that a second payment is
/// told from a repeated report (P7). Returns their number.
std::size_t record_reference(const PayoutMove& command, const CommandContext& context,
                             LedgerTxn& txn) {
    std::size_t recorded = 0;
    if (command.verb != PayoutVerb::kSettle || command.bank_ref.empty()) {
        return recorded;
    }
    for (const std::string& id : command.ids) {
        Payout payout;
        payout.payout_id = id;
        if (txn.load(payout) && payout.account == context.account &&
            payout.state == PayoutState::kPaid && payout.bank_ref.empty()) {
            payout.bank_ref = command.bank_ref;
            txn.put(payout);
            ++recorded;
        }
    }
    return recorded;
}

Reply reply_of(const Moving& moving, const Move& move, const std::string& more = {}) {
    std::string text =
        counted(moving.payouts.size(), "payout", "payouts") + " " + std::string(move.done) + more;
    if (!moving.note.empty()) {
        text += "; " + moving.note;
    }
    return done(std::move(text));
}

/// Neither the closer approves, nor the actor who repointed the payout.
Status check_approver(const CommandContext& context, const Payout& payout, const Policy& policy) {
    const std::string what = "payout " + payout.payout_id;
    Status may = sluice::check_approver(context, payout.closed_by, what, policy);
    return may && !payout.repointed_by.empty()
               ? sluice::check_approver(context, payout.repointed_by, what, policy)
               : may;
}

}  // namespace

Result<Reply> run_verb(const PayoutMove& command, const CommandContext& context,
                       ProgramCache& programs, LedgerTxn& txn) {
    if (Status reason = check_reason(context); !reason) {
        return reason.error();
    }
    Result<std::vector<Payout>> payouts = all_named(command.ids, context, txn);
    if (!payouts) {
        return payouts.error();
    }
    const Move& move = move_of(command.verb);
    Result<Moving> moving =
        select_movable(*std::move(payouts), move, {command.ids.begin(), command.ids.end()});
    if (!moving) {
        return moving.error();
    }
    if (command.verb == PayoutVerb::kRepoint) {
        if (Status possible = repoint(*moving, context, txn); !possible) {
            return possible.error();
        }
    }
    const std::size_t recorded = record_reference(command, context, txn);
    if (moving->payouts.empty() && recorded == 0) {
        return nothing(moving->note);
    }
    if (Status same = check_unchanged(command, moving->payouts); !same) {
        return same.error();
    }
    for (Payout& payout : moving->payouts) {
        payout.message = command.message.empty() ? payout.message : command.message;
        payout.bank_ref = command.bank_ref.empty() ? payout.bank_ref : command.bank_ref;
        payout.paid_at = command.paid_at ? command.paid_at : payout.paid_at;
    }
    const bool proves = command.verb == PayoutVerb::kRepoint;
    const std::string sent =
        command.message.empty() ? std::string() : command.sha256 + " " + command.message;
    write(
        *moving, move, context, programs,
        [&](const Payout& payout) { return proves ? payout_memo(payout) : sent; }, txn);
    return reply_of(*moving, move,
                    recorded == 0 ? std::string()
                                  : "; the bank's reference of " +
                                        counted(recorded, "payout", "payouts") + " is recorded");
}

Result<Reply> approve_payouts(const Approve& command, const CommandContext& given,
                              ProgramCache& programs, LedgerTxn& txn) {
    Result<std::vector<Payout>> payouts = named(command.id, given, txn);
    if (!payouts) {
        return payouts.error();
    }
    const Result<ApprovalSubject> subject =
        approval_subject(txn, given.account, given.account_id, command.id);
    const Policy policy = programs.settings(txn, given.account).policy;
    const Result<Approving> judged = subject->payouts.empty()
                                         ? Approving{given, std::nullopt}
                                         : approving(command, *subject, given, policy, txn);
    if (!judged) {
        return judged.error();
    }
    const CommandContext& context = judged->context;
    for (const Payout& payout : subject->payouts) {
        if (Status may = check_approver(context, payout, policy); !may) {
            return may.error();
        }
    }
    Result<Moving> moving = select_movable(*std::move(payouts), approve_move(), {command.id});
    if (!moving) {
        return moving.error();
    }
    if (moving->payouts.empty()) {
        return nothing(moving->note);
    }
    if (Status seen = check_expected(command, subject->digest); !seen) {
        return seen.error();
    }
    write(*moving, approve_move(), context, programs, payout_memo, txn);
    if (judged->row) {
        txn.put(*judged->row);
    }
    std::string sums = " (" + sums_text(subject->totals) + ")";
    if (subject->unguarded_count != 0) {
        sums += "; " + std::to_string(subject->unguarded_count) + " needed no approval (" +
                sums_text(subject->unguarded) + ")";
    }
    return reply_of(*moving, approve_move(), sums);
}

}  // namespace sluice
