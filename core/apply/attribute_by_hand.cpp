#include "core/apply/attribute_by_hand.hpp"

#include <utility>
#include <vector>

#include "core/apply/leave_work.hpp"
#include "core/orders/order.hpp"
#include "core/rules/soundness.hpp"

namespace sluice {
namespace {

/// The live position loses the order.
void leave(OrderChange& change) {
    OrderState& state = change.state();
    Position& position = *state.position();
    change.post(position, take_back(position, JournalReason::kDetach),
                {mark_of(JournalReason::kMarkDetached)});
    state.live.reset();
}

bool belongs_to(const OrderState& state, const ProgramId& program, const CreatorId& creator) {
    return state.live && state.position()->attribution.program == program &&
           state.position()->attribution.creator == creator;
}

/// The order is barred, or tried again; who gets it back keeps it, and nothing is written then.
/// @return true if something changed.
bool go_on(OrderChange& change, bool retry, const Source& source, ProgramCache& programs,
           LedgerTxn& txn) {
    OrderState& state = change.state();
    std::optional<Attribution> chosen;
    const std::optional<ShopRow> shop = txn.shop(state.key.shop);
    if (retry && shop) {
        chosen = find_creator(state, shop->shop_id.view(), programs, txn);
    }
    if (chosen && belongs_to(state, chosen->program, chosen->creator)) {
        return false;
    }
    if (!chosen && !state.live && state.has(kOrderBarred)) {
        return false;
    }
    if (state.live) {
        leave(change);
    }
    state.flags |= kOrderBarred;
    if (chosen) {
        give(state, *std::move(chosen), source, programs, txn);
        post_attribution(state, source, programs, txn);
    }
    change.finish();
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
        return nothing("order " + order + " belongs to no creator");
    }
    if (!go_on(change, command.retry, context.source, programs, txn)) {
        return nothing("nothing changes: order " + order + " belongs to whom it belonged");
    }
    return Reply{CommandOutcome::kDone,
                 "order " + order +
                     (change.state().live
                          ? " belongs to " + change.state().position()->attribution.creator.str()
                          : " is detached")};
}

/// Orders that a command gave out and that still belong to whom it gave them.
struct Given {
    std::uint64_t orders = 0;
    bool changes = false;  ///< At least one would change hands.
};

bool would_change(const OrderState& state, bool retry, ProgramCache& programs, LedgerTxn& txn) {
    const std::optional<ShopRow> shop = txn.shop(state.key.shop);
    if (!retry || !shop) {
        return true;
    }
    const auto chosen = find_creator(state, shop->shop_id.view(), programs, txn);
    return !chosen || !belongs_to(state, chosen->program, chosen->creator);
}

/// Looks until one is found that changes.
Given what_it_gave(const Detach& command, const CommandContext& context, ProgramCache& programs,
                   LedgerTxn& txn) {
    std::vector<GivenOrder> rows;
    txn.scan(GivenOrder{command.cause, context.account, {}, {}}, {2, 2},
             [&rows](const GivenOrder& row) {
                 rows.push_back(row);
                 return true;
             });
    Given given;
    OrderState state;
    for (const GivenOrder& row : rows) {
        if (!load_unless_damaged(txn, {row.account, row.shop, row.order_id}, state) ||
            !state.live || state.position()->attribution.command_id != command.cause) {
            continue;
        }
        ++given.orders;
        if (would_change(state, command.retry, programs, txn)) {
            given.changes = true;
            break;
        }
    }
    return given;
}

}  // namespace

Result<Reply> attribute_order(const Attribute& command, const CommandContext& context,
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
    if (belongs_to(state, command.program, creator)) {
        return nothing("order " + order + " belongs to " + command.creator.str() + " in " +
                       command.program.str() + " already");
    }
    if (state.live && !command.replace) {
        const Attribution& attribution = state.position()->attribution;
        return refused("order " + order + " belongs to " + attribution.creator.str() + " in " +
                       attribution.program.str() + "; --replace takes it away");
    }
    if (state.live) {
        leave(change);
    }
    Attribution attribution;
    attribution.program = command.program;
    attribution.creator = creator;
    attribution.types = static_cast<std::uint8_t>(AttributionType::kManual);
    give(state, std::move(attribution), context.source, programs, txn);
    post_attribution(state, context.source, programs, txn);
    change.finish();
    return Reply{CommandOutcome::kDone, "order " + order + " belongs to " + command.creator.str() +
                                            " in " + command.program.str() + " now, as " +
                                            context.source.command_id};
}

Result<Reply> detach(const Detach& command, const CommandContext& context, ProgramCache& programs,
                     LedgerTxn& txn) {
    if (Status reason = check_reason(context); !reason) {
        return reason.error();
    }
    if (command.order) {
        return detach_one(command, context, programs, txn);
    }
    const Given given = what_it_gave(command, context, programs, txn);
    if (given.orders == 0) {
        return nothing(command.cause + " gave out no order that still belongs to whom it gave it");
    }
    if (!given.changes) {
        return nothing("nothing changes: each order that " + command.cause +
                       " gave out belongs to whom it belonged");
    }
    leave_detach_work(command.cause, command.retry, context, txn);
    return Reply{CommandOutcome::kDone, "the orders that " + command.cause + " gave out are " +
                                            (command.retry ? "tried again" : "detached")};
}

bool detach_given(const OrderKey& order, const std::string& cause, bool retry, const Source& source,
                  ProgramCache& programs, LedgerTxn& txn) {
    OrderChange change(txn, programs, source);
    if (!change.load_unless_damaged(order) || !change.state().live ||
        change.state().position()->attribution.command_id != cause) {
        return false;
    }
    return go_on(change, retry, source, programs, txn);
}

}  // namespace sluice
