#include "core/exports/lists.hpp"

#include <algorithm>

namespace sluice::exports {
namespace {

using lists::or_null;
using lists::Value;
using enum lists::ColumnType;
using enum lists::Scope;

std::string_view rate_kind_name(RateKind kind) {
    return kind == RateKind::kPercent ? "PERCENT"
           : kind == RateKind::kFixed ? "FIXED"
                                      : "PER_ORDER";
}

}  // namespace

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

const List<lists::JournalOf>& reference_list() {
    static const List<lists::JournalOf> list =
        lists::journal_list().only("node entry refers_to refers_to_node");
    return list;
}

}  // namespace sluice::exports
