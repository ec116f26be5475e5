#include "core/reports/holds.hpp"

#include "core/ledger/account_rows.hpp"
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
        return true;
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

void list_held_orders(LedgerReader& ledger, const AccountId& account_id,
                      const std::optional<CreatorId>& creator, RowOutput& out) {
    ReportFilter filter;
    filter.account = account_id;
    for (const ShopRow& shop : shops_of(ledger, filter)) {
        std::vector<OrderKey> held;
        ledger.scan_orders(shop.account, shop.shop, [&](const OrderState& order) {
            const bool covered =
                !creator || (order.live && order.position()->attribution.creator == *creator);
            if (covered && order.has(kOrderHeld)) {
                held.push_back(order.key);
            }
            return true;
        });
        OrderState order;
        for (const OrderKey& key : held) {
            if (ledger.load_order(key, order)) {
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
    list_held_orders(ledger, account_id, creator, out);
}

}  // namespace sluice::reports
