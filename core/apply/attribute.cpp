#include <optional>
#include <utility>
#include <vector>

#include "core/apply/command.hpp"
#include "core/apply/dry_run.hpp"
#include "core/apply/work.hpp"
#include "core/approvals/approval.hpp"
#include "core/approvals/limits.hpp"
#include "core/journal/journal.hpp"
#include "core/orders/order.hpp"
#include "core/rules/soundness.hpp"

namespace sluice {
namespace {

// ---- Limits (K4) --------------------------------------------------------------------------------

/// Whether the command would move more commission than approve_attribution_above lets one actor.
bool must_wait(const Command& command, const CommandContext& context, ProgramCache& programs,
               LedgerTxn& txn) {
    const AccountSettings& settings = programs.settings(txn, context.account);
    const auto& above = settings.policy.approve_attribution_above;
    if (context.approved || !above) {
        return false;
    }
    const Result<DryRun> tried = dry_run(command, context, txn);
    if (!tried) {
        return false;  // it is refused, in its own words
    }
    LimitSums moved;
    for (const DryRunRow& row : tried->rows) {
        add_to(moved, row.creator, {row.currency, row.difference});
    }
    return exceeds_limit(above, moved, context.account, LimitKind::kAttribution,
                         accounting_date(context.source.received_at, settings.row.closed_until),
                         txn);
}

/// Counts the commission that a change moved.
void count_moved(const OrderState& before, const OrderState& after, const Source& source,
                 ProgramCache& programs, LedgerTxn& txn) {
    Differences differences;
    differences.add(&before, &after);
    const AccountNumber account = after.key.account;
    for (const DryRunRow& row : differences.rows()) {
        count_use(
            {account, LimitKind::kAttribution, row.creator, row.currency,
             accounting_date(source.received_at, programs.settings(txn, account).row.closed_until),
             source.command_id, row.difference},
            txn);
    }
}

// ---- Orders -------------------------------------------------------------------------------------

/// Detaches the order from its creator: posts the reversal of its accrued amounts, and a memo
/// entry.
void leave(OrderChange& change) {
    OrderState& state = change.state();
    Position& position = *state.position();
    change.post(position, take_back(position, JournalReason::kDetach),
                {memo_of(JournalReason::kMemoDetached)});
    state.live.reset();
}

bool is_attributed_to(const OrderState& state, const ProgramId& program, const CreatorId& creator) {
    return state.live && state.position()->attribution.program == program &&
           state.position()->attribution.creator == creator;
}

/// Bars the order from attribution, or with `retry` attributes it again. Writes nothing if the
/// retry selects the same creator. Returns whether something changed.
bool bar_or_reattribute(OrderChange& change, bool retry, const Source& source,
                        ProgramCache& programs, LedgerTxn& txn) {
    OrderState& state = change.state();
    std::optional<Attribution> chosen;
    const std::optional<ShopRow> shop = txn.shop(state.key.shop);
    if (retry && shop) {
        chosen = find_creator(state, shop->shop_id.view(), programs, txn);
    }
    if (chosen && is_attributed_to(state, chosen->program, chosen->creator)) {
        return false;
    }
    if (!chosen && !state.live && state.has(kOrderBarred)) {
        return false;
    }
    const OrderState before = state;
    if (state.live) {
        leave(change);
    }
    state.flags |= kOrderBarred;
    if (chosen) {
        attribute(state, *std::move(chosen), source, programs, txn);
        post_attribution(state, source, programs, txn);
    }
    change.finish();
    count_moved(before, state, source, programs, txn);
    return true;
}

Result<Reply> detach_one(const Detach& command, const CommandContext& context,
                         ProgramCache& programs, LedgerTxn& txn) {
    OrderChange change(txn, programs, context.source);
    if (Status found = change.load(context, *command.order); !found) {
        return found.error();
    }
    const std::string& order = command.order->str();
    const OrderState& state = change.state();
    if (!state.live && !(command.retry && state.has(kOrderBarred))) {
        return nothing("order " + order + " is not attributed to a creator");
    }
    if (!bar_or_reattribute(change, command.retry, context.source, programs, txn)) {
        return nothing("no change: order " + order +
                       (state.live ? " stays with its creator" : " finds no creator"));
    }
    return done("order " + order +
                (change.state().live
                     ? " is attributed to " + change.state().position()->attribution.creator.str()
                     : " is detached"));
}

bool would_change(const OrderState& state, bool retry, ProgramCache& programs, LedgerTxn& txn) {
    const std::optional<ShopRow> shop = txn.shop(state.key.shop);
    if (!retry || !shop) {
        return true;
    }
    const auto chosen = find_creator(state, shop->shop_id.view(), programs, txn);
    return !chosen || !is_attributed_to(state, chosen->program, chosen->creator);
}

/// Returns whether the detach would change an order that is still attributed as the command `cause`
/// set it, or nullopt if there is no such order.
std::optional<bool> would_change_any(const Detach& command, const CommandContext& context,
                                     ProgramCache& programs, LedgerTxn& txn) {
    std::vector<AttributedOrder> rows;
    txn.scan(AttributedOrder{command.cause, context.account, {}, {}}, {2, 2},
             [&rows](const AttributedOrder& row) { rows.push_back(row); });
    std::optional<bool> changes;
    OrderState state;
    for (const AttributedOrder& row : rows) {
        if (load_unless_damaged(txn, {row.account, row.shop, row.order_id}, state) && state.live &&
            state.position()->attribution.command_id == command.cause) {
            changes = would_change(state, command.retry, programs, txn);
            if (*changes) {
                break;
            }
        }
    }
    return changes;
}

}  // namespace

Result<Reply> run_verb(const Attribute& command, const CommandContext& context,
                       ProgramCache& programs, LedgerTxn& txn) {
    OrderChange change(txn, programs, context.source);
    if (Status loaded = change.load(context, command.order); !loaded) {
        return loaded.error();
    }
    const std::optional<ProgramRow> program = txn.program(command.program);
    if (!program || program->program.account != context.account ||
        !program->program.covers(context.shop_id.view())) {
        return refused("account " + context.account_id.str() + " has no program " +
                       command.program.str() + " that covers shop " + context.shop_id.str());
    }
    const CreatorId creator = first_id(txn, context.account, command.creator);
    if (!txn.membership(context.account, command.program, creator)) {
        return refused("creator " + command.creator.str() + " was never in program " +
                       command.program.str() + "; import the creator first");
    }
    OrderState& state = change.state();
    const std::string& order = command.order.str();
    if (is_attributed_to(state, command.program, creator)) {
        return nothing("order " + order + " is attributed to " + command.creator.str() + " in " +
                       command.program.str() + " already");
    }
    if (program->precedes_opening(state.ordered_at)) {
        return refused("order " + order + " of " + state.ordered_at.to_string() +
                       " earns nothing: program " + command.program.str() +
                       " has opening balances of " + program->opening_at->to_string() +
                       "; use `sluice credit`");
    }
    if (state.live && !command.replace) {
        const Attribution& attribution = state.position()->attribution;
        return refused("order " + order + " is attributed to " + attribution.creator.str() +
                       " in " + attribution.program.str() + ": use --replace to change it");
    }
    if (must_wait(command, context, programs, txn)) {
        return wait_for_approval(context, {std::nullopt, command.program, creator}, txn);
    }
    const OrderState before = state;
    if (state.live) {
        leave(change);
    }
    Attribution attribution;
    attribution.program = command.program;
    attribution.creator = creator;
    attribution.types = static_cast<std::uint8_t>(AttributionType::kManual);
    attribute(state, std::move(attribution), context.source, programs, txn);
    post_attribution(state, context.source, programs, txn);
    change.finish();
    count_moved(before, state, context.source, programs, txn);
    return done("order " + order + " is attributed to " + command.creator.str() + " in " +
                command.program.str() + " now, as " + context.source.command_id);
}

Result<Reply> run_verb(const Detach& command, const CommandContext& context, ProgramCache& programs,
                       LedgerTxn& txn) {
    if (Status reason = check_reason(context); !reason) {
        return reason.error();
    }
    if (must_wait(command, context, programs, txn)) {
        return wait_for_approval(context, {}, txn);
    }
    if (command.order) {
        return detach_one(command, context, programs, txn);
    }
    const std::optional<bool> changes = would_change_any(command, context, programs, txn);
    if (!changes) {
        return nothing("no change: no order of account " + context.account_id.str() +
                       " is still attributed to the creator that " + command.cause + " set");
    }
    if (!*changes) {
        return nothing("no change: each order of account " + context.account_id.str() + " that " +
                       command.cause + " attributed stays with its creator");
    }
    leave_detach_work(command.cause, command.retry, context, txn);
    return done("the orders of account " + context.account_id.str() + " that " + command.cause +
                " attributed are " + (command.retry ? "tried again" : "detached"));
}

void detach_attributed(const OrderKey& order, const std::string& cause, bool retry,
                       const Source& source, ProgramCache& programs, LedgerTxn& txn) {
    OrderChange change(txn, programs, source);
    if (change.load_unless_damaged(order) && change.state().live &&
        change.state().position()->attribution.command_id == cause) {
        bar_or_reattribute(change, retry, source, programs, txn);
    }
}

}  // namespace sluice
