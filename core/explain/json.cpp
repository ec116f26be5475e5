#include <string_view>

#include "core/explain/explain.hpp"
#include "core/journal/journal.hpp"
#include "core/json/member_writer.hpp"
#include "core/ledger/payout_rows.hpp"
#include "core/ledger/rows.hpp"
#include "core/positions/open_amounts.hpp"
#include "core/rules/order_book.hpp"

namespace sluice {
namespace {

void text_or_null(MemberWriter& out, const char* name, std::string_view text) {
    out.or_null(name, text.empty() ? std::nullopt : std::optional(text));
}

}  // namespace

// MemberWriter finds these by their argument, which an unnamed namespace would prevent.

/// How an event came, and what its stored input says of that if the caller could read it.
struct EventSourceView {
    EventSource kind;
    const ExplainedSource* input;
};

static void each_member(MemberWriter& out, const OrderAnswer& answer) {
    out("status", answer.status);
    out("sentence", answer.sentence);
    out.or_null("since", answer.since);
    out.or_null("next_at", answer.next_at);
    text_or_null(out, "next_step", answer.next_step);
    text_or_null(out, "command", answer.command);
}

static void each_member(MemberWriter& out, const SourceRow& row) {
    out("platform_field", row.platform_field);
    out("platform_value", row.platform_value);
    text_or_null(out, "field", row.field);
    text_or_null(out, "value", row.value);
    text_or_null(out, "rule", row.rule);
}

static void each_member(MemberWriter& out, const EventSourceView& event) {
    out("kind", event.kind);
    if (event.input == nullptr) {
        return;
    }
    const ExplainedSource& source = *event.input;
    out("platform", source.platform);
    out("mapping", source.mapping);
    out("signed", source.is_signed);
    text_or_null(out, "topic", source.topic);
    text_or_null(out, "delivery_id", source.delivery);
    text_or_null(out, "triggered_at", source.triggered_at);
    text_or_null(out, "api_version", source.api_version);
    out("notes", source.notes);
    out("fields", source.fields);
}

static void each_member(MemberWriter& out, const ExplainedEvent& event) {
    const EventTrace& trace = event.trace;
    text_or_null(out, "node", event.node);
    out("event_seq", trace.seq);
    out("topic", trace.topic);
    out("version", trace.version);
    out("received_at", trace.received_at);
    out("decision", trace.decision == EventDecision::kApplied ? "applied" : "stale");
    text_or_null(out, "trace", trace.traceparent ? to_traceparent(*trace.traceparent) : "");
    out("explanation", event.words);
    out("anomalies", event.anomalies);
    out("source", EventSourceView{trace.source, event.source ? &*event.source : nullptr});
}

static void each_member(MemberWriter& out, const ExplainedRefund& refund) {
    out("refund_line_item_id", refund.row.id);
    out("line_item_id", refund.row.line);
    out("amount", refund.row.amount);
    out("tax", refund.row.tax);
    out("quantity", refund.row.quantity);
    out("version", refund.row.version);
    out("counts", refund.stands);
    out("explanation", refund.words);
}

static void each_member(MemberWriter& out, const ExplainedCandidate& candidate) {
    out("type", candidate.type);
    out("source", candidate.source);
    text_or_null(out, "creator_id", candidate.creator);
    text_or_null(out, "program_id", candidate.program);
    text_or_null(out, "link_id", candidate.link.view());
    out.or_null("clicked_at", candidate.clicked_at);
    out("won", candidate.won);
    out("explanation", candidate.words);
}

static void each_member(MemberWriter& out, const ExplainedLine& explained) {
    const OrderLine& line = explained.line;
    out("line_item_id", line.id);
    out("sku", line.sku);
    text_or_null(out, "variant_sku", line.variant_sku ? line.variant_sku->view() : "");
    out("amount", line.amount);
    out("tax", line.tax);
    out("quantity", line.quantity);
    out("in_newest_payload", line.present);
    text_or_null(out, "rule", explained.rule);
    text_or_null(out, "rate", explained.rate);
    text_or_null(out, "base", explained.base);
    out("refund", explained.refund);
    text_or_null(out, "calculation", explained.calculation);
    text_or_null(out, "rounding", explained.rounding);
    text_or_null(out, "explanation", explained.words);
    out("commission", explained.commission);
}

static void each_member(MemberWriter& out, const ExplainedAccrual& explained) {
    out("creator_id", explained.creator);
    out("program_id", explained.program);
    out("currency", explained.currency.code());
    out("accrued", explained.accrued);
    out("manual", explained.manual);
    out("allocated", explained.allocated);
    out("explanation", explained.words);
}

static void each_member(MemberWriter& out, const PayoutItem& item) {
    text_or_null(out, "line_item_id", item.line.view());
    out("kind", item.kind);
    out("amount", item.amount);
}

static void each_member(MemberWriter& out, const ExplainedPayout& payout) {
    out("payout_id", payout.payout_id);
    text_or_null(out, "node", payout.node);
    out("state", payout.state);
    out("creator_id", payout.creator);
    out("program_id", payout.program);
    out("currency", payout.currency.code());
    out("amount", payout.amount);
    out("closed_at", payout.closed_at);
    out.or_null("sent_at", payout.sent_at);
    out.or_null("ended_at", payout.ended_at);
    out("items", payout.items);
}

namespace {

void write_order(MemberWriter& out, const Explanation& e) {
    const OrderState& order = e.order;
    const StandingRefunds refunds(order.refunds);
    out("order_id", order.key.order_id);
    out("shop_id", e.shop.shop_id);
    out("account_id", e.shop.account_id);
    out("currency", order.currency.code());
    out("amount", order.amount);
    out("tax", order.tax);
    out("shipping", order.shipping);
    out("refund_amount", refunds.amount_sum());
    out("refund_tax", refunds.tax_sum());
    out("ordered_at", order.ordered_at);
    out("last_updated_at", order.version);
    out.or_null("cancelled_at", order.cancelled_at);
    out("commission_amount", commission_amount(order).amount);
    out("duplicates", order.duplicates_count);
    text_or_null(out, "device", e.device);
    out("codes", order.codes);
    out("numbers", order.numbers);
    out("blocked_by", e.blocked_by);
}

void write_attribution(MemberWriter& out, const Explanation& e) {
    out.json().key("attribution").begin_object();
    const Position* position = e.order.position();
    text_or_null(out, "creator_id", e.creator);
    text_or_null(out, "program_id",
                 position != nullptr ? position->attribution.program.view() : "");
    out("explanation", e.attribution);
    out("candidates", e.candidates);
    out.json().end_object();
}

void write_entry(MemberWriter& out, const JournalGroup& group, std::size_t index) {
    const JournalEntry& entry = group.entries[index];
    const DebitCredit accounts = debit_credit_of(entry.reason);
    const bool memo = is_memo(entry.reason);
    out.json().begin_object();
    out("node", group.node);
    out("entry", group.first_entry + index);
    out("event_seq", group.event_seq);
    text_or_null(out, "line_item_id", entry.line.view());
    text_or_null(out, "command_id", group.command_id);
    text_or_null(out, "creator_id", group.creator.view());
    text_or_null(out, "program_id", group.program.view());
    text_or_null(out, "currency", memo ? std::string_view() : entry.currency.code());
    text_or_null(out, "amount", memo ? std::string() : entry.amount.to_string());
    text_or_null(out, "debit_account", ledger_account_name(accounts.debit, group.payout_id));
    text_or_null(out, "credit_account", ledger_account_name(accounts.credit, group.payout_id));
    out("reason", entry.reason);
    out("accounting_date", group.accounting_date);
    out("recorded_at", group.recorded_at);
    text_or_null(out, "note", group.note);
    text_or_null(out, "actor", group.actor);
    out.json().end_object();
}

}  // namespace

std::string explanation_json(const Explanation& explanation, const OrderAnswer& answer) {
    std::string text;
    JsonWriter json(text);
    MemberWriter out(json);
    json.begin_object();
    out("answer", answer);
    write_order(out, explanation);
    out("events", explanation.events);
    out("refunds", explanation.refunds);
    write_attribution(out, explanation);
    out("lines", explanation.lines);
    json.key("journal").begin_array();
    for (const JournalGroup& group : explanation.journal) {
        for (std::size_t i = 0; i < group.entries.size(); ++i) {
            write_entry(out, group, i);
        }
    }
    json.end_array();
    out("accruals", explanation.accruals);
    out("payouts", explanation.payouts);
    json.end_object();
    return text;
}

}  // namespace sluice
