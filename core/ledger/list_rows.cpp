// The described tables of lists, overviews, deletions and links: their names, keys and other
// columns.
#include "core/ledger/list_rows.hpp"

#include <array>

#include "core/ledger/description.hpp"
#include "core/ledger/link_rows.hpp"
#include "core/ledger/overview_rows.hpp"

namespace sluice {

void describe(Description& table, OrderByTime& row) {
    table.named("orders_by_time", kIndexInSql);
    table.key({{"account", row.account}});
    table.key_of_order(row);
}

void describe(Description& table, OrderByCreator& row) {
    table.named("orders_by_creator", kIndexInSql);
    table.key({{"account", row.account}, {"creator", row.creator}});
    table.key_of_order(row);
}

void describe(Description& table, TierOrder& row) {
    table.named("tier_orders");
    table.key({{"account", row.account},
               {"program", row.program},
               {"creator", row.creator},
               {"month", row.month}});
    table.key_of_order(row);
}

void describe(Description& table, OrderByCode& row) {
    table.named("orders_by_code");
    table.key({{"account", row.account}, {"code", row.code}});
    table.key_of_order(row);
}

void describe(Description& table, OrderByNumber& row) {
    table.named("orders_by_number");
    table.key({{"account", row.account},
               {"shop", row.shop},
               {"number", row.number},
               {"order_id", row.order_id}});
}

void describe(Description& table, ChainGroup& row) {
    table.named("chain_groups", kWriteOnce);
    table.key({{"account", row.account}, {"node", row.node}, {"last_change", row.last_change}});
    table.rest({{"first_entry", row.first_entry}});
}

void describe(Description& table, PayoutByAccount& row) {
    table.named("payouts_by_account", kIndexInSql);
    table.key(
        {{"account", row.account}, {"payout_state", row.state}, {"payout_id", row.payout_id}});
}

void describe(Description& table, PayoutByCreator& row) {
    table.named("payouts_by_creator", kIndexInSql);
    table.key({{"account", row.account}, {"creator", row.creator}, {"payout_id", row.payout_id}});
}

void describe(Description& table, RunByAccount& row) {
    table.named("runs_by_account", kIndexInSql);
    table.key({{"account", row.account}, {"payout_run", row.payout_run}});
}

void describe(Description& table, WaitingByState& row) {
    table.named("waiting_by_state", kIndexInSql);
    table.key(
        {{"account", row.account}, {"approval_state", row.state}, {"command_id", row.command_id}});
}

void describe(Description& table, ClickByReceipt& row) {
    table.named("clicks_by_receipt", kIndexInSql);
    table.key({{"account", row.account},
               {"received", row.received_at},
               {"anon", row.anon},
               {"program", row.program},
               {"occurred", row.occurred_at},
               {"creator", row.creator}});
}

void describe(Description& table, Attention& row) {
    table.named("attention");
    table.key({{"account", row.account},
               {"kind", row.kind},
               {"since", row.since},
               {"shop", row.shop},
               {"order_id", row.order_id}});
}

void describe(Description& table, AttentionCount& row) {
    table.named("attention_counts");
    table.key({{"account", row.account}, {"kind", row.kind}, {"node", row.node}});
    table.rest({{"begun", row.begun}, {"ended", row.ended}});
}

void describe(Description& table, DailySum& row) {
    table.named("daily");
    table.key({{"account", row.account},
               {"day", row.day},
               {"program", row.program},
               {"currency", row.currency},
               {"node", row.node}});
    table.rest({{"earned", row.earned},
                {"adjusted", row.adjusted},
                {"paid_out", row.paid_out},
                {"settled", row.settled},
                {"expense_debit", row.expense.debit},
                {"expense_credit", row.expense.credit},
                {"owed_debit", row.owed.debit},
                {"owed_credit", row.owed.credit},
                {"payout_debit", row.in_payout.debit},
                {"payout_credit", row.in_payout.credit},
                {"paid_debit", row.paid.debit},
                {"paid_credit", row.paid.credit},
                {"postings", row.postings},
                {"late_postings", row.late_postings}});
}

void describe(Description& table, OrderDay& row) {
    table.named("order_days");
    table.key({{"account", row.account}, {"day", row.day}, {"node", row.node}});
    table.rest({{"orders", row.orders}, {"attributed", row.attributed}});
}

void describe(Description& table, MonthlySum& row) {
    table.named("monthly");
    table.key({{"account", row.account},
               {"month", row.month},
               {"creator", row.creator},
               {"program", row.program},
               {"currency", row.currency},
               {"node", row.node}});
    table.rest({{"earned", row.earned},
                {"adjusted", row.adjusted},
                {"paid_out", row.paid_out},
                {"settled", row.settled}});
}

void describe(Description& table, ClickDay& row) {
    table.named("click_days");
    table.key({{"account", row.account},
               {"day", row.day},
               {"program", row.program},
               {"creator", row.creator},
               {"link", row.link},
               {"node", row.node}});
    table.rest({{"clicks", row.clicks}, {"devices", row.devices}, {"orders", row.orders}});
}

void describe(Description& table, ClickMonth& row) {
    table.named("click_months");
    table.key({{"account", row.account},
               {"month", row.month},
               {"program", row.program},
               {"creator", row.creator},
               {"link", row.link},
               {"node", row.node}});
    table.rest({{"clicks", row.clicks}, {"devices", row.devices}, {"orders", row.orders}});
}

void describe(Description& table, LinkDay& row) {
    table.named("link_days");
    table.key({{"account", row.account},
               {"day", row.day},
               {"program", row.program},
               {"creator", row.creator},
               {"link", row.link},
               {"currency", row.currency},
               {"node", row.node}});
    table.rest({{"earned", row.earned}, {"adjusted", row.adjusted}});
}

void describe(Description& table, CodeDay& row) {
    table.named("code_days");
    table.key({{"account", row.account},
               {"day", row.day},
               {"program", row.program},
               {"creator", row.creator},
               {"code", row.code},
               {"currency", row.currency},
               {"node", row.node}});
    table.rest({{"orders", row.orders}, {"earned", row.earned}, {"adjusted", row.adjusted}});
}

void describe(Description& table, LinkRow& row) {
    table.named("links");
    table.key({{"link", row.link}});
    table.rest({{"account", row.account},
                {"program", row.program},
                {"creator", row.creator},
                {"destination", row.destination},
                {"deep", row.deep},
                {"link_state", row.state},
                {"created", row.created_at}});
}

void describe(Description& table, LinkByCreator& row) {
    table.named("links_by_creator", kIndexInSql);
    table.key({{"account", row.account}, {"creator", row.creator}, {"link", row.link}});
}

void describe(Description& table, LinksHead& row) {
    table.named("links_head");
    table.key({{"number", row.number}});
    table.rest({{"revision", row.revision}, {"links", row.links}});
}

void describe(Description& table, OpenHours& row) {
    table.named("open_hours", kAddsHours);
    table.key({{"account", row.account},
               {"program", row.program},
               {"kind", row.kind},
               {"span", row.span},
               {"creator", row.creator},
               {"currency", row.currency},
               {"node", row.node}});
    table.rest({bytes("hours", row.hours)});
}

void describe(Description& table, ShopMinutes& row) {
    static constexpr std::array kHours{"hour00", "hour01", "hour02", "hour03", "hour04", "hour05",
                                       "hour06", "hour07", "hour08", "hour09", "hour10", "hour11",
                                       "hour12", "hour13", "hour14", "hour15", "hour16", "hour17",
                                       "hour18", "hour19", "hour20", "hour21", "hour22", "hour23"};
    table.named("shop_minutes", kKeepsLatest | kJoinsBits);
    table.key(
        {{"account", row.account}, {"shop", row.shop}, {"slot", row.slot}, {"node", row.node}});
    table.rest({{"day", row.day}});
    for (std::size_t i = 0; i < kHours.size(); ++i) {
        table.rest({{kHours[i], row.hours[i]}});
    }
}

void describe(Description& table, ShopDay& row) {
    table.named("shop_days", kKeepsLatest);
    table.key(
        {{"account", row.account}, {"shop", row.shop}, {"slot", row.slot}, {"node", row.node}});
    table.rest({{"day", row.day}, {"orders", row.orders}, {"with_device", row.with_device}});
}

void describe(Description& table, DeletedOrder& row) {
    table.named("deleted_orders");
    table.key({{"account", row.order.account},
               {"shop", row.order.shop},
               {"order_id", row.order.order_id}});
    table.rest({{"seq", row.seq},
                {"node", row.node},
                {"version", row.version},
                {"received", row.received_at},
                {"cancelled", row.cancelled_at},
                {"digest", row.digest}});
}

void describe(Description& table, DeadOrder& row) {
    table.named("dead_orders", kPerNode);
    table.key({{"account", row.order.account},
               {"shop", row.order.shop},
               {"order_id", row.order.order_id},
               {"seq", row.seq}});
    table.rest({{"version", row.version}});
}

}  // namespace sluice
