#include "core/exports/lists.hpp"

#include <algorithm>

#include "core/commands/ids.hpp"
#include "core/journal/journal.hpp"
#include "core/lists/links.hpp"
#include "core/lists/overview.hpp"
#include "core/positions/open_amounts.hpp"
#include "core/protocol/product_fields.hpp"

namespace sluice::exports {
namespace {

using lists::Column;
using lists::or_null;
using lists::Value;
using enum lists::ColumnType;
using enum lists::Scope;

/// Returns the active payouts whose COMMISSION items are the order's commission (P2).
std::vector<std::string> commission_payouts(const OrderState& order, Currency currency) {
    std::vector<std::string> ids;
    const Position* const position = order.position();
    if (position == nullptr) {
        return ids;
    }
    bool has_commission = false;
    for (const PositionPayout& payout : position->payouts) {
        if (payout.active && payout.currency == currency) {
            has_commission = has_commission || payout.has_commission;
            ids.push_back(payout.payout_id);
        }
    }
    return has_commission ? ids : std::vector<std::string>();
}

std::string_view rate_kind_name(RateKind kind) {
    return kind == RateKind::kPercent ? "PERCENT"
           : kind == RateKind::kFixed ? "FIXED"
                                      : "PER_ORDER";
}

/// Null for a memo entry.
Value account_name(LedgerAccount account, const JournalGroup& group) {
    std::string name = ledger_account_name(account, group.payout_id);
    return name.empty() ? Value() : Value(std::move(name));
}

}  // namespace

const List<OrderOf>& order_list() {
    using Of = const OrderOf&;
    static const List<OrderOf> list{
        {"account_id", kText, kLedger, [](Of of) -> Value { return of.shop.account_id; }},
        {"shop_id", kText, kLedger, [](Of of) -> Value { return of.shop.shop_id; }},
        {"order_id", kText, kLedger, [](Of of) -> Value { return of.order.key.order_id; }},
        {"creator_id", kText, kLedger,
         [](Of of) -> Value {
             return of.given == nullptr ? Value() : or_null(of.given->creator.view());
         }},
        {"program_id", kText, kLedger,
         [](Of of) -> Value {
             return of.given == nullptr ? Value() : or_null(of.given->program.view());
         }},
        {"attribution_types", kTexts, kLedger,
         [](Of of) -> Value {
             return attribution_type_names(of.given == nullptr ? 0U : of.given->types);
         }},
        {"amount", kAmount, kLedger, [](Of of) -> Value { return of.order.amount; }},
        {"tax", kAmount, kLedger, [](Of of) -> Value { return of.order.tax; }},
        {"shipping", kAmount, kLedger, [](Of of) -> Value { return of.order.shipping; }},
        {"currency", kText, kLedger, [](Of of) -> Value { return of.order.currency.code(); }},
        {"refund_amount", kAmount, kLedger, [](Of of) -> Value { return of.refunds.amount_sum(); }},
        {"refund_tax", kAmount, kLedger, [](Of of) -> Value { return of.refunds.tax_sum(); }},
        {"commission_amount", kAmount, kLedger,
         [](Of of) -> Value { return of.commission.amount; }},
        {"commission_currency", kText, kLedger,
         [](Of of) -> Value { return of.commission.currency.code(); }},
        {"held", kFlag, kLedger, [](Of of) -> Value { return of.order.has(kOrderHeld); }},
        {"rejected", kFlag, kLedger, [](Of of) -> Value { return of.order.has(kOrderRejected); }},
        {"barred", kFlag, kLedger, [](Of of) -> Value { return of.order.has(kOrderBarred); }},
        {"ordered_at", kTime, kLedger, [](Of of) -> Value { return of.order.ordered_at; }},
        {"cancelled_at", kTime, kLedger, [](Of of) -> Value { return of.order.cancelled_at; }},
        {"last_updated_at", kTime, kLedger, [](Of of) -> Value { return of.order.version; }},
        {"payouts", kTexts, kLedger,
         [](Of of) -> Value { return commission_payouts(of.order, of.commission.currency); }},
        {"node", kText, kLedger, [](Of of) -> Value { return or_null(of.node); }}};
    return list;
}

const List<PositionOf>& position_list() {
    using Of = const PositionOf&;
    static const List<PositionOf> list{
        {"account_id", kText, kLedger, [](Of of) -> Value { return of.shop.account_id; }},
        {"shop_id", kText, kLedger, [](Of of) -> Value { return of.shop.shop_id; }},
        {"order_id", kText, kLedger, [](Of of) -> Value { return of.order.key.order_id; }},
        {"program_id", kText, kLedger,
         [](Of of) -> Value { return of.order.positions[of.position].attribution.program; }},
        {"creator_id", kText, kLedger,
         [](Of of) -> Value { return of.order.positions[of.position].attribution.creator; }},
        {"live", kFlag, kLedger,
         [](Of of) -> Value { return of.order.live && *of.order.live == of.position; }},
        {"line_item_id", kText, kLedger,
         [](Of of) -> Value { return or_null(of.accrual.line.view()); }},
        {"currency", kText, kLedger, [](Of of) -> Value { return of.accrual.currency.code(); }},
        {"accrued", kAmount, kLedger, [](Of of) -> Value { return of.accrual.accrued; }},
        {"allocated", kAmount, kLedger, [](Of of) -> Value { return of.accrual.allocated; }},
        {"open", kAmount, kLedger,
         [](Of of) -> Value { return of.accrual.accrued - of.accrual.allocated; }},
        {"ordered_at", kTime, kLedger, [](Of of) -> Value { return of.order.ordered_at; }}};
    return list;
}

const Rate* CommissionOf::rate() const {
    const std::vector<FrozenLine>& frozen = order.position()->frozen;
    const auto found = std::ranges::find(frozen, line.id, &FrozenLine::line);
    return found == frozen.end() || found->rate.rate.kind == RateKind::kNone ? nullptr
                                                                             : &found->rate.rate;
}

Decimal CommissionOf::accrued() const {
    const std::vector<LineAccrual>& accruals = order.position()->accruals;
    const auto found = std::ranges::find_if(accruals, [this](const LineAccrual& accrual) {
        return accrual.line == line.id && accrual.currency == order.currency;
    });
    return found == accruals.end() ? zero_amount(order.currency) : found->accrued;
}

const List<CommissionOf>& commission_list() {
    using Of = const CommissionOf&;
    static const List<CommissionOf> list{
        {"account_id", kText, kLedger, [](Of of) -> Value { return of.shop.account_id; }},
        {"shop_id", kText, kLedger, [](Of of) -> Value { return of.shop.shop_id; }},
        {"order_id", kText, kLedger, [](Of of) -> Value { return of.order.key.order_id; }},
        {"line_item_id", kText, kLedger, [](Of of) -> Value { return of.line.id; }},
        {"sku", kText, kLedger, [](Of of) -> Value { return of.line.sku; }},
        {"variant_sku", kText, kLedger,
         [](Of of) { return of.line.variant_sku ? Value(*of.line.variant_sku) : Value(); }},
        {"creator_id", kText, kLedger,
         [](Of of) -> Value { return of.order.position()->attribution.creator; }},
        {"program_id", kText, kLedger,
         [](Of of) -> Value { return of.order.position()->attribution.program; }},
        {"amount", kAmount, kLedger, [](Of of) -> Value { return of.line.amount; }},
        {"tax", kAmount, kLedger, [](Of of) -> Value { return of.line.tax; }},
        {"quantity", kInteger, kLedger, [](Of of) -> Value { return of.line.quantity; }},
        {"present", kFlag, kLedger, [](Of of) -> Value { return of.line.present; }},
        {"rate_kind", kText, kLedger,
         [](Of of) {
             return of.rate() == nullptr ? Value() : Value(rate_kind_name(of.rate()->kind));
         }},
        {"rate", kAmount, kLedger,
         [](Of of) { return of.rate() == nullptr ? Value() : Value(of.rate()->value); }},
        {"commission_amount", kAmount, kLedger, [](Of of) -> Value { return of.accrued(); }},
        {"currency", kText, kLedger, [](Of of) -> Value { return of.order.currency.code(); }},
        {"ordered_at", kTime, kLedger, [](Of of) -> Value { return of.order.ordered_at; }}};
    return list;
}

const List<EntryOf>& journal_list() {
    using Of = const EntryOf&;
    static const List<EntryOf> list{
        {"node", kText, kLedger, [](Of of) -> Value { return of.group.node; }},
        {"entry", kInteger, kLedger, [](Of of) -> Value { return of.number(); }},
        {"event_seq", kInteger, kLedger, [](Of of) -> Value { return of.group.event_seq.value; }},
        {"command_id", kText, kLedger, [](Of of) -> Value { return or_null(of.group.command_id); }},
        {"account_id", kText, kLedger, [](Of of) -> Value { return or_null(of.account); }},
        {"shop_id", kText, kLedger, [](Of of) -> Value { return or_null(of.shop); }},
        {"order_id", kText, kLedger,
         [](Of of) -> Value { return or_null(of.group.order_id.view()); }},
        {"line_item_id", kText, kLedger,
         [](Of of) -> Value { return or_null(of.entry().line.view()); }},
        {"creator_id", kText, kLedger,
         [](Of of) -> Value { return or_null(of.group.creator.view()); }},
        {"program_id", kText, kLedger,
         [](Of of) -> Value { return or_null(of.group.program.view()); }},
        {"currency", kText, kLedger,
         [](Of of) { return of.is_memo() ? Value() : Value(of.entry().currency.code()); }},
        {"amount", kAmount, kLedger,
         [](Of of) { return of.is_memo() ? Value() : Value(of.entry().amount); }},
        {"debit_account", kText, kLedger,
         [](Of of) -> Value {
             return account_name(debit_credit_of(of.entry().reason).debit, of.group);
         }},
        {"credit_account", kText, kLedger,
         [](Of of) -> Value {
             return account_name(debit_credit_of(of.entry().reason).credit, of.group);
         }},
        {"reason", kText, kLedger, [](Of of) -> Value { return to_string(of.entry().reason); }},
        {"payout_id", kText, kLedger, [](Of of) -> Value { return or_null(of.group.payout_id); }},
        {"recorded_at", kTime, kLedger, [](Of of) -> Value { return of.group.recorded_at; }},
        {"accounting_date", kTime, kLedger,
         [](Of of) -> Value { return of.group.accounting_date; }},
        {"refers_to", kInteger, kLedger,
         [](Of of) { return of.entry().refers_to == 0 ? Value() : Value(of.entry().refers_to); }},
        {"note", kText, kLedger, [](Of of) -> Value { return or_null(of.group.note); }},
        {"actor", kText, kLedger, [](Of of) -> Value { return or_null(of.group.actor); }}};
    return list;
}

const List<ReferenceOf>& reference_list() {
    using Of = const ReferenceOf&;
    static const List<ReferenceOf> list{
        {"node", kText, kLedger, [](Of of) -> Value { return of.of.group.node; }},
        {"entry", kInteger, kLedger, [](Of of) -> Value { return of.of.number(); }},
        {"refers_to", kInteger, kLedger, [](Of of) -> Value { return of.of.entry().refers_to; }},
        {"refers_to_node", kText, kLedger, [](Of of) -> Value { return or_null(of.node); }}};
    return list;
}

const List<BalanceOf>& balance_list() {
    using Of = const BalanceOf&;
    static const List<BalanceOf> list{
        {"account_id", kText, kLedger, [](Of of) -> Value { return of.account; }},
        {"program_id", kText, kLedger, [](Of of) -> Value { return of.balance.key.program; }},
        {"creator_id", kText, kLedger, [](Of of) -> Value { return of.balance.key.creator; }},
        {"currency", kText, kLedger, [](Of of) -> Value { return of.balance.key.currency.code(); }},
        {"pending", kAmount, kLedger, [](Of of) -> Value { return of.balance.pending; }},
        {"blocked", kAmount, kLedger, [](Of of) -> Value { return of.balance.blocked; }},
        {"payable", kAmount, kLedger, [](Of of) -> Value { return of.balance.payable; }},
        {"owed", kAmount, kLedger, [](Of of) -> Value { return of.balance.owed; }},
        {"in_payout", kAmount, kLedger, [](Of of) -> Value { return of.balance.in_payout; }},
        {"paid", kAmount, kLedger, [](Of of) -> Value { return of.balance.paid; }},
        {"total", kAmount, kLedger, [](Of of) -> Value { return of.balance.total; }}};
    return list;
}

const List<PayoutOf>& payout_list() {
    using Of = const PayoutOf&;
    static const List<PayoutOf> list{
        {"payout_id", kText, kLedger, [](Of of) -> Value { return of.payout.payout_id; }},
        {"payout_run", kText, kLedger,
         [](Of of) -> Value { return payout_run_of(of.payout.payout_id); }},
        {"account_id", kText, kLedger, [](Of of) -> Value { return or_null(of.account); }},
        {"creator_id", kText, kLedger, [](Of of) -> Value { return of.payout.creator; }},
        {"name", kText, kLedger, [](Of of) -> Value { return or_null(of.name); }},
        {"payee", kText, kPayee, [](Of of) -> Value { return or_null(of.payout.payee); }},
        {"currency", kText, kLedger, [](Of of) -> Value { return of.payout.currency.code(); }},
        {"amount", kAmount, kLedger, [](Of of) -> Value { return of.payout.amount; }},
        {"state", kText, kLedger, [](Of of) -> Value { return to_string(of.payout.state); }},
        {"until", kTime, kLedger, [](Of of) -> Value { return of.payout.until; }},
        {"closed_at", kTime, kLedger, [](Of of) -> Value { return of.payout.closed_at; }},
        {"closed_by", kText, kLedger, [](Of of) -> Value { return of.payout.closed_by; }},
        {"approved_by", kText, kLedger,
         [](Of of) -> Value { return or_null(of.payout.approved_by); }},
        {"sent_at", kTime, kLedger, [](Of of) -> Value { return of.payout.sent_at; }},
        {"ended_at", kTime, kLedger, [](Of of) -> Value { return of.payout.ended_at; }},
        {"bank_ref", kText, kLedger, [](Of of) -> Value { return or_null(of.payout.bank_ref); }},
        {"paid_at", kTime, kLedger, [](Of of) -> Value { return of.payout.paid_at; }},
        {"orders", kInteger, kLedger, [](Of of) -> Value { return of.payout.orders_count; }},
        {"items", kInteger, kLedger, [](Of of) -> Value { return of.payout.items_count; }},
        {"node", kText, kLedger, [](Of of) -> Value { return or_null(of.node); }}};
    return list;
}

const List<PayoutItem>& payout_item_list() {
    using Of = const PayoutItem&;
    static const List<PayoutItem> list{
        {"payout_id", kText, kLedger, [](Of of) -> Value { return of.payout_id; }},
        {"program_id", kText, kLedger, [](Of of) -> Value { return of.program; }},
        {"shop_id", kText, kLedger, [](Of of) -> Value { return or_null(of.shop_id.view()); }},
        {"order_id", kText, kLedger, [](Of of) -> Value { return or_null(of.order_id.view()); }},
        {"line_item_id", kText, kLedger, [](Of of) -> Value { return or_null(of.line.view()); }},
        {"kind", kText, kLedger, [](Of of) -> Value { return to_string(of.kind); }},
        {"amount", kAmount, kLedger, [](Of of) -> Value { return of.amount; }},
        {"ordered_at", kTime, kLedger, [](Of of) -> Value { return of.sold_at; }}};
    return list;
}

const List<lists::AnomalyOf>& anomaly_list() {
    using Of = const lists::AnomalyOf&;
    static const List<lists::AnomalyOf> list{
        {"node", kText, kLedger, [](Of of) -> Value { return of.anomaly.node; }},
        {"event_seq", kInteger, kLedger, [](Of of) -> Value { return of.anomaly.first_seq.value; }},
        {"account_id", kText, kLedger, [](Of of) -> Value { return of.shop.account_id; }},
        {"shop_id", kText, kLedger, [](Of of) -> Value { return of.shop.shop_id; }},
        {"order_id", kText, kLedger, [](Of of) -> Value { return of.anomaly.order.order_id; }},
        {"kind", kText, kLedger, [](Of of) -> Value { return to_string(of.anomaly.kind); }},
        {"count", kInteger, kLedger, [](Of of) -> Value { return of.anomaly.count; }},
        {"message", kText, kLedger, [](Of of) -> Value { return of.anomaly.message; }},
        {"recorded_at", kTime, kLedger, [](Of of) -> Value { return of.anomaly.recorded_at; }},
        {"showing", kFlag, kLedger, [](Of of) -> Value { return of.anomaly.showing; }},
        {"blocks", kFlag, kLedger, [](Of of) -> Value { return of.blocks(); }},
        {"acknowledged_by", kText, kLedger,
         [](Of of) -> Value { return or_null(of.anomaly.acknowledged_by); }},
        {"acknowledged_at", kTime, kLedger,
         [](Of of) -> Value { return of.anomaly.acknowledged_at; }},
        {"value", kText, kLedger, [](Of of) -> Value { return or_null(of.anomaly.value); }},
        {"acknowledged_value", kText, kLedger,
         [](Of of) -> Value { return or_null(of.anomaly.acknowledged_value); }}};
    return list;
}

const List<LinkOf>& link_list() {
    using Of = const LinkOf&;
    static const List<LinkOf> list{
        {"account_id", kText, kEveryone, [](Of of) -> Value { return or_null(of.account); }},
        {"link_id", kText, kEveryone, [](Of of) -> Value { return of.link.link; }},
        {"program_id", kText, kEveryone, [](Of of) -> Value { return of.link.program; }},
        {"creator_id", kText, kEveryone, [](Of of) -> Value { return of.link.creator; }},
        {"to", kText, kEveryone, [](Of of) -> Value { return of.link.destination; }},
        {"deep", kFlag, kEveryone, [](Of of) -> Value { return of.link.deep; }},
        {"state", kText, kEveryone, [](Of of) -> Value { return lists::to_string(of.link.state); }},
        {"created_at", kTime, kEveryone, [](Of of) -> Value { return of.link.created_at; }}};
    return list;
}

const List<DayOf<ClickDay>>& click_day_list() {
    using Of = const DayOf<ClickDay>&;
    static const List<DayOf<ClickDay>> list{
        {"account_id", kText, kEveryone, [](Of of) -> Value { return or_null(of.account); }},
        {"day", kDate, kEveryone, [](Of of) -> Value { return day_text(of.day.day); }},
        {"program_id", kText, kEveryone, [](Of of) -> Value { return of.day.program; }},
        {"creator_id", kText, kEveryone, [](Of of) -> Value { return of.day.creator; }},
        {"link_id", kText, kEveryone, [](Of of) -> Value { return or_null(of.day.link.view()); }},
        {"clicks", kInteger, kEveryone,
         [](Of of) -> Value { return lists::whole_number(of.day.clicks); }},
        {"devices", kInteger, kEveryone,
         [](Of of) -> Value { return lists::whole_number(of.day.devices); }},
        {"orders", kInteger, kEveryone,
         [](Of of) -> Value { return lists::whole_number(of.day.orders); }}};
    return list;
}

const List<DayOf<LinkDay>>& link_day_list() {
    using Of = const DayOf<LinkDay>&;
    static const List<DayOf<LinkDay>> list{
        {"account_id", kText, kEveryone, [](Of of) -> Value { return or_null(of.account); }},
        {"day", kDate, kEveryone, [](Of of) -> Value { return day_text(of.day.day); }},
        {"program_id", kText, kEveryone, [](Of of) -> Value { return of.day.program; }},
        {"creator_id", kText, kEveryone, [](Of of) -> Value { return of.day.creator; }},
        {"link_id", kText, kEveryone, [](Of of) -> Value { return or_null(of.day.link.view()); }},
        {"currency", kText, kLedger, [](Of of) -> Value { return of.day.currency.code(); }},
        {"earned", kAmount, kLedger, [](Of of) -> Value { return of.day.earned; }},
        {"adjusted", kAmount, kLedger, [](Of of) -> Value { return of.day.adjusted; }}};
    return list;
}

/// A shop's catalog has nothing private.
const std::vector<Column>& product_columns() {
    static const std::vector<Column> all = [] {
        std::vector<Column> columns{{"account_id", kText, kEveryone}};
        const std::vector<Column>& fields = lists::product_columns();
        columns.insert(columns.end(), fields.begin(), fields.end());
        columns.emplace_back("other_fields", kJson, kEveryone);
        return columns;
    }();
    return all;
}

const std::vector<Column>& change_columns() {
    static const std::vector<Column> columns{{"node", kText, kLedger},
                                             {"first", kInteger, kLedger},
                                             {"last", kInteger, kLedger},
                                             {"type", kText, kLedger},
                                             {"timestamp", kTime, kLedger},
                                             {"previous_hash", kText, kLedger},
                                             {"hash", kText, kLedger},
                                             {"trace", kText, kLedger},
                                             {"account_number", kInteger, kLedger},
                                             {"shop_number", kInteger, kLedger},
                                             {"order_change", kInteger, kLedger},
                                             {"entries", kJson, kLedger}};
    return columns;
}

}  // namespace sluice::exports
