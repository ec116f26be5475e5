#include <algorithm>
#include <functional>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "core/apply/command.hpp"
#include "core/apply/work.hpp"
#include "core/journal/journal.hpp"
#include "core/orders/change.hpp"
#include "core/orders/order.hpp"
#include "core/rules/attribution.hpp"
#include "core/rules/soundness.hpp"

namespace sluice {
namespace {

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
    if (state.live) {
        leave(change);
    }
    state.flags |= kOrderBarred;
    if (chosen) {
        attribute(state, *std::move(chosen), source, programs, txn);
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
    std::optional<bool> changes;
    OrderState state;
    for (const AttributedOrder& row :
         txn.rows(AttributedOrder{command.cause, context.account, {}, {}}, {2, 2})) {
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

// ---- Orders that carry a code ------------------------------------------------------------------

/// Calls `act` with each order that is there and sound.
void for_each_order(const CodeOrders& orders, const CommandContext& context, ProgramCache& programs,
                    LedgerTxn& txn, const std::function<void(OrderChange&)>& act) {
    constexpr std::size_t kAtOnce = 256;
    std::vector<OrderKey> keys;
    for (std::size_t i = 0; i < orders.orders.size(); ++i) {
        if (i % kAtOnce == 0) {
            keys.clear();
            for (std::size_t k = i; k < std::min(i + kAtOnce, orders.orders.size()); ++k) {
                keys.push_back({context.account, orders.orders[k].shop, orders.orders[k].order});
            }
            txn.expect_orders(keys);
        }
        OrderChange change(txn, programs, context.source);
        if (change.load_unless_damaged(keys[i % kAtOnce])) {
            act(change);
        }
    }
}

Result<Reply> detach_by_code(const Detach& command, const CommandContext& context,
                             ProgramCache& programs, LedgerTxn& txn) {
    const Digest256 code = code_digest(command.orders->code);
    std::size_t changed = 0;
    for_each_order(*command.orders, context, programs, txn, [&](OrderChange& change) {
        if (is_through_code(change.state(), code) &&
            bar_or_reattribute(change, command.retry, context.source, programs, txn)) {
            ++changed;
        }
    });
    const std::size_t kept = command.orders->orders.size() - changed;
    const std::string left = kept == 0
                                 ? ""
                                 : "; " + counted(kept, "other order keeps", "other orders keep") +
                                       " its creator: the code did not attribute it";
    if (changed == 0) {
        return nothing("no change: no order is attributed by code " + command.orders->code + left);
    }
    return done(counted(changed, "order", "orders") + " of code " + command.orders->code +
                (command.retry ? " tried again" : " detached") + left);
}

/// Attributes orders to one creator of one program.
struct Attributing {
    const Attribute& command;
    const CommandContext& context;
    const std::optional<ProgramRow>& program;
    const CreatorId& creator;

    [[nodiscard]] Status check_target(std::string_view shop, LedgerTxn& txn) const {
        if (!program || program->program.account != context.account ||
            !program->program.covers(shop)) {
            return refused("account " + context.account_id.str() + " has no program " +
                           command.program.str() + " that covers shop " + std::string(shop));
        }
        if (!txn.membership(context.account, command.program, creator)) {
            return refused("creator " + command.creator.str() + " was never in program " +
                           command.program.str() + "; import the creator first");
        }
        return {};
    }
    [[nodiscard]] bool has(const OrderState& state) const {
        return is_attributed_to(state, command.program, creator);
    }
    /// Requires: check_target() passed.
    [[nodiscard]] Status check_order(const OrderState& state) const {
        const std::string& order = state.key.order_id.str();
        if (program->precedes_opening(state.ordered_at)) {
            return refused("order " + order + " of " + state.ordered_at.to_string() +
                           " earns nothing: program " + command.program.str() +
                           " has opening balances of " + program->opening_at->to_string() +
                           "; use `sluice credit`, without --order");
        }
        if (state.live && !command.replace) {
            const Attribution& attribution = state.position()->attribution;
            return refused("order " + order + " is attributed to " + attribution.creator.str() +
                           " in " + attribution.program.str() + ": use --replace to change it");
        }
        return {};
    }
    void attribute_order(OrderChange& change, ProgramCache& programs, LedgerTxn& txn) const {
        OrderState& state = change.state();
        if (state.live) {
            leave(change);
        }
        Attribution attribution{.program = command.program,
                                .creator = creator,
                                .types = static_cast<std::uint8_t>(AttributionType::kManual)};
        attribute(state, std::move(attribution), context.source, programs, txn);
        post_attribution(state, context.source, programs, txn);
        change.finish();
    }
};

/// Orders that the command may not attribute are counted, with the reason of the first.
Result<Reply> attribute_by_code(const Attributing& how, ProgramCache& programs, LedgerTxn& txn) {
    const Attribute& command = how.command;
    if (Status reason = check_reason(how.context); !reason) {
        return reason.error();
    }
    const Digest256 code = code_digest(command.orders->code);
    std::size_t changed = 0, unchanged = 0, kept = 0;
    std::string why;
    for_each_order(*command.orders, how.context, programs, txn, [&](OrderChange& change) {
        const OrderState& state = change.state();
        const std::optional<ShopRow> shop = txn.shop(state.key.shop);
        if (!carries_code(state, code) || !shop) {
            return;
        }
        Status fits = how.check_target(shop->shop_id.view(), txn);
        if (fits && how.has(state)) {
            ++unchanged;
            return;
        }
        fits = fits ? how.check_order(state) : fits;
        if (!fits) {
            why = kept++ == 0 ? fits.error().message : why;
            return;
        }
        how.attribute_order(change, programs, txn);
        ++changed;
    });
    if (changed + unchanged == 0 && kept != 0) {
        return refused(why);
    }
    const std::string left =
        (unchanged == 0
             ? ""
             : "; " + counted(unchanged, "order has", "orders have") + " this creator already") +
        (kept == 0 ? "" : "; " + counted(kept, "order stays", "orders stay") + " as it is: " + why);
    if (changed == 0) {
        return nothing("no change: no order with code " + command.orders->code +
                       " gets another creator" + left);
    }
    return done(counted(changed, "order", "orders") + " with code " + command.orders->code +
                (changed == 1 ? " is" : " are") + " attributed to " + command.creator.str() +
                " in " + command.program.str() + " now, as " + how.context.source.command_id +
                left);
}

}  // namespace

Result<Reply> attribute_order(const Attribute& command, const CommandContext& context,
                              ProgramCache& programs, LedgerTxn& txn) {
    const std::optional<ProgramRow> program = txn.program(command.program);
    const CreatorId creator = first_id(txn, context.account, command.creator);
    const Attributing how{command, context, program, creator};
    if (command.orders) {
        return attribute_by_code(how, programs, txn);
    }
    OrderChange change(txn, programs, context.source);
    if (Status loaded = change.load(context, command.order); !loaded) {
        return loaded.error();
    }
    if (Status fits = how.check_target(context.shop_id.view(), txn); !fits) {
        return fits.error();
    }
    const std::string& order = command.order.str();
    if (how.has(change.state())) {
        return nothing("order " + order + " is attributed to " + command.creator.str() + " in " +
                       command.program.str() + " already");
    }
    if (Status fits = how.check_order(change.state()); !fits) {
        return fits.error();
    }
    how.attribute_order(change, programs, txn);
    return done("order " + order + " is attributed to " + command.creator.str() + " in " +
                command.program.str() + " now, as " + context.source.command_id);
}

Result<Reply> detach_orders(const Detach& command, const CommandContext& context,
                            ProgramCache& programs, LedgerTxn& txn) {
    if (Status reason = check_reason(context); !reason) {
        return reason.error();
    }
    if (command.order) {
        return detach_one(command, context, programs, txn);
    }
    if (command.orders) {
        return detach_by_code(command, context, programs, txn);
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
