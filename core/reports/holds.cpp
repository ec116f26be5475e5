#include <map>
#include <set>

#include "core/ledger/account_rows.hpp"
#include "core/ledger/overview_rows.hpp"
#include "core/reports/creators.hpp"
#include "core/reports/report.hpp"
#include "core/rules/account.hpp"

namespace sluice::reports {
namespace {

void list_held_creators(LedgerReader& ledger, AccountNumber account, const AccountId& account_id,
                        const std::optional<CreatorId>& creator, RowOutput& out) {
    std::vector<CreatorHold> holds;
    CreatorHold first;
    first.account = account;
    ledger.scan(first, {1, 1}, [&](const CreatorHold& hold) {
        if (!creator || hold.creator == *creator) {
            holds.push_back(hold);
        }
    });
    for (const CreatorHold& hold : holds) {
        out.add({account_id.str(), Json(), Json(), shown_id(ledger, account, hold.creator).str(),
                 text_or_null(hold.program.view()), hold.actor, hold.held_at.to_string(),
                 hold.reason});
    }
}

/// The memo entry of the hold has who, when and why.
Row held_order_row(LedgerReader& ledger, const ShopRow& shop, const OrderState& order) {
    Json held_by, held_at, reason;
    for (const JournalGroup& group : ledger.order_journal(order)) {
        for (const JournalEntry& entry : group.entries) {
            if (entry.reason == JournalReason::kMemoHeld) {
                held_by = group.actor;
                held_at = group.recorded_at.to_string();
                reason = group.note;
            }
        }
    }
    return {shop.account_id.str(), shop.shop_id.str(), order.key.order_id.str(), Json(), Json(),
            std::move(held_by),    std::move(held_at), std::move(reason)};
}

/// Reads only the orders that are held, from the list of what needs attention.
void list_held_orders(LedgerReader& ledger, AccountNumber account, const AccountId& account_id,
                      const std::optional<CreatorId>& creator, RowOutput& out) {
    std::map<ShopNumber, std::set<OrderId>> held;
    Attention first;
    first.account = account;
    ledger.scan(first, {2, 2},
                [&held](const Attention& row) { held[row.shop].insert(row.order_id); });
    ReportFilter filter;
    filter.account = account_id;
    OrderState order;
    for (const ShopRow& shop : shops_of(ledger, filter)) {
        for (const OrderId& id : held[shop.shop]) {
            const bool is_there = ledger.load_order({account, shop.shop, id}, order);
            const bool covered =
                !creator || (order.live && order.position()->attribution.creator == *creator);
            if (is_there && covered) {
                out.add(held_order_row(ledger, shop, order));
            }
        }
    }
}

}  // namespace

std::vector<Column> hold_columns() {
    return {{"account_id", Align::kLeft, false},
            {"shop_id"},
            {"order_id"},
            {"creator_id"},
            {"program_id"},
            {"held_by"},
            {"held_at"},
            {"reason"}};
}

void write_holds(LedgerReader& ledger, AccountNumber account, const AccountId& account_id,
                 const std::optional<CreatorId>& creator, RowOutput& out) {
    list_held_creators(ledger, account, account_id, creator, out);
    list_held_orders(ledger, account, account_id, creator, out);
}

}  // namespace sluice::reports
