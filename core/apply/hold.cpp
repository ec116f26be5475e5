#include <utility>

#include "core/apply/command.hpp"
#include "core/ledger/account_rows.hpp"
#include "core/orders/account_change.hpp"
#include "core/orders/change.hpp"
#include "core/orders/sums.hpp"

namespace sluice {
namespace {

void set(OrderState& state, OrderFlag flag, bool on) {
    state.flags = static_cast<std::uint8_t>(on ? state.flags | flag : state.flags & ~flag);
}

/// Makes the row of a hold: names the creator by its first id, and checks the program.
Result<CreatorHold> hold_of(const HoldTarget& target, const CommandContext& context,
                            LedgerTxn& txn) {
    if (!target.program.empty()) {
        const Result<ProgramRow> program = program_of_account(txn, context, target.program);
        if (!program) {
            return program.error();
        }
    }
    return CreatorHold{.account = context.account,
                       .creator = first_id(txn, context.account, target.creator),
                       .program = target.program};
}

Result<Reply> hold_creator(const HoldTarget& target, const CommandContext& context,
                           LedgerTxn& txn) {
    Result<CreatorHold> row = hold_of(target, context, txn);
    if (!row) {
        return row.error();
    }
    if (CreatorHold stored = *row; txn.load(stored)) {
        return nothing("creator " + target.creator.str() + " is held already, by " + stored.actor);
    }
    row->actor = context.actor();
    row->reason = context.reason();
    row->held_at = context.source.received_at;
    txn.put(*row);
    post_memo(txn, context, row->account, JournalReason::kMemoHeld, {}, row->creator, row->program);
    return done("creator " + target.creator.str() + " is held");
}

Result<Reply> release_creator(const HoldTarget& target, const CommandContext& context,
                              LedgerTxn& txn) {
    Result<CreatorHold> row = hold_of(target, context, txn);
    if (!row) {
        return row.error();
    }
    if (!txn.load(*row)) {
        return nothing("creator " + target.creator.str() + " is not held");
    }
    txn.erase(*row);
    post_memo(txn, context, row->account, JournalReason::kMemoReleased, {}, row->creator,
              row->program);
    return done("creator " + target.creator.str() + " is released");
}

/// Posts the difference between what the live position's lines earn now and what has accrued, then
/// a memo entry. Without a live position, the memo entry alone.
void reprice(OrderChange& change, JournalReason reason, JournalEntry memo) {
    OrderState& state = change.state();
    if (!state.live) {
        change.post_memo(memo.reason, memo.line.view());
        return;
    }
    PostingCause cause{.all = reason};
    std::vector<JournalEntry> postings = owed_changes(state, cause);
    if (!postings.empty()) {
        change.post(*state.position(), std::move(postings));
    }
    change.post_memo(memo.reason, memo.line.view());
}

/// Returns what to release of an order, or nullopt if it is held and rejected and the command does
/// not say which.
std::optional<ReleaseOf> released(const OrderState& state, ReleaseOf asked) {
    if (asked != ReleaseOf::kWhatThereIs) {
        return asked;
    }
    if (state.has(kOrderHeld) && state.has(kOrderRejected)) {
        return std::nullopt;
    }
    return state.has(kOrderHeld) ? ReleaseOf::kHold : ReleaseOf::kReject;
}

}  // namespace

Result<Reply> set_hold(const Hold& command, const CommandContext& context, ProgramCache& programs,
                       LedgerTxn& txn) {
    if (Status reason = check_reason(context); !reason) {
        return reason.error();
    }
    if (!command.target.order) {
        return hold_creator(command.target, context, txn);
    }
    OrderChange change(txn, programs, context.source);
    if (Status found = change.load(context, *command.target.order); !found) {
        return found.error();
    }
    if (change.state().has(kOrderHeld)) {
        return nothing("order " + command.target.order->str() + " is held already");
    }
    set(change.state(), kOrderHeld, true);
    list_attention(txn, change.state().key, AttentionKind::kHold, context.source.received_at, true);
    change.post_memo(JournalReason::kMemoHeld);
    change.finish();
    return done("order " + command.target.order->str() + " is held");
}

Result<Reply> release_hold(const Release& command, const CommandContext& context,
                           ProgramCache& programs, LedgerTxn& txn) {
    if (Status reason = check_reason(context); !reason) {
        return reason.error();
    }
    if (!command.target.order) {
        return release_creator(command.target, context, txn);
    }
    const std::string& order = command.target.order->str();
    OrderChange change(txn, programs, context.source);
    if (Status found = change.load(context, *command.target.order); !found) {
        return found.error();
    }
    OrderState& state = change.state();
    const std::optional<ReleaseOf> of = released(state, command.of);
    if (!of) {
        return refused("order " + order + " is held and rejected: say --hold or --reject");
    }
    const bool of_hold = *of == ReleaseOf::kHold;
    const OrderFlag flag = of_hold ? kOrderHeld : kOrderRejected;
    if (!state.has(flag)) {
        return nothing("order " + order + " is not " + (of_hold ? "held" : "rejected"));
    }
    set(state, flag, false);
    if (of_hold) {
        end_hold(txn, state);
        change.post_memo(JournalReason::kMemoReleased, "hold");
    } else {
        reprice(change, JournalReason::kRelease, memo_of(JournalReason::kMemoReleased, "reject"));
    }
    change.finish();
    return done("order " + order + " is released");
}

Result<Reply> reject_order(const Reject& command, const CommandContext& context,
                           ProgramCache& programs, LedgerTxn& txn) {
    OrderChange change(txn, programs, context.source);
    if (Status loaded = change.load(context, command.order); !loaded) {
        return loaded.error();
    }
    if (change.state().has(kOrderRejected)) {
        return nothing("order " + command.order.str() + " is rejected already");
    }
    set(change.state(), kOrderRejected, true);
    reprice(change, JournalReason::kReject, memo_of(JournalReason::kMemoRejected));
    change.finish();
    return done("order " + command.order.str() + " is rejected");
}

}  // namespace sluice
