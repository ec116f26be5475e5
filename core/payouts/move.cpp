#include <algorithm>
#include <array>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "core/approvals/approval.hpp"
#include "core/commands/ids.hpp"
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
    static const std::array<Move, 5> moves{{
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

Error no_payout(const CommandContext& context, const std::string& id) {
    return {ErrorCode::kNotFound, "account " + context.account_id.str() + " has no payout " + id};
}

/// Returns the payout with this id, or all payouts of the payout run with this id, by number.
Result<std::vector<Payout>> named(const std::string& id, const CommandContext& context,
                                  LedgerTxn& txn) {
    std::vector<Payout> found;
    Payout one;
    one.payout_id = id;
    if (txn.load(one) && one.account == context.account) {
        found.push_back(std::move(one));
        return found;
    }
    PayoutRun run;
    run.payout_run = id;
    if (!txn.load(run) || run.account != context.account || run.payouts_count == 0) {
        return no_payout(context, id);
    }
    const std::string prefix = payout_id_prefix(id);
    Payout first;
    first.payout_id = prefix;
    txn.scan(first, {0, 1}, [&](const Payout& payout) {
        if (!std::string_view(payout.payout_id).starts_with(prefix)) {
            return false;
        }
        found.push_back(payout);
        return true;
    });
    return found;
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
/// have ended (K11).
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
    } else {
        payout.ended_by = context.actor();
        payout.ended_at = at;
    }
}

JournalGroup group_of_move(const Payout& payout, const CommandContext& context,
                           const AccountSettings& settings) {
    JournalGroup group = group_of(context.source, payout.account, settings.row.closed_until);
    group.creator = payout.creator;
    group.payout_id = payout.payout_id;
    return group;
}

/// Posts one amount per program.
void post_parts(const Payout& payout, const std::vector<PayoutPart>& parts, const Move& move,
                const CommandContext& context, const AccountSettings& settings, LedgerTxn& txn) {
    for (const PayoutPart& part : parts) {
        if (!part.amount.is_zero()) {
            JournalGroup group = group_of_move(payout, context, settings);
            group.program = part.program;
            group.entries.push_back({LineItemId(), payout.currency, part.amount, move.reason, 0});
            post_group(txn, std::move(group));
        }
    }
}

void write(Moving& moving, const Move& move, const CommandContext& context, ProgramCache& programs,
           LedgerTxn& txn) {
    const AccountSettings& settings = programs.settings(txn, context.account);
    const bool posts = !is_memo(move.reason);
    PartsOf parts = posts ? parts_of(moving.payouts, txn) : PartsOf();
    for (Payout& payout : moving.payouts) {
        stamp(payout, move, context);
        txn.put(payout);
        if (posts) {
            post_parts(payout, parts[payout.payout_id], move, context, settings, txn);
        }
    }
    PayoutAllocation(context.source, settings, txn).follow(moving.payouts);
    if (posts) {
        return;
    }
    for (const Payout& payout : moving.payouts) {
        JournalGroup group = group_of_move(payout, context, settings);
        group.entries.push_back(memo_of(move.reason));
        post_group(txn, std::move(group));
    }
}

Reply reply_of(const Moving& moving, const Move& move) {
    std::string text =
        counted(moving.payouts.size(), "payout", "payouts") + " " + std::string(move.done);
    if (!moving.note.empty()) {
        text += "; " + moving.note;
    }
    return {CommandOutcome::kDone, std::move(text)};
}

}  // namespace

Result<Reply> move_payouts(const PayoutMove& command, const CommandContext& context,
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
    if (moving->payouts.empty()) {
        return nothing(moving->note);
    }
    for (Payout& payout : moving->payouts) {
        payout.bank_ref = command.bank_ref.empty() ? payout.bank_ref : command.bank_ref;
        payout.paid_at = command.paid_at ? command.paid_at : payout.paid_at;
    }
    write(*moving, move, context, programs, txn);
    return reply_of(*moving, move);
}

Result<Reply> approve_payouts(const Approve& command, const CommandContext& context,
                              ProgramCache& programs, LedgerTxn& txn) {
    Result<std::vector<Payout>> payouts = named(command.id, context, txn);
    if (!payouts) {
        return payouts.error();
    }
    const Policy& policy = programs.settings(txn, context.account).policy;
    for (const Payout& payout : *payouts) {
        if (payout.state == PayoutState::kClosed) {
            Status may =
                check_approver(context, payout.closed_by, "payout " + payout.payout_id, policy);
            if (!may) {
                return may.error();
            }
        }
    }
    Result<Moving> moving = select_movable(*std::move(payouts), approve_move(), {command.id});
    if (!moving) {
        return moving.error();
    }
    if (moving->payouts.empty()) {
        return nothing(moving->note);
    }
    write(*moving, approve_move(), context, programs, txn);
    return reply_of(*moving, approve_move());
}

}  // namespace sluice
