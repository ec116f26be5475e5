#include "core/explain/explain.hpp"

#include <span>
#include <unordered_map>
#include <utility>

#include "core/explain/node_names.hpp"
#include "core/explain/rule_words.hpp"
#include "core/journal/journal.hpp"
#include "core/ledger/payout_rows.hpp"
#include "core/ledger/rows.hpp"
#include "core/positions/open_amounts.hpp"
#include "core/rules/account.hpp"
#include "core/rules/commission.hpp"
#include "core/rules/order_book.hpp"
#include "core/rules/pricing.hpp"
#include "core/rules/soundness.hpp"
#include "core/statements/statements.hpp"
#include "core/values/lookup.hpp"
#include "core/values/texts.hpp"

namespace sluice {
namespace {

// ---- Events -----------------------------------------------------------------------------------

std::string words_of(const EventTrace& trace, bool is_first) {
    if (trace.topic == Topic::kOrderDelete) {
        return trace.decision == EventDecision::kApplied
                   ? "applied: the platform deleted the order, which cancels it"
                   : "stale: the platform deleted an earlier version than the stored one";
    }
    std::string words = trace.decision == EventDecision::kApplied
                            ? is_first ? "applied: the first event of the order"
                                       : "applied: its payload replaced the order"
                            : "stale: older than the stored version, so only its refund rows count";
    if (trace.cancelled) {
        words += trace.decision == EventDecision::kApplied &&
                         (trace.anomalies & bit(AnomalyKind::kCancelNotLater)) == 0
                     ? "; it cancels the order"
                     : "; it does not cancel the order";
    }
    return words;
}

std::vector<AnomalyKind> anomalies_of(std::uint32_t bits) {
    std::vector<AnomalyKind> kinds;
    each_kind(bits, [&kinds](AnomalyKind kind) { kinds.push_back(kind); });
    return kinds;
}

void explain_events(Explanation& out, LedgerReader& ledger) {
    const NodeNames nodes(ledger);
    out.many_nodes = nodes.count() > 1;
    const auto add = [&](const EventTrace& trace) {
        out.events.push_back({trace, nodes.of(trace.node), words_of(trace, out.events.empty()),
                              anomalies_of(trace.anomalies)});
    };
    for (const EventTrace& trace : out.order.events) {
        add(trace);
    }
    if (out.order.events_count > out.order.events.size()) {
        ledger.scan_events(out.order.key, add);
    }
}

// ---- Refunds ----------------------------------------------------------------------------------

void explain_refunds(Explanation& out, const EffectiveRefunds& refunds) {
    for (const RefundRow& row : out.order.refunds) {
        const RefundRow* standing = refunds.rows().at(row.line.view());
        const bool stands = standing == &row;
        out.refunds.push_back(
            {row, stands,
             stands ? "counts"
                    : "does not count: " + standing->id.str() + " of the same line is newer"});
    }
}

// ---- Attribution ------------------------------------------------------------------------------

/// Names the attributing input: `input 7`, with its node if there are several.
std::string input_words(const Explanation& out, const Attribution& attribution) {
    const std::string words = "input " + std::to_string(attribution.cause.value);
    for (const ExplainedEvent& event : out.events) {
        if (out.many_nodes && event.trace.seq == attribution.cause &&
            event.trace.received_at == attribution.at) {
            return words + " of node " + event.node;
        }
    }
    return words;
}

void explain_attribution(Explanation& out, LedgerReader& ledger) {
    if (!out.order.live) {
        out.attribution =
            out.order.has(kOrderBarred)
                ? "detached: nothing but attribute or detach --retry gives it a creator"
                : "no creator yet: tried again at every later event, import and program file";
        out.candidates = candidates_now(out.order, ledger);
        return;
    }
    const Attribution& attribution = out.order.position()->attribution;
    out.creator = shown_id(ledger, out.order.key.account, attribution.creator).str();
    out.attribution = "creator " + out.creator + " of program " + attribution.program.str() +
                      " by " + joined(attribution_type_names(attribution.types), " and ") +
                      ", since " +
                      (attribution.command_id.empty()       ? input_words(out, attribution)
                       : is_clicks(attribution.cause_topic) ? "clicks " + attribution.command_id
                                                            : "command " + attribution.command_id) +
                      " (" + std::string(to_string(attribution.cause_topic)) + ") of " +
                      attribution.at.to_string();
    out.candidates = candidates_then(out.order, ledger);
}

// ---- Lines ------------------------------------------------------------------------------------

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

/// Returns what a refund in proportion leaves of a line, or an empty string.
std::string refund_factor(const OrderLine& line, const Decimal& refunded) {
    return refund_effect(line.amount, refunded) == RefundEffect::kPartial
               ? " x (1 - " + refunded.to_string() + " / " + line.amount.to_string() + ")"
               : "";
}

std::string calculation_words(const FrozenRate& frozen, const OrderLine& line,
                              const Decimal& refunded, Currency currency) {
    const bool fixed = frozen.rate.kind == RateKind::kFixed;
    return (fixed ? std::to_string(line.quantity)
                  : base_amount(frozen.base, line.amount, line.tax).to_string()) +
           " x " + to_string(frozen.rate) + refund_factor(line, refunded) + " = " +
           unrounded_commission(frozen, line, refunded, currency);
}

/// Returns why a line earns nothing whatever its rate, or an empty string.
std::string nothing_words(const OrderState& order, const OrderLine& line, const FrozenRate& frozen,
                          const Decimal& refunded) {
    if (!line.present) {
        return "0: the line is not in the newest payload";
    }
    if (order.has(kOrderRejected)) {
        return "0: the order is rejected";
    }
    if (order.cancelled_at) {
        return "0: the order is cancelled";
    }
    const RefundEffect effect = refund_effect(line.amount, refunded);
    if (effect == RefundEffect::kFull || effect == RefundEffect::kExceeds) {
        return "0: the line is refunded";
    }
    if (frozen.rate.kind == RateKind::kNone) {
        return "0: no rate matched";
    }
    if (frozen.rate.kind != RateKind::kPercent && frozen.rate.currency != order.currency) {
        return "0: the frozen rate is in another currency than the order";
    }
    return {};
}

Decimal accrued_by_hand(const Position& position, Currency currency) {
    for (const LineAccrual& accrual : position.accruals) {
        if (accrual.line.empty() && accrual.currency == currency) {
            return accrual.accrued;
        }
    }
    return zero_amount(currency);
}

/// Explains the lines of one order. Builds its indices once, so that the time is linear in lines.
class LineExplainer {
public:
    LineExplainer(const OrderState& order, const EffectiveRefunds& refunds, LedgerReader& ledger)
        : order_(order),
          position_(order.position()),
          refunds_(refunds),
          ledger_(ledger),
          programs_(ledger) {
        if (position_ == nullptr) {
            return;
        }
        frozen_.emplace(std::span(position_->frozen));
        shares_ = shared_words(order, *position_);
        for (const LineAccrual& accrual : position_->accruals) {
            if (accrual.currency == order.currency) {
                accrued_.emplace(accrual.line.view(), &accrual.accrued);
            }
        }
    }

