#include <functional>
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
#include "core/payouts/selection.hpp"
#include "core/values/shell_word.hpp"

namespace sluice {
namespace {

void stamp(Payout& payout, const Transition& transition, const CommandContext& context) {
    payout.state = transition.to;
    const Timestamp at = context.source.received_at;
    if (transition.to == PayoutState::kApproved) {
        payout.approved_by = context.actor();
        payout.approved_at = at;
    } else if (transition.to == PayoutState::kSent) {
        payout.sent_by = context.actor();
        payout.sent_at = at;
    } else if (transition.to == PayoutState::kClosed) {
        payout.repointed_by = context.actor();
        ++payout.repoints;
        payout.approved_by.clear();
        payout.approved_at.reset();
        payout.payees_sha256.clear();
    } else {
        payout.ended_by = context.actor();
        payout.ended_at = at;
        payout.end_reason = is_active(transition.to) ? std::string() : context.source.note;
    }
}

/// @param line  Text of the memo entries of a move that has no postings.
void write(PayoutSelection& selected, const Transition& transition, const CommandContext& context,
           ProgramCache& programs, const std::function<std::string(const Payout&)>& line,
           LedgerTxn& txn) {
    const AccountSettings& settings = programs.settings(txn, context.account);
    const bool posts = !is_memo(transition.reason);
    PayoutAllocation allocation(context.source, settings, txn);
    PartsOf parts = posts ? parts_of(selected.moving, txn) : PartsOf();
    if (transition.to == PayoutState::kVoid || transition.to == PayoutState::kClosed) {
        uncount_payouts(selected.moving, txn);
    }
    for (Payout& payout : selected.moving) {
        txn.erase(PayoutByAccount{payout.account, payout.state, payout.payout_id});
        stamp(payout, transition, context);
        txn.put(payout);
        txn.put(PayoutByAccount{payout.account, payout.state, payout.payout_id});
        if (posts) {
            allocation.post_parts(payout, parts[payout.payout_id], transition.reason);
        }
    }
    if (!posts) {
        for (const Payout& payout : selected.moving) {
            allocation.post_memo(payout.creator, payout.payout_id, transition.reason, line(payout));
        }
    }
    allocation.follow(selected.moving);
}

/// Sets the payees that the creators have now. Drops payouts that have them already.
Status repoint(PayoutSelection& selected, const CommandContext& context, LedgerTxn& txn) {
    std::vector<Payout> changed;
    for (Payout& payout : selected.moving) {
        CreatorRow profile{context.account, payout.creator, {}, {}, {}};
        if (!txn.load(profile) || profile.payee.empty()) {
            return refused("payout " + payout.payout_id + ": creator " + payout.creator.str() +
                           " has no payee; set one: `sluice creator set " +
                           shell_word(payout.creator.str()) + " --account " +
                           context.account_id.str() + " --payee PAYEE`");
        }
        if (profile.payee == payout.payee) {
            selected.notes.add("payout " + payout.payout_id + " goes to payee " + payout.payee +
                               " already");
            continue;
        }
        payout.payee = profile.payee;
        changed.push_back(std::move(payout));
    }
    selected.moving = std::move(changed);
    return {};
}

/// Refuses a command that names the payouts that it moves if they have changed since. So it refuses
/// an export whose bytes were made of other payouts: one was repointed, or sent by another export
/// (K2).
Status check_unchanged(const PayoutMove& command, const std::vector<Payout>& payouts) {
    if (command.expect.empty() || command.expect == to_hex(payouts_digest(payouts))) {
        return {};
    }
    return refused(command.message.empty()
                       ? "another command moved some of these payouts meanwhile; nothing was done"
                       : "a payout of message " + command.message +
                             " was repointed or sent while its file was made; nothing was sent: "
                             "export them again");
}

/// Refuses an export whose bank accounts are not those that were approved with the payouts.
Status check_payees(const PayoutMove& command, const std::vector<Payout>& payouts,
                    const Policy& policy) {
    if (command.message.empty()) {
        return {};
    }
    for (const Payout& payout : payouts) {
        if (payout.payees_sha256.empty() ? policy.approve_payees_file
                                         : payout.payees_sha256 != command.payees) {
            return refused(
                "payout " + payout.payout_id +
                (payout.payees_sha256.empty()
                     ? " was approved without a file of bank accounts"
                     : " was approved with the file of bank accounts that has the SHA-256 " +
                           payout.payees_sha256 + ", not " + command.payees) +
                "; void it, close again, and have it approved with --payees");
        }
    }
    return {};
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
        Payout payout{.payout_id = id};
        if (txn.load(payout) && payout.account == context.account &&
            payout.state == PayoutState::kPaid && payout.bank_ref.empty()) {
            payout.bank_ref = command.bank_ref;
            txn.put(payout);
            ++recorded;
        }
    }
    return recorded;
}

Reply reply_of(const PayoutSelection& selected, const Transition& transition,
               const std::string& more = {}) {
    std::string text = counted(selected.moving.size(), "payout", "payouts") + " " +
                       std::string(transition.done) + more;
    const std::string notes = selected.notes.text();
    text += notes.empty() ? "" : "; " + notes;
    return done(std::move(text));
}

Reply nothing_moved(const PayoutSelection& selected, const Transition& transition) {
    return selected.done.empty() ? nothing(reply_of(selected, transition).text)
                                 : nothing(selected.notes.text());
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

Result<Reply> move_payouts(const PayoutMove& command, const CommandContext& context,
                           ProgramCache& programs, LedgerTxn& txn) {
    if (Status reason = check_reason(context); !reason) {
        return reason.error();
    }
    Result<std::vector<Payout>> payouts =
        payouts_of_ids(txn, context.account, context.account_id, command.ids);
    if (!payouts) {
        return payouts.error();
    }
    const Transition& transition = transition_of(command.verb);
    Result<PayoutSelection> selected = select_payouts(*std::move(payouts), transition, command.ids);
    if (!selected) {
        return selected.error();
    }
    if (command.verb == PayoutVerb::kRepoint) {
        if (Status possible = repoint(*selected, context, txn); !possible) {
            return possible.error();
        }
    }
    if (!command.message.empty() && selected->moving.empty()) {
        return nothing_moved(*selected, transition);
    }
    if (Status same = check_unchanged(command, selected->moving); !same) {
        return same.error();
    }
    if (Status same =
            check_payees(command, selected->moving, programs.settings(txn, context.account).policy);
        !same) {
        return same.error();
    }
    const std::size_t recorded = record_reference(command, context, txn);
    if (selected->moving.empty() && recorded == 0) {
        return nothing_moved(*selected, transition);
    }
    for (Payout& payout : selected->moving) {
        payout.message = command.message.empty() ? payout.message : command.message;
        payout.bank_ref = command.bank_ref.empty() ? payout.bank_ref : command.bank_ref;
        payout.paid_at = command.paid_at ? command.paid_at : payout.paid_at;
    }
    const bool proves = command.verb == PayoutVerb::kRepoint;
    const std::string sent =
        command.message.empty() ? std::string() : command.sha256 + " " + command.message;
    write(
        *selected, transition, context, programs,
        [&](const Payout& payout) { return proves ? payout_memo(payout) : sent; }, txn);
    return reply_of(*selected, transition,
                    recorded == 0 ? std::string()
                                  : "; the bank's reference of " +
                                        counted(recorded, "payout", "payouts") + " is recorded");
}

Result<Reply> approve_payouts(const Approve& command, const CommandContext& given,
                              ProgramCache& programs, LedgerTxn& txn) {
    Result<std::vector<Payout>> payouts =
        payouts_of_ids(txn, given.account, given.account_id, {command.id});
    if (!payouts) {
        return payouts.error();
    }
    Result<ApprovalSubject> subject =
        approval_subject(txn, given.account, given.account_id, command.id);
    subject->digest = digest_with_payees(subject->digest, command.payees);
    const Policy policy = programs.settings(txn, given.account).policy;
    const Result<Approving> judged = subject->payouts.empty()
                                         ? Approving{given, std::nullopt}
                                         : approving(command, *subject, given, policy, txn);
    if (!judged) {
        return judged.error();
    }
    const CommandContext& context = judged->context;
    for (const Payout& payout : subject->payouts) {
        for (const std::string& requester : {payout.closed_by, payout.repointed_by}) {
            if (Status person = check_person(command, given, requester); !person) {
                return person.error();
            }
        }
        if (Status may = check_approver(context, payout, policy); !may) {
            return may.error();
        }
    }
    const Transition& transition = approval_transition();
    Result<PayoutSelection> selected =
        select_payouts(*std::move(payouts), transition, {command.id});
    if (!selected) {
        return selected.error();
    }
    if (selected->moving.empty()) {
        return nothing_moved(*selected, transition);
    }
    if (Status seen = check_expected(command, subject->digest); !seen) {
        return seen.error();
    }
    if (policy.approve_payees_file && command.payees.empty()) {
        return refused("the policy has approve_payees_file: approve " + command.id +
                       " with --payees FILE, the file of bank accounts");
    }
    for (Payout& payout : selected->moving) {
        payout.payees_sha256 = command.payees;
    }
    write(*selected, transition, context, programs, approved_memo, txn);
    if (judged->row) {
        txn.put(*judged->row);
    }
    std::string sums = " (" + sums_text(subject->totals) + ")";
    if (subject->unguarded_count != 0) {
        sums += "; " + std::to_string(subject->unguarded_count) + " needed no approval (" +
                sums_text(subject->unguarded) + ")";
    }
    return reply_of(*selected, transition, sums);
}

}  // namespace sluice
