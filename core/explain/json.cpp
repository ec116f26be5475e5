#include <string_view>

#include "core/explain/explain.hpp"
#include "core/json/writer.hpp"
#include "core/rules/journal.hpp"
#include "core/rules/order_book.hpp"
#include "core/rules/posting.hpp"

namespace sluice {
namespace {

void text_or_null(JsonWriter& json, std::string_view name, std::string_view text) {
    json.key(name);
    if (text.empty()) {
        json.null();
    } else {
        json.value(text);
    }
}

void write_order(JsonWriter& json, const Explanation& e) {
    const OrderState& order = e.order;
    const StandingRefunds refunds(order.refunds);
    json.field("order_id", order.key.order_id.view()).field("shop_id", e.shop.shop_id.view());
    json.field("account_id", e.shop.account_id.view());
    json.field("currency", order.currency.code()).field("amount", order.amount);
    json.field("tax", order.tax).field("shipping", order.shipping);
    json.field("refund_amount", refunds.amount_sum().to_string());
    json.field("refund_tax", refunds.tax_sum().to_string());
    json.field("ordered_at", order.ordered_at.to_string());
    json.field("last_updated_at", order.version.to_string());
    text_or_null(json, "cancelled_at",
                 order.cancelled_at ? order.cancelled_at->to_string() : std::string());
    json.field("commission_amount", commission_amount(order).amount.to_string());
    json.field("duplicates", order.duplicates_count);
}

void write_events(JsonWriter& json, const Explanation& e) {
    json.key("events").begin_array();
    for (const ExplainedEvent& event : e.events) {
        const EventTrace& trace = event.trace;
        json.begin_object().field("event_seq", trace.seq.value);
        json.field("topic", to_string(trace.topic));
        json.field("version", trace.version.to_string());
        json.field("received_at", trace.received_at.to_string());
        json.field("decision", trace.decision == EventDecision::kApplied ? "applied" : "stale");
        json.field("explanation", event.words).key("anomalies").begin_array();
        for (const AnomalyKind kind : event.anomalies) {
            json.value(to_string(kind));
        }
        json.end_array().end_object();
    }
    json.end_array();
}

void write_refunds(JsonWriter& json, const Explanation& e) {
    json.key("refunds").begin_array();
    for (const ExplainedRefund& refund : e.refunds) {
        json.begin_object().field("refund_line_item_id", refund.row.id.view());
        json.field("line_item_id", refund.row.line.view());
        json.field("amount", refund.row.amount.to_string());
        json.field("tax", refund.row.tax.to_string());
        json.field("quantity", refund.row.quantity);
        json.field("version", refund.row.version.to_string());
        json.field("counts", refund.stands).field("explanation", refund.words).end_object();
    }
    json.end_array();
}

void write_attribution(JsonWriter& json, const Explanation& e) {
    json.key("attribution").begin_object();
    const bool attributed = e.order.attribution.has_value();
    text_or_null(json, "creator_id", attributed ? e.order.attribution->creator.view() : "");
    text_or_null(json, "program_id", attributed ? e.order.attribution->program.view() : "");
    json.field("explanation", e.attribution).key("candidates").begin_array();
    for (const ExplainedCandidate& candidate : e.candidates) {
        json.begin_object().field("type", to_string(candidate.type));
        json.field("source", candidate.source);
        text_or_null(json, "creator_id", candidate.creator);
        text_or_null(json, "program_id", candidate.program);
        json.field("won", candidate.won).field("explanation", candidate.words).end_object();
    }
    json.end_array().end_object();
}

void write_lines(JsonWriter& json, const Explanation& e) {
    json.key("lines").begin_array();
    for (const ExplainedLine& explained : e.lines) {
        const OrderLine& line = explained.line;
        json.begin_object().field("line_item_id", line.id.view()).field("sku", line.sku.view());
        text_or_null(json, "variant_sku", line.variant_sku ? line.variant_sku->view() : "");
        json.field("amount", line.amount.to_string()).field("tax", line.tax.to_string());
        json.field("quantity", line.quantity).field("in_newest_payload", line.present);
        text_or_null(json, "rule", explained.rule);
        text_or_null(json, "rate", explained.rate);
        text_or_null(json, "base", explained.base);
        json.field("refund", explained.refund);
        text_or_null(json, "calculation", explained.calculation);
        text_or_null(json, "rounding", explained.rounding);
        text_or_null(json, "explanation", explained.words);
        json.field("commission", line.commission.to_string()).end_object();
    }
    json.end_array();
}

void write_entry(JsonWriter& json, const JournalGroup& group, std::size_t index) {
    const JournalLine& entry = group.lines[index];
    json.begin_object().field("entry", group.first_entry + index);
    json.field("event_seq", group.event_seq.value);
    text_or_null(json, "line_item_id", entry.line.view());
    json.field("currency", entry.currency.code()).field("amount", entry.amount.to_string());
    json.field("reason", to_string(entry.reason));
    json.field("recorded_at", group.recorded_at.to_string());
    text_or_null(json, "note", group.note);
    text_or_null(json, "actor", group.actor);
    json.end_object();
}

void write_dues(JsonWriter& json, const Explanation& e) {
    json.key("dues").begin_array();
    for (const ExplainedDue& explained : e.dues) {
        json.begin_object().field("currency", explained.due.currency.code());
        json.field("due", explained.due.due.to_string());
        json.field("manual", explained.due.manual.to_string());
        json.field("paid_out", explained.due.settled.to_string());
        json.field("explanation", explained.words).end_object();
    }
    json.end_array();
}

}  // namespace

std::string explanation_json(const Explanation& explanation) {
    std::string text;
    JsonWriter json(text);
    json.begin_object();
    write_order(json, explanation);
    write_events(json, explanation);
    write_refunds(json, explanation);
    write_attribution(json, explanation);
    write_lines(json, explanation);
    json.key("journal").begin_array();
    for (const JournalGroup& group : explanation.journal) {
        for (std::size_t i = 0; i < group.lines.size(); ++i) {
            write_entry(json, group, i);
        }
    }
    json.end_array();
    write_dues(json, explanation);
    json.end_object();
    return text;
}

}  // namespace sluice
