// Amounts of a plan that the index of open amounts lacks, because of postings dated from its
// `until` on (K8).
#include <algorithm>
#include <tuple>
#include <utility>
#include <vector>

#include "core/journal/journal.hpp"
#include "core/payouts/items.hpp"
#include "core/payouts/plan.hpp"
#include "core/rules/attribution.hpp"
#include "core/rules/soundness.hpp"
#include "core/values/lookup.hpp"

namespace sluice {

/// Reads the journal by creator. An order that comes in several slices of one creator is found
/// several times and kept once.
void PayoutPlan::find_posted_later() {
    std::set<LaterOrder> orders;
    std::set<std::string> commands;
    ledger_.scan_account_journal(
        request_.account, request_.close.until, kEndOfTime, [&](const JournalGroup& group) {
            if (!wants(group.creator) || program_of(group.program) == nullptr ||
                group.entries.empty() ||
                change_in(group.entries.front(), LedgerAccount::kExpense).is_zero()) {
                return;
            }
            const JournalReason reason = group.entries.front().reason;
            if (is_credit(reason) || reason == JournalReason::kReversal) {
                commands.insert(group.command_id);
            }
            if (!is_credit(reason) && group.shop.value != 0) {
                orders.emplace(group.shop, group.order_id, group.program, group.creator);
            }
            if (orders.size() == kPayoutSlice) {
                add_later_orders(orders);
                orders.clear();
            }
        });
    add_later_orders(orders);
    for (const std::string& command : commands) {
        add_later_credit(command);
    }
}

/// Reads the journals only of orders that have cleared and are not in the index: these are few.
void PayoutPlan::add_later_orders(const std::set<LaterOrder>& orders) {
    const auto key_of = [this](const LaterOrder& order) {
        return OrderKey{request_.account, std::get<ShopNumber>(order), std::get<OrderId>(order)};
    };
    std::vector<OrderKey> keys = mapped(orders, key_of);
    ledger_.expect_orders(keys);
    std::vector<LaterOrder> found;
    keys.clear();
    for (const LaterOrder& order : orders) {
        if (!load_sound_order(ledger_, key_of(order), state_)) {
            continue;
        }
        const auto index =
            find_position(state_, std::get<ProgramId>(order), std::get<CreatorId>(order));
        if (index && was_posted_later(state_.positions[*index])) {
            found.push_back(order);
            keys.push_back(state_.key);
        }
    }
    ledger_.expect_journals(keys);
    for (const LaterOrder& order : found) {
        add_later_order(order);
    }
}

bool PayoutPlan::was_posted_later(const Position& position) {
    const Program& program = *program_of(position.attribution.program);
    const std::vector<Currency> currencies = currencies_of(position);
    return position.last_posted >= request_.close.until &&
           (has_active_payout(position) ||
            state_.ordered_at <= program.cleared_until(request_.close.until)) &&
           std::ranges::any_of(currencies, [&position](Currency currency) {
               return accrued_in(position, currency) == allocated_in(position, currency);
           });
}

void PayoutPlan::add_later_order(const LaterOrder& order) {
    const auto& [shop, order_id, program, creator] = order;
    if (!load_sound_order(ledger_, {request_.account, shop, order_id}, state_)) {
        return;
    }
    const Position& position = state_.positions[*find_position(state_, program, creator)];
    const std::vector<JournalGroup> journal = ledger_.order_journal(state_);
    for (const Currency currency : currencies_of(position)) {
        if (accrued_in(position, currency) != allocated_in(position, currency)) {
            continue;  // the index has it
        }
        const LineAmounts then = accrued_as_of(journal, position, currency, request_.close.until);
        const Decimal take = sum_of(payable_by_line(position, currency, &then), currency);
        if (!take.is_zero()) {
            OpenAmount row = open_row(state_, position, currency, take);
            std::string key = cleared_key(row, shop_id_of(shop).view());
            later_.emplace(std::move(key), std::move(row));
        }
    }
}

void PayoutPlan::add_later_credit(const std::string& command) {
    MoneyCommand row{.command_id = command};
    if (!ledger_.load(row)) {
        return;
    }
    if (row.topic == Topic::kReverse) {
        const std::string of = row.reverses;
        row = MoneyCommand{};
        row.command_id = of;
        if (!ledger_.load(row)) {
            return;
        }
    }
    const Program* program = program_of(row.program);
    if (!row.is_credit() || row.accrued != row.allocated || program == nullptr ||
        !(row.active_items != 0 || row.sale_at <= program->cleared_until(request_.close.until))) {
        return;
    }
    OpenAmount open = open_row(row, {});
    open.amount = sum_of(payable_of_credit(open), row.currency);
    if (!open.amount.is_zero()) {
        later_.emplace(cleared_key(open, {}), open);
    }
}

}  // namespace sluice
