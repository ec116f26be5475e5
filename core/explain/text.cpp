#include <algorithm>
#include <string_view>

#include "core/explain/explain.hpp"
#include "core/journal/journal.hpp"
#include "core/ledger/payout_rows.hpp"
#include "core/ledger/rows.hpp"
#include "core/rules/order_book.hpp"

namespace sluice {
namespace {

/// Appends lines; sections are separated by an empty one.
class Page {
public:
    void section(std::string_view title) {
        text_ += text_.empty() ? "" : "\n";
        line("", title);
    }
    void item(const std::string& text) { line("  ", text); }
    void detail(const std::string& text) { line("      ", text); }
    [[nodiscard]] std::string take() && { return std::move(text_); }

private:
    void line(std::string_view indent, std::string_view text) {
        text_.append(indent).append(text).push_back('\n');
    }
    std::string text_;
};

/// Returns the words that name the node of a number, if there are several nodes, because numbers
/// count within a node.
std::string through(const Explanation& e, const std::string& node) {
    return e.many_nodes && !node.empty() ? " of node " + node : std::string();
}

void write_order(Page& page, const Explanation& e) {
    const OrderState& order = e.order;
    const std::string code(order.currency.code());
    page.section("Order " + order.key.order_id.str() + " of shop " + e.shop.shop_id.str() +
                 " (account " + e.shop.account_id.str() + ")");
    page.item("amount " + order.amount + " " + code + ", tax " + order.tax + ", shipping " +
              order.shipping);
    page.item("ordered at " + order.ordered_at.to_string() + ", version " +
              order.version.to_string());
    for (const std::string& number : order.numbers) {
        page.item("also called " + number);
    }
    if (!e.device.empty()) {
        page.item(e.device);
    }
    for (const std::string& block : e.blocked_by) {
        page.item("increases are not paid: " + block);
    }
    page.item(order.cancelled_at ? "cancelled at " + order.cancelled_at->to_string()
                                 : "not cancelled");
}

/// Returns `from shopify orders/updated, delivery 7, triggered ..., mapping shopify/1`.
std::string source_words(const ExplainedSource& source) {
    const auto part = [](const char* before, const std::string& text) {
        return text.empty() ? std::string() : before + text;
    };
    return (source.is_signed ? "from " + source.platform + part(" ", source.topic)
                             : "sent as an order of " + source.platform) +
           part(", delivery ", source.delivery) + part(", triggered ", source.triggered_at) +
           (source.mapping == 0
                ? ""
                : ", mapping " + source.platform + "/" + std::to_string(source.mapping));
}

void write_events(Page& page, const Explanation& e) {
    page.section("Events");
    for (const ExplainedEvent& event : e.events) {
        const EventTrace& trace = event.trace;
        page.item("#" + std::to_string(trace.seq.value) + through(e, event.node) + "  " +
                  std::string(to_string(trace.topic)) + ", version " + trace.version.to_string() +
                  ", received " + trace.received_at.to_string());
        page.detail(event.words);
        if (event.source) {
            page.detail(source_words(*event.source));
        } else if (trace.source != EventSource::kSignedPost) {
            page.detail(trace.source == EventSource::kImport
                            ? "sent as an order of the shop's platform"
                            : "from " + std::string(to_string(trace.source)));
        }
        if (trace.traceparent) {
            page.detail("trace " + to_traceparent(*trace.traceparent));
        }
        for (const AnomalyKind kind : event.anomalies) {
            page.detail("anomaly " + std::string(to_string(kind)));
        }
    }
    if (e.order.duplicates_count > 0) {
        page.item(std::to_string(e.order.duplicates_count) +
                  " more, equal to one of these, changed nothing");
    }
}

/// Writes where each value of a platform went, in columns.
void write_fields(Page& page, const std::vector<SourceRow>& rows) {
    const auto left_of = [](const SourceRow& row) {
        return row.platform_field + " = " + row.platform_value;
    };
    const auto right_of = [](const SourceRow& row) {
        return row.field.empty() ? std::string("-") : row.field + " = " + row.value;
    };
    std::size_t left = 0, right = 0;
    for (const SourceRow& row : rows) {
        left = std::max(left, left_of(row).size());
        right = std::max(right, right_of(row).size());
    }
    for (const SourceRow& row : rows) {
        std::string text = left_of(row);
        text.resize(left + 2, ' ');
        text += right_of(row);
        if (!row.rule.empty()) {
            text.resize(left + 2 + right + 2, ' ');
            text += row.rule;
        }
        page.item(text);
    }
}

void write_sources(Page& page, const Explanation& e) {
    for (const ExplainedEvent& event : e.events) {
        if (event.source && !event.source->fields.empty()) {
            page.section("Values of event #" + std::to_string(event.trace.seq.value) +
                         through(e, event.node));
            write_fields(page, event.source->fields);
        }
    }
}

void write_refunds(Page& page, const Explanation& e) {
    if (e.refunds.empty()) {
        return;
    }
    page.section("Refunds");
    for (const ExplainedRefund& refund : e.refunds) {
        page.item(refund.row.id.str() + " of line " + refund.row.line.str() + ": " +
                  refund.row.amount.to_string() + ", tax " + refund.row.tax.to_string() +
                  ", quantity " + std::to_string(refund.row.quantity) + ", stated by version " +
                  refund.row.version.to_string());
        page.detail(refund.words);
    }
    const EffectiveRefunds sums(e.order.refunds);
    page.item("together " + sums.amount_sum().to_string() + ", tax " + sums.tax_sum().to_string());
}

void write_attribution(Page& page, const Explanation& e) {
    page.section("Attribution");
    page.item(e.attribution);
    for (const ExplainedCandidate& candidate : e.candidates) {
        const std::string owner =
            candidate.creator.empty()
                ? ""
                : ", creator " + candidate.creator + " in program " + candidate.program;
        page.item(std::string(to_string(candidate.type)) + ": " + candidate.source + owner);
        page.detail(candidate.words);
    }
}

void write_lines(Page& page, const Explanation& e) {
    page.section("Lines");
    for (const ExplainedLine& explained : e.lines) {
        const OrderLine& line = explained.line;
        page.item(line.id.str() + ": sku " + line.sku.str() +
                  (line.variant_sku ? ", variant " + line.variant_sku->str() : "") + ", amount " +
                  line.amount.to_string() + ", tax " + line.tax.to_string() + ", quantity " +
                  std::to_string(line.quantity));
        if (!explained.rule.empty()) {
            page.detail("rate " + explained.rate + ": " + explained.rule);
            page.detail("base " + explained.base);
        }
        page.detail("refund: " + explained.refund);
        if (!explained.calculation.empty()) {
            page.detail(explained.calculation);
            page.detail(explained.rounding);
        }
        if (!explained.words.empty()) {
            page.detail(explained.words);
        }
    }
}

void write_journal(Page& page, const Explanation& e) {
    page.section("Journal");
    if (e.journal.empty()) {
        page.item("no entries");
    }
    for (const JournalGroup& group : e.journal) {
        for (std::size_t i = 0; i < group.entries.size(); ++i) {
            const JournalEntry& entry = group.entries[i];
            const std::string amount = is_memo(entry.reason)
                                           ? std::string()
                                           : (entry.amount.is_negative() ? "" : "+") +
                                                 entry.amount.to_string() + " " +
                                                 std::string(entry.currency.code()) + " ";
            page.item(
                "entry " + std::to_string(group.first_entry + i) + through(e, group.node) +
                (group.command_id.empty() ? ", event #" + std::to_string(group.event_seq.value)
                                          : ", command " + group.command_id) +
                ": " +
                (entry.line.empty() || is_memo(entry.reason) ? ""
                                                             : "line " + entry.line.str() + " ") +
                amount + std::string(to_string(entry.reason)) + ", recorded " +
                group.recorded_at.to_string() +
                (group.accounting_date == group.recorded_at
                     ? ""
                     : ", accounting date " + group.accounting_date.to_string()));
        }
        if (!group.actor.empty()) {
            page.detail("by " + group.actor + (group.note.empty() ? "" : ": " + group.note));
        } else if (!group.note.empty()) {
            page.detail(group.note);
        }
    }
}

void write_accruals(Page& page, const Explanation& e) {
    page.section("Commission");
    if (e.accruals.empty()) {
        page.item("nothing has accrued");
    }
    for (const ExplainedAccrual& accrual : e.accruals) {
        page.item(accrual.words);
    }
}

void write_payouts(Page& page, const Explanation& e) {
    if (e.payouts.empty()) {
        return;
    }
    page.section("Payouts");
    for (const ExplainedPayout& payout : e.payouts) {
        page.item(payout.payout_id + through(e, payout.node) + ", " + payout.state + ": " +
                  payout.amount.to_string() + " " + std::string(payout.currency.code()) +
                  " of creator " + payout.creator);
        for (const PayoutItem& item : payout.items) {
            page.detail((item.line.empty() ? std::string("by hand") : "line " + item.line.str()) +
                        ": " + item.amount.to_string() + " " + std::string(to_string(item.kind)));
        }
    }
}

}  // namespace

std::string explanation_text(const Explanation& explanation, bool shows_sources) {
    Page page;
    write_order(page, explanation);
    write_events(page, explanation);
    if (shows_sources) {
        write_sources(page, explanation);
    }
    write_refunds(page, explanation);
    write_attribution(page, explanation);
    write_lines(page, explanation);
    write_journal(page, explanation);
    write_accruals(page, explanation);
    write_payouts(page, explanation);
    return std::move(page).take();
}

}  // namespace sluice
