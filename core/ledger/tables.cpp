// The described tables: their names, keys and other columns.
#include "core/ledger/account_rows.hpp"
#include "core/ledger/batch.hpp"
#include "core/ledger/description.hpp"
#include "core/ledger/head.hpp"
#include "core/ledger/link_rows.hpp"
#include "core/ledger/list_rows.hpp"
#include "core/ledger/overview_rows.hpp"
#include "core/ledger/table.hpp"

namespace sluice {
namespace {

void describe(Description& table, ShopRow& row) {
    table.named("shops");
    table.key({{"shop", row.shop}});
    table.rest(
        {{"account", row.account}, {"account_id", row.account_id}, {"shop_id", row.shop_id}});
}

void describe(Description& table, RefundOwner& row) {
    table.named("refunds", kWriteOnce);
    table.key({{"account", row.account}, {"shop", row.shop}, {"refund_id", row.refund_id}});
    table.rest({{"order_id", row.order_id}, {"line_id", row.line}});
}

void describe(Description& table, Anomaly& row) {
    table.named("anomalies");
    table.key({{"account", row.order.account},
               {"shop", row.order.shop},
               {"order_id", row.order.order_id},
               {"kind", row.kind}});
    table.rest({{"node_id", row.node},
                {"first_seq", row.first_seq},
                {"recorded", row.recorded_at},
                {"count", row.count},
                {"message", row.message},
                {"showing", row.showing},
                {"acknowledged_by", row.acknowledged_by},
                {"acknowledged", row.acknowledged_at},
                {"value", row.value},
                {"acknowledged_value", row.acknowledged_value}});
}

void describe(Description& table, WaitingOrder& row) {
    table.named("waiting");
    table.key({{"account", row.key.account}, {"kind", row.key.kind}, {"digest", row.key.digest}});
    table.key_of_order(row);
}

void describe(Description& table, CodeRow& row) {
    table.named("codes");
    table.key({{"account", row.account},
               {"digest", row.digest},
               {"program", row.program},
               {"valid_from", row.valid_from}});
    table.rest({{"code", row.code}, {"creator", row.creator}, {"valid_until", row.valid_until}});
}

void describe(Description& table, Membership& row) {
    table.named("memberships");
    table.key({{"account", row.account}, {"program", row.program}, {"creator", row.creator}});
    table.rest({{"removed", row.removed},
                {"changed_by", row.changed_by},
                {"member_group", row.group},
                {"effective_from", row.effective_from}});
}

void describe(Description& table, Click& row) {
    table.named("clicks");
    table.key({{"account", row.account},
               {"anon", row.anon},
               {"program", row.program},
               {"occurred", row.occurred_at},
               {"creator", row.creator}});
    table.rest({{"import", row.imported},
                {"import_row", row.imported_row},
                {"effective_from", row.effective_from},
                {"source", row.source},
                {"link", row.link},
                {"received", row.received_at}});
}

void describe(Description& table, DeadLetter& row) {
    table.named("dead", kPerNode);
    table.key({{"seq", row.seq}});
    table.rest({{"topic", row.topic},
                {"account", row.account},
                {"shop", row.shop},
                {"account_id", row.account_id},
                {"shop_id", row.shop_id},
                {"received", row.received_at},
                {"reason", row.reason},
                {"attempts", row.attempts},
                bytes("record", row.record),
                bytes("bulk_body", row.bulk_body),
                {"body_sha256", row.body_sha256},
                {"order_id", row.order_id}});
}

void describe(Description& table, Work& row) {
    table.named("work", kPerNode);
    table.key({{"number", row.number}});
    table.rest({{"work_kind", row.kind},
                {"account", row.key.account},
                {"kind", row.key.kind},
                {"digest", row.key.digest},
                {"subject", row.subject},
                {"program", row.program},
                {"creator", row.creator},
                {"month", row.month},
                {"after_ordered", row.after_ordered},
                {"after_shop", row.after_shop},
                {"after_order", row.after_order},
                {"cause", row.cause},
                {"cause_topic", row.cause_topic},
                {"command_id", row.command_id},
                {"actor", row.actor},
                {"reason", row.reason},
                {"received", row.received_at}});
}

void describe(Description& table, WorkOrder& row) {
    table.named("work_orders", kPerNode);
    table.key({{"work", row.work},
               {"ordered", row.ordered_at},
               {"account", row.account},
               {"shop", row.shop},
               {"order_id", row.order_id}});
}

void describe(Description& table, OpenAmount& row) {
    table.named("open");
    table.key({{"account", row.account},
               {"program", row.program},
               {"cleared", row.cleared},
               {"sold", row.sold_at},
               {"shop", row.shop},
               {"order_id", row.order_id},
               {"creator", row.creator},
               {"currency", row.currency}});
    table.rest({{"amount", row.amount}, {"last_posted", row.last_posted}, {"blocks", row.blocks}});
}

void describe(Description& table, PayoutRun& row) {
    table.named("payout_runs", kWriteOnce);
    table.key({{"payout_run", row.payout_run}});
    table.rest({{"node_id", row.node},
                {"account", row.account},
                {"until", row.until},
                {"closed", row.closed_at},
                {"closed_by", row.closed_by},
                {"payouts", row.payouts_count},
                {"digest", row.digest}});
}

void describe(Description& table, RunUntil& row) {
    table.named("runs_until", kWriteOnce);
    table.key({{"account", row.account}, {"until", row.until}, {"payout_run", row.payout_run}});
    table.rest({{"programs", row.programs}});
}

void describe(Description& table, Payout& row) {
    table.named("payouts");
    table.key({{"payout_id", row.payout_id}});
    table.rest({{"account", row.account},
                {"creator", row.creator},
                {"currency", row.currency},
                {"amount", row.amount},
                {"payout_state", row.state},
                {"until", row.until},
                {"closed", row.closed_at},
                {"closed_by", row.closed_by},
                {"payee", row.payee},
                {"repointed_by", row.repointed_by},
                {"repoints", row.repoints},
                {"approved_by", row.approved_by},
                {"approved", row.approved_at},
                {"payees_sha256", row.payees_sha256},
                {"sent_by", row.sent_by},
                {"sent", row.sent_at},
                {"message", row.message},
                {"ended_by", row.ended_by},
                {"ended", row.ended_at},
                {"end_reason", row.end_reason},
                {"bank_ref", row.bank_ref},
                {"paid", row.paid_at},
                {"orders", row.orders_count},
                {"items", row.items_count},
                {"items_digest", row.items_digest}});
}

void describe(Description& table, PayoutPart& row) {
    table.named("payout_parts", kWriteOnce | kInBulk);
    table.key({{"payout_id", row.payout_id}, {"program", row.program}});
    table.rest({{"amount", row.amount}});
}

void describe(Description& table, PayoutItem& row) {
    table.named("payout_items", kWriteOnce | kInBulk);
    table.key({{"payout_id", row.payout_id},
               {"program", row.program},
               {"shop_id", row.shop_id},
               {"order_id", row.order_id},
               {"line_id", row.line},
               {"item_kind", row.kind}});
    table.rest({{"amount", row.amount}, {"shop", row.shop}, {"sold", row.sold_at}});
}

void describe(Description& table, Skipped& row) {
    table.named("skipped", kWriteOnce);
    table.key({{"payout_run", row.payout_run},
               {"creator", row.creator},
               {"currency", row.currency},
               {"skip_reason", row.skip_reason}});
    table.rest({{"amount", row.amount}});
}

void describe(Description& table, CommandRow& row) {
    table.named("commands", kPerNode);
    table.key({{"seq", row.seq}});
    table.rest({{"topic", row.topic},
                {"command_id", row.command_id},
                {"actor", row.actor},
                {"received", row.received_at},
                {"outcome", row.outcome},
                {"result", row.result},
                {"first_command", row.first_command}});
}

void describe(Description& table, CommandKey& row) {
    table.named("keys", kWriteOnce);
    table.key({{"account", row.account}, {"key_text", row.key}});
    table.rest({{"content", row.content},
                {"command_id", row.command_id},
                {"outcome", row.outcome},
                {"result", row.result}});
}

void describe(Description& table, MoneyCommand& row) {
    table.named("money_commands");
    table.key({{"command_id", row.command_id}});
    table.rest({{"account", row.account},
                {"topic", row.topic},
                {"shop", row.shop},
                {"shop_id", row.shop_id},
                {"order_id", row.order_id},
                {"program", row.program},
                {"creator", row.creator},
                {"currency", row.currency},
                {"amount", row.amount},
                {"reversed_by", row.reversed_by},
                {"reverses", row.reverses},
                {"sale", row.sale_at},
                {"accrued", row.accrued},
                {"allocated", row.allocated},
                {"last_posted", row.last_posted},
                {"first_entry", row.first_entry},
                {"active_items", row.active_items}});
}

void describe(Description& table, CreditOfOrder& row) {
    table.named("credits_of_orders");
    table.key({{"account", row.account},
               {"shop_id", row.shop_id},
               {"order_id", row.order_id},
               {"command_id", row.command_id}});
}

void describe(Description& table, OpeningBalance& row) {
    table.named("openings", kWriteOnce);
    table.key({{"account", row.account},
               {"program", row.program},
               {"creator", row.creator},
               {"currency", row.currency}});
    table.rest({{"opened", row.at}, {"command_id", row.command_id}});
}

void describe(Description& table, PendingApproval& row) {
    table.named("pending_approvals");
    table.key({{"account", row.account}, {"command_id", row.command_id}});
    table.rest({{"topic", row.topic},
                {"shop", row.shop},
                {"shop_id", row.shop_id},
                {"body", row.body},
                {"actor", row.actor},
                {"reason", row.reason},
                {"received", row.received_at},
                {"currency", row.currency},
                {"amount", row.amount},
                {"program", row.program},
                {"creator", row.creator},
                {"approval_state", row.state},
                {"ended_by", row.ended_by},
                {"ended", row.ended_at},
                {"node_id", row.node},
                {"entry", row.entry}});
}

void describe(Description& table, AttributedOrder& row) {
    table.named("attributed_orders");
    table.key({{"command_id", row.command_id},
               {"account", row.account},
               {"shop", row.shop},
               {"order_id", row.order_id}});
}

void describe(Description& table, AccountRow& row) {
    table.named("accounts");
    table.key({{"account", row.account}});
    table.rest({{"account_id", row.account_id},
                {"closed_until", row.closed_until},
                {"policy", row.policy},
                {"policy_by", row.policy_by},
                {"policy_version", row.policy_version},
                {"open_credits", row.open_credits}});
}

void describe(Description& table, CreatorHold& row) {
    table.named("creator_holds");
    table.key({{"account", row.account}, {"creator", row.creator}, {"program", row.program}});
    table.rest({{"actor", row.actor}, {"reason", row.reason}, {"held", row.held_at}});
}

void describe(Description& table, CreatorRow& row) {
    table.named("creators");
    table.key({{"account", row.account}, {"creator", row.creator}});
    table.rest({{"name", row.name},
                {"payee", row.payee},
                {"shown_as", row.shown_as},
                {"payee_since", row.payee_since},
                {"payee_changed", row.payee_changed}});
}

void describe(Description& table, PayeeChange& row) {
    table.named("payee_changes");
    table.key({{"account", row.account},
               {"creator", row.creator},
               {"changed", row.changed_at},
               {"command_id", row.command_id}});
    table.rest({{"old_payee", row.old_payee},
                {"new_payee", row.new_payee},
                {"actor", row.actor},
                {"reason", row.reason}});
}

void describe(Description& table, LimitUse& row) {
    table.named("limit_uses");
    table.key({{"account", row.account},
               {"limit_kind", row.kind},
               {"used", row.at},
               {"id", row.id},
               {"creator", row.creator},
               {"currency", row.currency}});
    table.rest({{"payee", row.payee}, {"amount", row.amount}});
}

void describe(Description& table, CreatorAlias& row) {
    table.named("creator_aliases", kWriteOnce);
    table.key({{"account", row.account}, {"alias", row.alias}});
    table.rest({{"creator", row.creator}});
}

void describe(Description& table, Period& row) {
    table.named("periods", kWriteOnce);
    table.key({{"account", row.account}, {"until", row.until}});
    table.rest(
        {{"closed", row.closed_at}, {"closed_by", row.closed_by}, {"command_id", row.command_id}});
}

void describe(Description& table, PeriodSum& row) {
    table.named("period_sums", kWriteOnce);
    table.key({{"account", row.account},
               {"until", row.until},
               {"creator", row.creator},
               {"program", row.program},
               {"currency", row.currency}});
    table.rest({{"opening_owed", row.opening_owed},
                {"opening_in_payout", row.opening_in_payout},
                {"opening_paid", row.opening_paid},
                {"reasons", row.reasons},
                {"closing_owed", row.closing_owed},
                {"closing_in_payout", row.closing_in_payout},
                {"closing_paid", row.closing_paid},
                {"entries", row.entries},
                {"digest", row.digest}});
}

void describe(Description& table, TierVolume& row) {
    table.named("tier_volumes");
    table.key({{"account", row.account},
               {"program", row.program},
               {"creator", row.creator},
               {"month", row.month},
               {"currency", row.currency}});
    table.rest({{"amount", row.amount}});
}

void describe(Description& table, CustomerOrder& row) {
    table.named("customer_orders");
    table.key({{"account", row.account},
               {"shop", row.shop},
               {"customer", row.customer},
               {"ordered", row.ordered_at},
               {"order_id", row.order_id}});
}

void describe(Description& table, ProgramHead& row) {
    table.named("programs");
    table.key({{"program", row.program}});
    table.rest({{"account", row.account}, {"version", row.version}, {"opening", row.opening_at}});
}

void describe(Description& table, ProgramVersion& row) {
    table.named("program_versions", kWriteOnce);
    table.key({{"program", row.program}, {"version", row.version}});
    table.rest({{"account", row.account},
                {"account_id", row.account_id},
                {"applied_by", row.applied_by},
                {"applied", row.applied_at},
                {"first_effective_from", row.first_effective_from},
                {"json", row.json}});
}

void describe(Description& table, ProgramShop& row) {
    table.named("program_shops");
    table.key({{"program", row.program}, {"shop_name", row.shop}});
    table.rest({{"effective_from", row.effective_from}});
}

void describe(Description& table, ForgetTask& row) {
    table.named("forgets");
    table.key({{"command_id", row.command_id}});
    table.rest({{"account", row.account},
                {"shop", row.shop},
                {"secret", row.secret},
                {"digests", row.digests}});
}

void describe(Description& table, ForgetDone& row) {
    table.named("forgets_done", kWriteOnce);
    table.key({{"command_id", row.command_id}, {"node_id", row.node}});
}

void describe(Description& table, AppliedBatch& row) {
    table.named("batches");
    table.key({{"number", row.number}});
    table.rest({{"node_id", row.node},
                {"first_seq", row.first_seq},
                {"last_seq", row.last_seq},
                {"slices", row.slices}});
}

void describe(Description& table, UsedSeal& row) {
    table.named("seals", kPerNode | kWriteOnce);
    table.key({{"mac", row.mac}});
    table.rest({{"seq", row.seq}});
}

void describe(Description& table, SignedApproval& row) {
    table.named("signed_approvals", kWriteOnce);
    table.key({{"account", row.account}, {"command_id", row.command_id}});
    table.rest({{"subject", row.subject},
                {"approver", row.approver},
                {"ssh_key", row.ssh_key},
                {"statement", row.statement},
                {"signature", row.signature}});
}

template <class Row>
DescribedTable described() {
    DescribedTable table;
    table.number = kTableNumber<Row>;
    table.make = []() -> void* { return new Row{}; };
    table.copy = [](const void* row) -> void* { return new Row(*static_cast<const Row*>(row)); };
    table.assign = [](void* to, const void* from) {
        *static_cast<Row*>(to) = *static_cast<const Row*>(from);
    };
    table.destroy = [](void* row) { delete static_cast<Row*>(row); };
    Row row{};
    Description description(table, &row);
    describe(description, row);
    return table;
}
template <class... Rows>
std::array<DescribedTable, sizeof...(Rows)> all_described(RowTypes<Rows...> /*rows*/) {
    return {described<Rows>()...};
}

}  // namespace

const std::array<DescribedTable, kDescribedTables>& described_tables() {
    static const auto tables = all_described(DescribedRows());
    return tables;
}

}  // namespace sluice
