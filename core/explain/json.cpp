#include <string_view>

#include "core/explain/explain.hpp"
#include "core/journal/journal.hpp"
#include "core/json/writer.hpp"
#include "core/ledger/payout_rows.hpp"
#include "core/ledger/rows.hpp"
#include "core/positions/open_amounts.hpp"
#include "core/rules/order_book.hpp"

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

void time_or_null(JsonWriter& json, std::string_view name, const std::optional<Timestamp>& at) {
    text_or_null(json, name, at ? at->to_string() : std::string());
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
    text_or_null(json, "device", e.device);
    json.key("codes").begin_array();
    for (const std::string& code : order.codes) {
        json.value(code);
    }
    json.end_array();
    json.key("blocked_by").begin_array();
    for (const std::string& block : e.blocked_by) {
        json.value(block);
    }
    json.end_array();
}

void write_events(JsonWriter& json, const Explanation& e) {
    json.key("events").begin_array();
    for (const ExplainedEvent& event : e.events) {
        const EventTrace& trace = event.trace;
        json.begin_object();
        text_or_null(json, "node", event.node);
        json.field("event_seq", trace.seq.value);
        json.field("topic", to_string(trace.topic));
        json.field("version", trace.version.to_string());
        json.field("received_at", trace.received_at.to_string());
        json.field("decision", trace.decision == EventDecision::kApplied ? "applied" : "stale");
        text_or_null(json, "trace", trace.traceparent ? to_traceparent(*trace.traceparent) : "");
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
    const Position* position = e.order.position();
    text_or_null(json, "creator_id", e.creator);
    text_or_null(json, "program_id",
                 position != nullptr ? position->attribution.program.view() : "");
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
        json.field("commission", explained.commission.to_string()).end_object();
    }
    json.end_array();
}

void write_entry(JsonWriter& json, const JournalGroup& group, std::size_t index) {
    const JournalEntry& entry = group.entries[index];
    const DebitCredit accounts = debit_credit_of(entry.reason);
    json.begin_object().field("node", group.node).field("entry", group.first_entry + index);
    json.field("event_seq", group.event_seq.value);
    text_or_null(json, "line_item_id", entry.line.view());
    const bool memo = is_memo(entry.reason);
    text_or_null(json, "command_id", group.command_id);
    text_or_null(json, "creator_id", group.creator.view());
    text_or_null(json, "program_id", group.program.view());
    text_or_null(json, "currency", memo ? std::string_view() : entry.currency.code());
    text_or_null(json, "amount", memo ? std::string() : entry.amount.to_string());
    text_or_null(json, "debit_account", ledger_account_name(accounts.debit, group.payout_id));
    text_or_null(json, "credit_account", ledger_account_name(accounts.credit, group.payout_id));
    json.field("reason", to_string(entry.reason));
    json.field("accounting_date", group.accounting_date.to_string());
    json.field("recorded_at", group.recorded_at.to_string());
    text_or_null(json, "note", group.note);
    text_or_null(json, "actor", group.actor);
    json.end_object();
}

void write_accruals(JsonWriter& json, const Explanation& e) {
    json.key("accruals").begin_array();
    for (const ExplainedAccrual& explained : e.accruals) {
        json.begin_object().field("creator_id", explained.creator);
        json.field("program_id", explained.program);
        json.field("currency", explained.currency.code());
        json.field("accrued", explained.accrued.to_string());
        json.field("manual", explained.manual.to_string());
        json.field("allocated", explained.allocated.to_string());
        json.field("explanation", explained.words).end_object();
    }
    json.end_array();
}

void write_payouts(JsonWriter& json, const Explanation& e) {
    json.key("payouts").begin_array();
    for (const ExplainedPayout& payout : e.payouts) {
        json.begin_object().field("payout_id", payout.payout_id);
        text_or_null(json, "node", payout.node);
        json.field("state", payout.state);
        json.field("creator_id", payout.creator).field("program_id", payout.program);
        json.field("currency", payout.currency.code());
        json.field("amount", payout.amount.to_string());
        json.field("closed_at", payout.closed_at.to_string());
        time_or_null(json, "sent_at", payout.sent_at);
        time_or_null(json, "ended_at", payout.ended_at);
        json.key("items").begin_array();
        for (const PayoutItem& item : payout.items) {
            json.begin_object();
            text_or_null(json, "line_item_id", item.line.view());
            json.field("kind", to_string(item.kind));
            json.field("amount", item.amount.to_string()).end_object();
        }
        json.end_array().end_object();
    }
    json.end_array();
}

void write_answer(JsonWriter& json, const OrderAnswer& answer) {
    json.key("answer").begin_object().field("status", answer.status);
    json.field("sentence", answer.sentence);
    time_or_null(json, "since", answer.since);
    time_or_null(json, "next_at", answer.next_at);
    text_or_null(json, "command", answer.command);
    json.end_object();
}

}  // namespace

std::string explanation_json(const Explanation& explanation, const OrderAnswer& answer) {
    std::string text;
    JsonWriter json(text);
    json.begin_object();
    write_answer(json, answer);
    write_order(json, explanation);
    write_events(json, explanation);
    write_refunds(json, explanation);
    write_attribution(json, explanation);
    write_lines(json, explanation);
    json.key("journal").begin_array();
    for (const JournalGroup& group : explanation.journal) {
        for (std::size_t i = 0; i < group.entries.size(); ++i) {
            write_entry(json, group, i);
        }
    }
    json.end_array();
    write_accruals(json, explanation);
    write_payouts(json, explanation);
    json.end_object();
    return text;
}

}  // namespace sluice