    ExplainedLine explain(std::size_t index) {
        ExplainedLine out;
        const OrderLine& line = order_.lines[index];
        out.line = line;
        out.commission = zero_amount(order_.currency);
        const Decimal refunded = refunds_.amount(line.id);
        out.refund = refund_words(line, refunded);
        const FrozenLine* found = frozen_ ? frozen_->find(line.id.view(), index) : nullptr;
        if (found == nullptr) {
            out.words = "no rate before the order has a creator";
            return out;
        }
        const FrozenRate& frozen = found->rate;
        const auto accrued = accrued_.find(line.id.view());
        out.commission = accrued == accrued_.end() ? out.commission : *accrued->second;
        out.rule =
            rule_words(*position_, frozen, programs_) +
            product_words(order_, line, frozen,
                          programs_.version(position_->attribution.program, frozen.program_version),
                          ledger_);
        out.rate = to_string(frozen.rate);
        out.base = base_words(frozen, line);
        out.words = nothing_words(order_, line, frozen, refunded);
        if (out.words.empty()) {
            const std::string& share = shares_[index];
            out.calculation = share.empty()
                                  ? calculation_words(frozen, line, refunded, order_.currency)
                                  : "share " + share + refund_factor(line, refunded);
            out.rounding = "half to even, " + std::to_string(order_.currency.minor_units()) +
                           " digits: " + out.commission.to_string() + " " +
                           std::string(order_.currency.code());
        }
        return out;
    }

private:
    const OrderState& order_;
    const Position* position_;
    const EffectiveRefunds& refunds_;
    LedgerReader& ledger_;
    ProgramVersions programs_;
    std::optional<ByLine<const FrozenLine, &FrozenLine::line>> frozen_;
    std::vector<std::string> shares_;  ///< By line.
    /// By line, in the order's currency.
    std::unordered_map<std::string_view, const Decimal*> accrued_;
};

// ---- Accruals -----------------------------------------------------------------------------------

std::string accrual_words(const OrderState& order, const Position& position,
                          const ExplainedAccrual& accrual, LedgerReader& ledger) {
    const std::string code(accrual.currency.code());
    const Decimal open = accrual.accrued - accrual.allocated;
    std::string words = "accrued " + accrual.accrued.to_string() + " " + code + " to " +
                        accrual.creator + " in " + accrual.program;
    if (!accrual.manual.is_zero()) {
        words += " (" + accrual.manual.to_string() + " of it by hand)";
    }
    if (!accrual.allocated.is_zero()) {
        words += ", " + accrual.allocated.to_string() + " allocated to payouts";
    }
    if (open.is_zero()) {
        return words;
    }
    words += "; " + open.to_string() + " open, ";
    if (has_active_payout(position)) {
        return words + "payable at once";
    }
    const std::optional<ProgramRow> row = ledger.program(position.attribution.program);
    words += "it clears" + (row ? " " + row->program.clears_at(order.ordered_at).to_string() : "") +
             ": pending before that, payable from then on";
    const bool is_back_dated =
        row && row->program.clears_at(order.ordered_at) < position.last_posted;
    return words + (is_back_dated ? "; posted at " + position.last_posted.to_string() +
                                        ", so a payout close until a later time pays it"
                                  : "");
}

void explain_accruals(Explanation& out, LedgerReader& ledger) {
    for (const Position& position : out.order.positions) {
        for (const Currency currency : currencies_of(position)) {
            ExplainedAccrual accrual;
            accrual.program = position.attribution.program.str();
            accrual.creator =
                shown_id(ledger, out.order.key.account, position.attribution.creator).str();
            accrual.currency = currency;
            accrual.is_live = &position == out.order.position();
            accrual.accrued = accrued_in(position, currency);
            accrual.manual = accrued_by_hand(position, currency);
            accrual.allocated = allocated_in(position, currency);
            accrual.words = accrual_words(out.order, position, accrual, ledger);
            out.accruals.push_back(std::move(accrual));
        }
    }
}

// ---- Payouts, blocks, device --------------------------------------------------------------------

void explain_payouts(Explanation& out, LedgerReader& ledger) {
    PayoutNodes nodes(ledger);
    for (const Position& position : out.order.positions) {
        for (const PositionPayout& allocated : position.payouts) {
            Payout stored{.payout_id = allocated.payout_id};
            ExplainedPayout payout{
                .payout_id = allocated.payout_id,
                .state = std::string(ledger.load(stored) ? to_string(stored.state) : "MISSING"),
                .program = position.attribution.program.str(),
                .creator =
                    shown_id(ledger, out.order.key.account, position.attribution.creator).str(),
                .node = nodes.of(allocated.payout_id),
                .currency = allocated.currency,
                .amount = allocated.amount,
                .is_active = allocated.active,
                .closed_at = stored.closed_at,
                .sent_at = stored.sent_at,
                .ended_at = stored.ended_at};
            const PayoutItem first{.payout_id = allocated.payout_id,
                                   .program = position.attribution.program,
                                   .shop_id = out.shop.shop_id,
                                   .order_id = out.order.key.order_id};
            ledger.scan(first, {4, 4},
                        [&payout](const PayoutItem& item) { payout.items.push_back(item); });
            out.payouts.push_back(std::move(payout));
        }
    }
}

void explain_device(Explanation& out) {
    if (!out.order.device) {
        return;
    }
    out.device = "device id of version " + out.order.device_version.to_string();
    if (out.order.device_version < out.order.version) {
        out.device += ", kept since the newest payload has none";
    }
}

}  // namespace

Result<Explanation> explain_order(LedgerReader& ledger, const OrderKey& key) {
    Explanation out;
    const std::optional<ShopRow> shop = ledger.shop(key.shop);
    if (!shop || !load_sound_order(ledger, key, out.order)) {
        return not_found("the shop has no order " + key.order_id.str());
    }
    out.shop = *shop;
    explain_events(out, ledger);
    const EffectiveRefunds refunds(out.order.refunds);
    explain_refunds(out, refunds);
    explain_attribution(out, ledger);
    LineExplainer lines(out.order, refunds, ledger);
    for (std::size_t i = 0; i < out.order.lines.size(); ++i) {
        out.lines.push_back(lines.explain(i));
    }
    out.journal = ledger.order_journal(out.order);
    explain_accruals(out, ledger);
    explain_payouts(out, ledger);
    explain_device(out);
    out.blocked_by = OrderJudge(ledger).blocked_by(out.order);
    return out;
}

}  // namespace sluice
