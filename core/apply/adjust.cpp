#include "core/apply/adjust.hpp"

#include <optional>

#include "core/apply/post.hpp"
#include "core/rules/posting.hpp"
#include "core/rules/soundness.hpp"

namespace sluice {
namespace {

Status check_adjustment(const Adjust& command, const OrderState& state) {
    if (command.amount.is_zero()) {
        return Error{ErrorCode::kInvalid, "--amount must not be 0"};
    }
    if (command.reason.empty()) {
        return Error{ErrorCode::kInvalid, "--reason must not be empty"};
    }
    if (!state.attribution) {
        return Error{ErrorCode::kConflict, "order " + command.order.str() +
                                               " has no creator, so nobody is owed anything"};
    }
    return {};
}

/// The amount with exactly the currency's digits; nothing if it has more that matter.
std::optional<Decimal> in_minor_units(const Decimal& amount, Currency currency) {
    Int128 unscaled = amount.unscaled();
    std::uint8_t scale = amount.scale();
    for (; scale > currency.minor_units(); --scale) {
        if (unscaled % 10 != 0) {
            return std::nullopt;
        }
        unscaled /= 10;
    }
    return Decimal(unscaled, scale).rescaled(currency.minor_units());
}

}  // namespace

Result<std::string> adjust_order(const Adjust& command, const CommandContext& context,
                                 LedgerTxn& txn) {
    OrderState state;
    if (!load_sound_order(txn, {context.account, context.shop, command.order}, state)) {
        return Error{ErrorCode::kNotFound, "the shop has no order " + command.order.str()};
    }
    if (Status fits = check_adjustment(command, state); !fits) {
        return fits.error();
    }
    const std::optional<Decimal> amount = in_minor_units(command.amount, state.currency);
    if (!amount) {
        return Error{ErrorCode::kInvalid,
                     "--amount has more digits than " + std::string(state.currency.code())};
    }
    const IndexedBefore before = indexed(state);
    add_due(state, state.currency, *amount);
    for (OrderDue& due : state.dues) {
        if (due.currency == state.currency) {
            due.manual = due.manual + *amount;
        }
    }
    state.other_groups.push_back(
        post_entries(txn, state, {context.seq, context.received_at, command.reason, context.actor},
                     {{LineItemId(), state.currency, *amount, JournalReason::kManual}}));
    reindex(txn, state, before);
    txn.put_order(state);
    return "order " + command.order.str() + " adjusted by " + amount->to_string() + " " +
           std::string(state.currency.code());
}

}  // namespace sluice
