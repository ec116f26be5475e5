#include "core/explain/explain.hpp"

#include <utility>

#include "core/explain/candidates.hpp"
#include "core/rules/commission.hpp"
#include "core/rules/journal.hpp"
#include "core/rules/order_book.hpp"
#include "core/rules/posting.hpp"

namespace sluice {
namespace {

// ---- Events -----------------------------------------------------------------------------------

std::string words_of(const EventTrace& trace) {
    std::string words = trace.decision == EventDecision::kApplied
                            ? "applied: its payload replaced the order"
                            : "stale: older than the stored version, so only its refund rows count";
    if (trace.cancelled) {
        words += trace.decision == EventDecision::kApplied &&
                         (trace.anomalies &
                          1U << static_cast<unsigned>(AnomalyKind::kCancelNotLater)) == 0
                     ? "; it cancels the order"
                     : "; it does not cancel the order";
    }
    return words;
}

std::vector<AnomalyKind> anomalies_of(std::uint16_t bits) {
    std::vector<AnomalyKind> kinds;
    for (unsigned kind = 1; kind < kAnomalyKinds; ++kind) {
        if ((bits & 1U << kind) != 0) {
            kinds.push_back(static_cast<AnomalyKind>(kind));
        }
    }
    return kinds;
}

void explain_events(Explanation& out, LedgerReader& ledger) {
    const auto add = [&out](const EventTrace& trace) {
        out.events.push_back({trace, words_of(trace), anomalies_of(trace.anomalies)});
        return true;
    };
    for (const EventTrace& trace : out.order.events) {
        add(trace);
    }
    if (out.order.events_count > out.order.events.size()) {
        ledger.scan_events(out.order.key, add);
    }
}

// ---- Refunds ----------------------------------------------------------------------------------

void explain_refunds(Explanation& out) {
    for (const RefundRow& row : out.order.refunds) {
        const RefundRow* standing = standing_row(out.order.refunds, row.line);
        const bool stands = standing == &row;
        out.refunds.push_back(
            {row, stands,
             stands ? "counts"
                    : "does not count: " + standing->id.str() + " of the same line is newer"});
    }
}

// ---- Attribution ------------------------------------------------------------------------------

std::string types_of(std::uint8_t types) {
    std::string text;
    for (const AttributionType type : {AttributionType::kAffiliateCode, AttributionType::kLanded}) {
        if ((types & static_cast<unsigned>(type)) != 0) {
            text += text.empty() ? "" : " and ";
            text += to_string(type);
        }
    }
    return text;
}

void explain_attribution(Explanation& out, LedgerReader& ledger) {
    if (!out.order.attribution) {
        out.attribution =
            "no creator yet: tried again at every later event, import and program "
            "file";
        out.candidates = candidates_now(out.order, out.shop.shop_id.view(), ledger);
        return;
    }
    const Attribution& attribution = *out.order.attribution;
    out.attribution = "creator " + attribution.creator.str() + " of program " +
                      attribution.program.str() + " by " + types_of(attribution.types) +
                      ", since input " + std::to_string(attribution.cause.value) + " (" +
                      std::string(to_string(attribution.cause_topic)) + ") of " +
                      attribution.at.to_string();
    out.candidates = candidates_then(out.order);
}

// ---- Lines ------------------------------------------------------------------------------------

std::string quoted(std::string_view text) {
    return "\"" + std::string(text) + "\"";
}

std::string rule_words(const OrderState& order, const FrozenRate& frozen, LedgerReader& ledger) {
    const ProgramId& program = order.attribution->program;
    const std::string of =
        " of " + program.str() + ", version " + std::to_string(frozen.program_version);
    if (frozen.rate.kind == RateKind::kNone) {
        return "no rate" + of + " is in the order's currency of then";
    }
    if (frozen.match == RuleMatch::kDefault) {
        return "default rate" + of;
    }
    std::string value;
    const std::optional<ProgramRow> row = ledger.program_version(program, frozen.program_version);
    if (row && frozen.rule < row->program.rules.size()) {
        value = " " + quoted(row->program.rules[frozen.rule].value);
    }
    return std::string(to_string(frozen.match)) + value + of;
}

std::string base_words(const FrozenRate& frozen, const OrderLine& line) {
    if (frozen.rate.kind == RateKind::kFixed) {
        return "quantity: " + std::to_string(line.quantity);
    }
    const std::string base = base_amount(frozen.base, line.amount, line.tax).to_string();
    if (frozen.base == BaseKind::kGross) {
        return "gross: " + base;
    }
    const bool below_zero = line.amount < line.tax;
    return "net: " + line.amount.to_string() + " - " + line.tax.to_string() +
           (below_zero ? ", below 0 counts as " : " = ") + base;
}

std::string refund_words(const OrderLine& line, const Decimal& refunded) {
    const std::string of = refunded.to_string() + " of " + line.amount.to_string() + ": ";
    switch (refund_effect(line.amount, refunded)) {
        case RefundEffect::kPartial:
            return of + "in proportion";
        case RefundEffect::kFull:
            return of + "in full, the line is disqualified";
        case RefundEffect::kExceeds:
            return of + "more than the line, counts as in full";
        case RefundEffect::kNone:
            break;
    }
    return "nothing refunded";
}

std::string calculation_words(const FrozenRate& frozen, const OrderLine& line,
                              const Decimal& refunded, Currency currency) {
    const bool fixed = frozen.rate.kind == RateKind::kFixed;
    std::string words = fixed ? std::to_string(line.quantity)
                              : base_amount(frozen.base, line.amount, line.tax).to_string();
    words += " x " + to_string(frozen.rate);
    if (refund_effect(line.amount, refunded) == RefundEffect::kPartial) {
        words += " x (1 - " + refunded.to_string() + " / " + line.amount.to_string() + ")";
    }
    return words + " = " + unrounded_commission(frozen, line, refunded, currency);
}

/// Why a line earns nothing whatever its rate says.
std::string nothing_words(const OrderState& order, const OrderLine& line, const Decimal& refunded) {
    if (!line.present) {
        return "0: the line is not in the newest payload";
    }
    if (order.cancelled_at) {
        return "0: the order is cancelled";
    }
    const RefundEffect effect = refund_effect(line.amount, refunded);
    if (effect == RefundEffect::kFull || effect == RefundEffect::kExceeds) {
        return "0: the line is refunded";
    }
    if (line.frozen->rate.kind == RateKind::kNone) {
        return "0: no rate matched";
    }
    if (line.frozen->rate.kind == RateKind::kFixed &&
        line.frozen->rate.currency != order.currency) {
        return "0: the frozen rate is in another currency than the order";
    }
    return {};
}

ExplainedLine explain_line(const OrderState& order, const OrderLine& line,
                           const StandingRefunds& refunds, LedgerReader& ledger) {
    ExplainedLine out;
    out.line = line;
    const Decimal refunded = refunds.amount(line.id);
    out.refund = refund_words(line, refunded);
    if (!line.frozen) {
        out.words = "no rate before the order has a creator";
        return out;
    }
    const FrozenRate& frozen = *line.frozen;
    out.rule = rule_words(order, frozen, ledger);
    out.rate = to_string(frozen.rate);
    out.base = base_words(frozen, line);
    out.words = nothing_words(order, line, refunded);
    if (out.words.empty()) {
        out.calculation = calculation_words(frozen, line, refunded, order.currency);
        out.rounding = "half to even, " + std::to_string(order.currency.minor_units()) +
                       " digits: " + line.commission.to_string() + " " +
                       std::string(order.currency.code());
    }
    return out;
}

// ---- Dues -------------------------------------------------------------------------------------

std::string due_words(const OrderState& order, const OrderDue& due, LedgerReader& ledger) {
    const std::string code(due.currency.code());
    const Decimal open = due.due - due.settled;
    std::string words = "due " + due.due.to_string() + " " + code;
    if (!due.manual.is_zero()) {
        words += " (" + due.manual.to_string() + " of it by hand)";
    }
    if (!due.settled.is_zero()) {
        words += ", " + due.settled.to_string() + " paid out";
    }
    if (order.paid && order.paid->currency == due.currency) {
        words += ", commission paid at " + order.paid->amount.to_string() + " in payout " +
                 order.paid->payout_id;
    }
    if (open.is_zero()) {
        return words;
    }
    if (order.paid) {
        return words + "; " + open.to_string() + " is an adjustment, payable at once";
    }
    const std::optional<ProgramRow> row = ledger.program(order.attribution->program);
    return words + "; its hold ends" +
           (row ? " " + row->program.hold_end(order.ordered_at).to_string() : "") +
           ": pending before that, payable from then on";
}

}  // namespace

Result<Explanation> explain_order(LedgerReader& ledger, const OrderKey& key) {
    Explanation out;
    const std::optional<ShopRow> shop = ledger.shop(key.shop);
    if (!shop || !ledger.load_order(key, out.order)) {
        return Error{ErrorCode::kNotFound, "the shop has no order " + key.order_id.str()};
    }
    out.shop = *shop;
    explain_events(out, ledger);
    explain_refunds(out);
    explain_attribution(out, ledger);
    const StandingRefunds refunds(out.order.refunds);
    for (const OrderLine& line : out.order.lines) {
        out.lines.push_back(explain_line(out.order, line, refunds, ledger));
    }
    out.journal = ledger.order_journal(out.order);
    for (const OrderDue& due : out.order.dues) {
        out.dues.push_back({due, due_words(out.order, due, ledger)});
    }
    return out;
}

}  // namespace sluice
