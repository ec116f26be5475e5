#include "core/approvals/approval.hpp"

#include <utility>

#include "core/approvals/signed_approval.hpp"
#include "core/ledger/list_rows.hpp"
#include "core/orders/account_change.hpp"
#include "core/rules/soundness.hpp"
#include "core/values/actor.hpp"
#include "core/values/lookup.hpp"
#include "core/values/texts.hpp"

namespace sluice {
namespace {

std::string ended_words(const PendingApproval& row) {
    return row.command_id + " was " +
           (row.state == ApprovalState::kApproved ? "approved" : "withdrawn") + " by " +
           row.ended_by + " at " + row.ended_at.value_or(Timestamp()).to_string();
}

void end(PendingApproval& row, ApprovalState state, const CommandContext& context, LedgerTxn& txn) {
    txn.erase(WaitingByState{row.account, row.state, row.command_id});
    txn.put(WaitingByState{row.account, state, row.command_id});
    row.state = state;
    row.ended_by = context.actor();
    row.ended_at = context.source.received_at;
    txn.put(row);
}

/// Refuses if the order of a pending `adjust` is gone, or is attributed to another creator now.
Status check_unchanged(const PendingApproval& row, const Command& command, LedgerTxn& txn) {
    const auto* adjust = std::get_if<Adjust>(&command);
    if (adjust == nullptr) {
        return {};
    }
    OrderState state;
    const bool there = load_sound_order(txn, {row.account, row.shop, adjust->order}, state);
    if (!there || !state.live || state.currency != row.currency ||
        state.position()->attribution.program != row.program ||
        state.position()->attribution.creator != row.creator) {
        return refused("the order of " + row.command_id +
                       " changed since; withdraw the command and run it again");
    }
    return {};
}

/// Entries have the receipt and the input of the approval, and the id and the actor of the request.
CommandContext context_of(const PendingApproval& row, const CommandContext& approval) {
    CommandContext context = approval;
    context.source.topic = row.topic;
    context.source.command_id = row.command_id;
    context.source.actor = row.actor;
    context.source.note = row.reason;
    context.shop = row.shop;
    context.shop_id = row.shop_id;
    context.body = row.body;
    context.approved = true;
    return context;
}

}  // namespace

Status check_approver(const CommandContext& context, const std::string& requester,
                      const std::string& what, const Policy& policy) {
    if (context.actor() == requester) {
        return refused(requester + " requested " + what + ": another actor has to approve it");
    }
    const auto names = mapped(policy.approvers, approver_name);
    if (names.empty() || std::ranges::find(names, context.actor()) != names.end()) {
        return {};
    }
    return refused(context.actor() + " is not one of the approvers: " + joined(names, ", "));
}

Status check_person(const Approve& command, const CommandContext& given,
                    const std::string& requester) {
    if (has_login(given.actor())) {
        return {};
    }
    if (command.signature.empty()) {
        return refused("this process has no login user, so only a signature approves " +
                       command.id + ": log in, or use --signature");
    }
    return has_login(requester) ? Status()
                                : refused(requester + " requested " + command.id +
                                          " without a login, and this process has none either: "
                                          "nothing proves that they are two persons");
}

Status check_expected(const Approve& command, const Digest256& digest) {
    if (command.expect.empty() || command.expect == to_hex(digest)) {
        return {};
    }
    return refused(command.id + " changed since you saw it: its digest is " + to_hex(digest) +
                   ", not " + command.expect + "; look again with `sluice approvals show " +
                   command.id + "`");
}

Reply wait_for_approval(const CommandContext& context, const PendingSubject& subject,
                        LedgerTxn& txn) {
    PendingApproval row{.account = context.account,
                        .command_id = context.source.command_id,
                        .topic = context.source.topic,
                        .shop = context.shop,
                        .shop_id = context.shop_id,
                        .body = context.body,
                        .actor = context.actor(),
                        .reason = context.reason(),
                        .received_at = context.source.received_at};
    if (subject.amount) {
        row.currency = subject.amount->currency;
        row.amount = subject.amount->amount;
    }
    row.program = subject.program;
    row.creator = subject.creator;
    row.node = txn.head().node;
    row.entry =
        post_memo(txn, context, context.account, JournalReason::kMemoPending, pending_memo(row));
    txn.put(row);
    txn.put(WaitingByState{row.account, row.state, row.command_id});
    return {CommandOutcome::kPending, row.command_id + " waits for the approval of another actor"};
}

std::optional<PendingApproval> find_pending(const std::string& id, const CommandContext& context,
                                            LedgerTxn& txn) {
    PendingApproval row{.account = context.account, .command_id = id};
    return txn.load(row) ? std::optional(std::move(row)) : std::nullopt;
}

Result<Reply> approve_pending(const Approve& command, PendingApproval row,
                              const CommandContext& given, const RunApproved& run,
                              const EffectNow& effect, ProgramCache& programs, LedgerTxn& txn) {
    if (row.state == ApprovalState::kApproved) {
        return nothing(ended_words(row));
    }
    if (row.state == ApprovalState::kWithdrawn) {
        return refused(ended_words(row));
    }
    const Policy policy = programs.settings(txn, row.account).policy;
    Result<ApprovalSubject> subject =
        approval_subject(txn, row.account, given.account_id, row.command_id);
    const Result<Request> request = decode_request(row.topic, row.body);
    if (request) {
        add_effect(*subject, effect(row, request->command));
    }
    const Result<Approving> judged = approving(command, *subject, given, policy, txn);
    if (!judged) {
        return judged.error();
    }
    const CommandContext& context = judged->context;
    if (Status person = check_person(command, given, row.actor); !person) {
        return person.error();
    }
    if (Status may = check_approver(context, row.actor, row.command_id, policy); !may) {
        return may.error();
    }
    if (Status seen = check_expected(command, subject->digest); !seen) {
        return seen.error();
    }
    if (const std::optional<std::string> damage = damage_of(row, txn)) {
        return DamagedRow(row_name(row), *damage, std::nullopt).error();
    }
    const CommandContext asked = context_of(row, context);
    if (Status same = check_unchanged(row, request->command, txn); !same) {
        return same.error();
    }
    Result<Reply> reply = run(request->command, asked);
    if (!reply) {
        return reply.error();
    }
    post_memo(txn, context, row.account, JournalReason::kMemoApproved, row.command_id);
    end(row, ApprovalState::kApproved, context, txn);
    if (judged->row) {
        txn.put(*judged->row);
    }
    return done(row.command_id + " is approved: " + reply->text);
}

Result<Reply> withdraw(const Withdraw& command, const CommandContext& context,
                       ProgramCache& /*programs*/, LedgerTxn& txn) {
    if (Status reason = check_reason(context); !reason) {
        return reason.error();
    }
    std::optional<PendingApproval> row = find_pending(command.id, context, txn);
    if (!row) {
        return not_found("account " + context.account_id.str() + " has no pending command " +
                         command.id);
    }
    if (row->state == ApprovalState::kWithdrawn) {
        return nothing(ended_words(*row));
    }
    if (row->state == ApprovalState::kApproved) {
        return refused(ended_words(*row));
    }
    post_memo(txn, context, context.account, JournalReason::kMemoWithdrawn, row->command_id);
    end(*row, ApprovalState::kWithdrawn, context, txn);
    return done(command.id + " is withdrawn");
}

void report_approval(const std::set<AccountNumber>& accounts, CommandRow& row,
                     LedgerReader& ledger) {
    PendingApproval first{.command_id = row.first_command};
    for (const AccountNumber account : accounts) {
        first.account = account;
        if (!ledger.load(first)) {
            continue;
        }
        if (first.state == ApprovalState::kPending) {
            row.outcome = CommandOutcome::kPending;
            return;
        }
        row.result = ended_words(first);
        if (first.state == ApprovalState::kWithdrawn) {
            row.outcome = CommandOutcome::kRefused;
        }
        return;
    }
}

}  // namespace sluice
