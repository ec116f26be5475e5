#include "core/rules/posting.hpp"

#include <algorithm>
#include <unordered_set>

#include "core/rules/commission.hpp"
#include "core/values/assert.hpp"

namespace sluice {
namespace {

using LineSet = std::unordered_set<std::string_view>;

LineSet set_of(const std::vector<LineItemId>& lines) {
    LineSet set;
    for (const LineItemId& line : lines) {
        set.insert(line.view());
    }
    return set;
}

class LinePoster {
public:
    LinePoster(OrderState& state, const PostingCause& cause)
        : state_(state),
          cause_(cause),
          new_lines_(cause.attributed ? LineSet() : set_of(cause.new_lines)),
          refunds_changed_(set_of(cause.refunds_changed)),
          refunds_(state.refunds) {}

    void book(OrderLine& line) {
        const Decimal before = line.commission;
        line.commission = earned(line);
        if (cause_.currency_before == state_.currency) {
            enter(line, state_.currency, line.commission - before);
        } else {
            enter(line, cause_.currency_before, Decimal() - before);
            enter(line, state_.currency, line.commission);
        }
    }

    [[nodiscard]] std::vector<JournalLine> take() && { return std::move(entries_); }

private:
    [[nodiscard]] Decimal earned(const OrderLine& line) const {
        if (!line.present || state_.cancelled_at) {
            return zero_amount(state_.currency);
        }
        SLUICE_ASSERT(line.frozen.has_value());
        return line_commission(*line.frozen, line, refunds_.amount(line.id), state_.currency);
    }

    [[nodiscard]] JournalReason reason(const OrderLine& line) const {
        if (cause_.attributed) {
            return *cause_.attributed;
        }
        if (new_lines_.contains(line.id.view())) {
            return JournalReason::kAccrual;
        }
        if (cause_.cancellation_changed) {
            return JournalReason::kCancellation;
        }
        return refunds_changed_.contains(line.id.view()) ? JournalReason::kRefund
                                                         : JournalReason::kUpdate;
    }

    void enter(const OrderLine& line, Currency currency, const Decimal& amount) {
        if (!amount.is_zero()) {
            entries_.push_back({line.id, currency, amount, reason(line)});
            add_due(state_, currency, amount);
        }
    }

    OrderState& state_;
    const PostingCause& cause_;
    LineSet new_lines_;
    LineSet refunds_changed_;
    StandingRefunds refunds_;
    std::vector<JournalLine> entries_;
};

}  // namespace

std::vector<LineItemId> freeze_rates(OrderState& state, const RateBook& rates,
                                     LedgerReader& ledger) {
    std::vector<LineItemId> frozen;
    for (OrderLine& line : state.lines) {
        if (line.frozen) {
            continue;
        }
        std::optional<CatalogRecord> product;
        if (rates.needs_product()) {
            product = find_product(state.key.account, state.key.shop, line, ledger);
        }
        line.frozen = rates.rate_for(line, product ? &*product : nullptr, state.currency);
        line.commission = zero_amount(state.currency);
        frozen.push_back(line.id);
    }
    return frozen;
}

std::vector<JournalLine> post_commissions(OrderState& state, const PostingCause& cause) {
    SLUICE_ASSERT(state.attribution.has_value());
    LinePoster booker(state, cause);
    for (OrderLine& line : state.lines) {
        booker.book(line);
    }
    return std::move(booker).take();
}

void add_due(OrderState& state, Currency currency, const Decimal& amount) {
    for (OrderDue& due : state.dues) {
        if (due.currency == currency) {
            due.due = due.due + amount;
            return;
        }
    }
    const Decimal zero = zero_amount(currency);
    state.dues.push_back({currency, zero + amount, zero, zero});
}

std::vector<OpenAmount> open_amounts(const OrderState& state) {
    std::vector<OpenAmount> rows;
    if (!state.attribution) {
        return rows;
    }
    for (const OrderDue& due : state.dues) {
        const Decimal open = due.due - due.settled;
        if (!open.is_zero()) {
            rows.push_back({state.key.account, state.attribution->program, state.paid.has_value(),
                            state.ordered_at, state.key.shop, state.key.order_id, due.currency,
                            state.attribution->creator, open});
        }
    }
    return rows;
}

CommissionAmount commission_amount(const OrderState& state) {
    if (state.paid) {
        return {state.paid->currency, state.paid->amount};
    }
    for (const OrderDue& due : state.dues) {
        if (due.currency == state.currency) {
            return {due.currency, due.due};
        }
    }
    return {state.currency, zero_amount(state.currency)};
}

}  // namespace sluice
