#include <string_view>

#include "core/explain/explain.hpp"
#include "core/journal/journal.hpp"
#include "core/ledger/payout_rows.hpp"
#include "core/ledger/rows.hpp"
#include "core/positions/open_amounts.hpp"
#include "core/rules/order_book.hpp"

namespace sluice {
namespace {

Json answer_json(const OrderAnswer& answer) {
    return {{"status", answer.status},
            {"sentence", answer.sentence},
            {"since", answer.since},
            {"next_at", answer.next_at},
            {"next_step", text_or_null(answer.next_step)},
            {"command", text_or_null(answer.command)}};
}

Json field_json(const SourceRow& row) {
    return {{"platform_field", row.platform_field},
            {"platform_value", row.platform_value},
            {"field", text_or_null(row.field)},
            {"value", text_or_null(row.value)},
            {"rule", text_or_null(row.rule)}};
}

/// How an event came, and what its stored input says of that if the caller could read it.
Json source_json(const ExplainedEvent& event) {
    const std::string_view kind = to_string(event.trace.source);
    if (!event.source) {
        return {{"kind", kind}};
    }
    const ExplainedSource& source = *event.source;
    return {{"kind", kind},
            {"platform", source.platform},
            {"mapping", source.mapping},
            {"signed", source.is_signed},
            {"topic", text_or_null(source.topic)},
            {"delivery_id", text_or_null(source.delivery)},
            {"triggered_at", text_or_null(source.triggered_at)},
            {"api_version", text_or_null(source.api_version)},
            {"notes", source.notes},
            {"fields", Json::list(source.fields, field_json)}};
}

Json event_json(const ExplainedEvent& event) {
    const EventTrace& trace = event.trace;
    return {{"node", text_or_null(event.node)},
            {"event_seq", trace.seq.value},
            {"topic", to_string(trace.topic)},
            {"version", trace.version},
            {"received_at", trace.received_at},
            {"decision", trace.decision == EventDecision::kApplied ? "applied" : "stale"},
            {"trace", trace.traceparent ? Json(to_traceparent(*trace.traceparent)) : Json()},
            {"explanation", event.words},
            {"anomalies",
             Json::list(event.anomalies, [](AnomalyKind kind) { return Json(to_string(kind)); })},
            {"source", source_json(event)}};
}

Json refund_json(const ExplainedRefund& refund) {
    return {{"refund_line_item_id", refund.row.id.view()},
            {"line_item_id", refund.row.line.view()},
            {"amount", refund.row.amount.to_string()},
            {"tax", refund.row.tax.to_string()},
            {"quantity", refund.row.quantity},
            {"version", refund.row.version},
            {"counts", refund.stands},
            {"explanation", refund.words}};
}

Json candidate_json(const ExplainedCandidate& candidate) {
    return {{"type", to_string(candidate.type)},
            {"source", candidate.source},
            {"creator_id", text_or_null(candidate.creator)},
            {"program_id", text_or_null(candidate.program)},
            {"link_id", text_or_null(candidate.link.view())},
            {"clicked_at", candidate.clicked_at},
            {"won", candidate.won},
            {"explanation", candidate.words}};
}

Json attribution_json(const Explanation& e) {
    const Position* const position = e.order.position();
    return {{"creator_id", text_or_null(e.creator)},
            {"program_id",
             position == nullptr ? Json() : text_or_null(position->attribution.program.view())},
            {"explanation", e.attribution},
            {"candidates", Json::list(e.candidates, candidate_json)}};
}

Json line_json(const ExplainedLine& explained) {
    const OrderLine& line = explained.line;
    return {{"line_item_id", line.id.view()},
            {"sku", line.sku.view()},
            {"variant_sku", line.variant_sku ? text_or_null(line.variant_sku->view()) : Json()},
            {"amount", line.amount.to_string()},
            {"tax", line.tax.to_string()},
            {"quantity", line.quantity},
            {"in_newest_payload", line.present},
            {"rule", text_or_null(explained.rule)},
            {"rate", text_or_null(explained.rate)},
            {"base", text_or_null(explained.base)},
            {"refund", explained.refund},
            {"calculation", text_or_null(explained.calculation)},
            {"rounding", text_or_null(explained.rounding)},
            {"explanation", text_or_null(explained.words)},
            {"commission", explained.commission.to_string()}};
}

Json entry_json(const JournalGroup& group, std::size_t index) {
    const JournalEntry& entry = group.entries[index];
    const DebitCredit accounts = debit_credit_of(entry.reason);
    const bool is_posting = !is_memo(entry.reason);
    return {{"node", group.node},
            {"entry", group.first_entry + index},
            {"event_seq", group.event_seq.value},
            {"line_item_id", text_or_null(entry.line.view())},
            {"command_id", text_or_null(group.command_id)},
            {"creator_id", text_or_null(group.creator.view())},
            {"program_id", text_or_null(group.program.view())},
            {"currency", is_posting ? text_or_null(entry.currency.code()) : Json()},
            {"amount", is_posting ? Json(entry.amount.to_string()) : Json()},
            {"debit_account", text_or_null(ledger_account_name(accounts.debit, group.payout_id))},
            {"credit_account", text_or_null(ledger_account_name(accounts.credit, group.payout_id))},
            {"reason", to_string(entry.reason)},
            {"accounting_date", group.accounting_date},
            {"recorded_at", group.recorded_at},
            {"note", text_or_null(group.note)},
            {"actor", text_or_null(group.actor)}};
}

Json journal_json(const std::vector<JournalGroup>& groups) {
    Json entries = Json::array();
    for (const JournalGroup& group : groups) {
        for (std::size_t i = 0; i < group.entries.size(); ++i) {
            entries.push_back(entry_json(group, i));
        }
    }
    return entries;
}

Json accrual_json(const ExplainedAccrual& explained) {
    return {
        {"creator_id", explained.creator},        {"program_id", explained.program},
        {"currency", explained.currency.code()},  {"accrued", explained.accrued.to_string()},
        {"manual", explained.manual.to_string()}, {"allocated", explained.allocated.to_string()},
        {"explanation", explained.words}};
}

Json item_json(const PayoutItem& item) {
    return {{"line_item_id", text_or_null(item.line.view())},
            {"kind", to_string(item.kind)},
            {"amount", item.amount.to_string()}};
}

Json payout_json(const ExplainedPayout& payout) {
    return {{"payout_id", payout.payout_id},
            {"node", text_or_null(payout.node)},
            {"state", payout.state},
            {"creator_id", payout.creator},
            {"program_id", payout.program},
            {"currency", payout.currency.code()},
            {"amount", payout.amount.to_string()},
            {"closed_at", payout.closed_at},
            {"sent_at", payout.sent_at},
            {"ended_at", payout.ended_at},
            {"items", Json::list(payout.items, item_json)}};
}

}  // namespace

Json explanation_object(const Explanation& e, const OrderAnswer& answer) {
    const OrderState& order = e.order;
    const EffectiveRefunds refunds(order.refunds);
    Json object{{"answer", answer_json(answer)},
                {"order_id", order.key.order_id.view()},
                {"shop_id", e.shop.shop_id.view()},
                {"account_id", e.shop.account_id.view()},
                {"currency", order.currency.code()},
                {"amount", order.amount},
                {"tax", order.tax},
                {"shipping", order.shipping},
                {"refund_amount", refunds.amount_sum().to_string()},
                {"refund_tax", refunds.tax_sum().to_string()},
                {"ordered_at", order.ordered_at},
                {"last_updated_at", order.version},
                {"cancelled_at", order.cancelled_at},
                {"commission_amount", commission_amount(order).amount.to_string()},
                {"duplicates", order.duplicates_count},
                {"device", text_or_null(e.device)},
                {"codes", order.codes},
                {"numbers", order.numbers},
                {"blocked_by", e.blocked_by}};
    object["events"] = Json::list(e.events, event_json);
    object["refunds"] = Json::list(e.refunds, refund_json);
    object["attribution"] = attribution_json(e);
    object["lines"] = Json::list(e.lines, line_json);
    object["journal"] = journal_json(e.journal);
    object["accruals"] = Json::list(e.accruals, accrual_json);
    object["payouts"] = Json::list(e.payouts, payout_json);
    return object;
}

std::string explanation_json(const Explanation& explanation, const OrderAnswer& answer) {
    std::string text;
    explanation_object(explanation, answer).append_to(text, JsonEscapes::kStored);
    return text;
}

}  // namespace sluice
