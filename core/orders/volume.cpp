#include "core/orders/volume.hpp"

#include <algorithm>
#include <map>
#include <string>
#include <tuple>
#include <unordered_set>
#include <utility>
#include <vector>

#include "core/ledger/head.hpp"
#include "core/orders/left_work.hpp"
#include "core/rules/commission.hpp"
#include "core/rules/order_book.hpp"
#include "core/rules/tiers.hpp"

namespace sluice {
namespace {

/// Returns the amount with the currency's digits, and more only if they are not 0: sums of the same
/// amounts have one text, whatever the order of their terms.
Decimal plain(const Decimal& amount, Currency currency) {
    Int128 unscaled = amount.unscaled();
    std::uint8_t scale = amount.scale();
    for (; scale > currency.minor_units() && unscaled % 10 == 0; --scale) {
        unscaled /= 10;
    }
    const Decimal shortest(unscaled, scale);
    return scale < currency.minor_units() ? shortest.rescaled(currency.minor_units()) : shortest;
}

/// A closed month keeps the tiers that its orders have.
bool is_open(std::uint32_t month, AccountNumber account, ProgramCache& programs,
             LedgerReader& ledger) {
    const auto& closed_until = programs.settings(ledger, account).row.closed_until;
    return !closed_until || *closed_until < end_of_month(month);
}

bool is_same_month(const TierVolume& a, const TierVolume& b) {
    return a.program == b.program && a.creator == b.creator && a.month == b.month &&
           a.currency == b.currency;
}

/// The volumes that one order changes.
class VolumeChange {
public:
    VolumeChange(const OrderState& state, const Source& source, ProgramCache& programs,
                 LedgerTxn& txn)
        : state_(state), source_(source), programs_(programs), txn_(txn) {}

    /// @param comes  An order of another month or currency of the creator comes into this one, with
    /// the tiers that it had there.
    void add(const TierVolume& to, const Decimal& amount, bool comes) {
        if (amount.is_zero() && !comes) {
            return;
        }
        TierVolume stored = to;
        const Decimal before = txn_.load(stored) ? stored.amount : Decimal();
        stored = to;
        stored.amount = before + amount;
        if (stored.amount.is_zero()) {
            txn_.erase(stored);
        } else {
            txn_.put(stored);
        }
        const RateBook& rates = programs_.rates(txn_, state_.key, to.program);
        if ((comes && rates.program().rates_by_month()) ||
            rates.is_tier_between(to.currency, before, stored.amount)) {
            leave_work(to);
        }
    }

    /// Each order has a place for its time of sale.
    void list(const VolumeBefore& before, const VolumeBefore& after) {
        const auto was = before ? before->listed : std::nullopt;
        const auto is = after ? after->listed : std::nullopt;
        if (was == is) {
            return;
        }
        if (was) {
            txn_.erase(*was);
        }
        if (is) {
            txn_.put(*is);
        }
    }

private:
    void leave_work(const TierVolume& of) {
        if (!is_open(of.month, of.account, programs_, txn_)) {
            return;
        }
        Work work = new_work(WorkKind::kTiers, {of.account, WaitKind::kAnon, {}}, source_, txn_);
        work.program = of.program;
        work.creator = of.creator;
        work.month = of.month;
        work.reason.clear();  // the entries name the volume
        txn_.put(work);
    }

    const OrderState& state_;
    const Source& source_;
    ProgramCache& programs_;
    LedgerTxn& txn_;
};

/// Returns the place of the order among those of its creator's month.
TierOrder tier_order(const OrderState& state) {
    const Attribution& attribution = state.position()->attribution;
    return {state.key.account, attribution.program, attribution.creator, month_of(state.ordered_at),
            state.ordered_at,  state.key.shop,      state.key.order_id};
}

/// Returns kReturning if the ledger has an earlier order of the same customer. Requires: the
/// order's own row is as it was before the input.
CustomerKind customer_kind(const OrderState& state, LedgerReader& ledger) {
    if (!state.customer) {
        return CustomerKind::kUnknown;
    }
    CustomerKind kind = CustomerKind::kNew;
    ledger.scan(CustomerOrder{state.key.account, state.key.shop, *state.customer}, {3, 3},
                [&](const CustomerOrder& row) {
                    if (row.order_id == state.key.order_id) {
                        return true;
                    }
                    if (std::pair(row.ordered_at, row.order_id) <
                        std::pair(state.ordered_at, state.key.order_id)) {
                        kind = CustomerKind::kReturning;
                    }
                    return false;  // the first other one is the earliest
                });
    return kind;
}

}  // namespace

void visit_orders(AccountNumber account, LedgerReader& ledger,
                  const std::function<void(const OrderState&)>& visit) {
    std::vector<ShopNumber> shops;
    ledger.scan_shops([&](const ShopRow& shop) {
        if (shop.account == account) {
            shops.push_back(shop.shop);
        }
    });
    for (const ShopNumber shop : shops) {
        ledger.scan_orders(account, shop, visit);
    }
}

Decimal net_sales(const OrderState& state) {
    Decimal sum;
    if (!state.earns()) {
        return sum;
    }
    for (const OrderLine& line : state.lines) {
        if (!line.present) {
            continue;
        }
        const RefundRow* refund = effective_row(state.refunds, line.id);
        const RefundEffect effect =
            refund == nullptr ? RefundEffect::kNone : refund_effect(line.amount, refund->amount);
        Decimal net = line.amount - line.tax;
        if (effect == RefundEffect::kPartial) {
            net -= std::max(Decimal(), refund->amount - refund->tax);
        }
        if (effect == RefundEffect::kNone || effect == RefundEffect::kPartial) {
            sum = net.is_negative() ? sum : sum + net;
        }
    }
    return sum;
}

VolumeBefore counted_volume(const OrderState& state, ProgramCache& programs, LedgerReader& ledger) {
    if (!state.live) {
        return std::nullopt;
    }
    const Attribution& attribution = state.position()->attribution;
    const Program& program = programs.rates(ledger, state.key, attribution.program).program();
    if (!program.has_tiers()) {
        return std::nullopt;
    }
    CountedVolume counted{{state.key.account, attribution.program, attribution.creator,
                           month_of(state.ordered_at), state.currency, net_sales(state)}};
    if (program.rates_by_month()) {
        counted.listed = tier_order(state);
    }
    return counted;
}

void count_volume(const OrderState& state, const VolumeBefore& before, const Source& source,
                  ProgramCache& programs, LedgerTxn& txn) {
    const VolumeBefore after = counted_volume(state, programs, txn);
    if (!before && !after) {
        return;
    }
    VolumeChange change(state, source, programs, txn);
    change.list(before, after);
    if (before && after && is_same_month(before->volume, after->volume)) {
        change.add(after->volume, after->volume.amount - before->volume.amount, false);
        return;
    }
    if (before) {
        change.add(before->volume, -before->volume.amount, false);
    }
    if (after) {
        const bool is_its = before && before->volume.program == after->volume.program &&
                            before->volume.creator == after->volume.creator;
        change.add(after->volume, after->volume.amount, is_its);
    }
}

CustomerBefore indexed_customer(const OrderState& state) {
    return state.customer
               ? std::optional(CustomerOrder{state.key.account, state.key.shop, *state.customer,
                                             state.ordered_at, state.key.order_id})
               : std::nullopt;
}

void index_customer(const OrderState& state, const CustomerBefore& before, ProgramCache& programs,
                    LedgerTxn& txn) {
    if ((!before && !state.customer) || !programs.asks_for_customer(txn, state.key.account)) {
        return;
    }
    const CustomerBefore after = indexed_customer(state);
    if (before && after && before->customer == after->customer &&
        before->ordered_at == after->ordered_at) {
        return;
    }
    if (before) {
        txn.erase(*before);
    }
    if (after) {
        txn.put(*after);
    }
}

void count_volumes(const Program& program, LedgerTxn& txn) {
    txn.erase_all(TierVolume{.account = program.account, .program = program.id}, {2, 2});
    using Key = std::tuple<CreatorId, std::uint32_t, Currency>;
    std::map<Key, Decimal> sums;
    visit_orders(program.account, txn, [&](const OrderState& state) {
        const Position* position = state.position();
        if (position != nullptr && position->attribution.program == program.id) {
            sums[{position->attribution.creator, month_of(state.ordered_at), state.currency}] +=
                net_sales(state);
        }
    });
    for (const auto& [key, sum] : sums) {
        if (!sum.is_zero()) {
            txn.put(TierVolume{program.account, program.id, std::get<0>(key), std::get<1>(key),
                               std::get<2>(key), sum});
        }
    }
}

void list_tier_orders(const Program& program, LedgerTxn& txn) {
    if (!program.rates_by_month()) {
        txn.erase_all(TierOrder{.account = program.account, .program = program.id}, {2, 2});
        return;
    }
    std::vector<TierOrder> rows;
    visit_orders(program.account, txn, [&](const OrderState& state) {
        if (state.live && state.position()->attribution.program == program.id) {
            rows.push_back(tier_order(state));
        }
    });
    for (const TierOrder& row : rows) {
        txn.put(row);
    }
}

void index_customers(AccountNumber account, LedgerTxn& txn) {
    txn.erase_all(CustomerOrder{.account = account}, {1, 1});
    std::vector<CustomerOrder> rows;
    visit_orders(account, txn, [&rows](const OrderState& state) {
        if (const CustomerBefore row = indexed_customer(state)) {
            rows.push_back(*row);
        }
    });
    for (const CustomerOrder& row : rows) {
        txn.put(row);
    }
}

namespace {

bool has_new_line(const OrderState& state) {
    std::unordered_set<std::string_view> frozen;
    for (const FrozenLine& line : state.position()->frozen) {
        frozen.insert(line.line.view());
    }
    return std::ranges::any_of(state.lines, [&frozen](const OrderLine& line) {
        return line.present && !frozen.contains(line.id.view());
    });
}

/// Whether a version by which lines were frozen asked for customers: the customer was frozen then,
/// also as unknown.
bool asked_for_customer(const Position& position, LedgerReader& ledger) {
    std::uint32_t known = 0;
    for (const FrozenLine& line : position.frozen) {
        if (line.rate.program_version == known) {
            continue;
        }
        known = line.rate.program_version;
        const auto version = ledger.program_version(position.attribution.program, known);
        if (version && version->program.asks_for_customer()) {
            return true;
        }
    }
    return false;
}

/// Returns the volume of the position's creator in the month of the order, without the order.
Money volume_without(const OrderState& state, const Attribution& attribution,
                     const VolumeBefore& own, LedgerReader& ledger) {
    TierVolume volume{state.key.account, attribution.program, attribution.creator,
                      month_of(state.ordered_at), state.currency};
    const TierVolume key = volume;
    Decimal amount = ledger.load(volume) ? volume.amount : Decimal();
    if (own && is_same_month(own->volume, key)) {
        amount -= own->volume.amount;
    }
    return {state.currency, amount};
}

/// Returns the volume that chooses the order's tier now.
Money rating_volume(const OrderState& state, const Attribution& attribution, const Program& program,
                    const VolumeBefore& own, LedgerReader& ledger) {
    const Money others = volume_without(state, attribution, own, ledger);
    return program.rates_by_month()
               ? Money{others.currency, plain(others.amount + net_sales(state), others.currency)}
               : others;
}

}  // namespace

void complete_facts(OrderState& state, const VolumeBefore& own, ProgramCache& programs,
                    LedgerReader& ledger) {
    Position& position = *state.position();
    const Attribution& attribution = position.attribution;
    const Program& program = programs.rates(ledger, state.key, attribution.program).program();
    const bool lacks_volume =
        program.has_tiers() &&
        (!position.facts.volume ||
         (program.rates_by_month() &&
          is_open(month_of(state.ordered_at), state.key.account, programs, ledger)));
    const bool lacks_customer = program.asks_for_customer() && state.customer &&
                                position.facts.customer == CustomerKind::kUnknown;
    if ((!lacks_volume && !lacks_customer) || !has_new_line(state)) {
        return;
    }
    if (lacks_volume) {
        position.facts.volume = rating_volume(state, attribution, program, own, ledger);
    }
    if (lacks_customer && !asked_for_customer(position, ledger)) {
        position.facts.customer = customer_kind(state, ledger);
    }
}

FrozenFacts frozen_facts(const OrderState& state, const Attribution& attribution,
                         ProgramCache& programs, LedgerReader& ledger) {
    const Program& program = programs.rates(ledger, state.key, attribution.program).program();
    FrozenFacts facts{.caps = program.max_per_order};
    if (program.has_tiers()) {
        facts.volume = rating_volume(state, attribution, program, {}, ledger);
    }
    if (program.asks_for_customer()) {
        facts.customer = customer_kind(state, ledger);
    }
    const std::optional<Membership> member =
        ledger.membership(state.key.account, attribution.program, attribution.creator);
    facts.group = member && !member->removed ? member->group : std::string();
    return facts;
}

void rate_again(OrderState& state, ProgramCache& programs, LedgerReader& ledger) {
    Position& position = *state.position();
    const Attribution& attribution = position.attribution;
    const Program& program = programs.rates(ledger, state.key, attribution.program).program();
    if (program.rates_by_month() &&
        is_open(month_of(state.ordered_at), state.key.account, programs, ledger)) {
        MonthTiers(program.id, ledger)
            .rate(position, rating_volume(state, attribution, program, {}, ledger));
    }
}

Money stored_volume(TierVolume key, LedgerReader& ledger) {
    const Currency currency = key.currency;
    const Decimal amount = ledger.load(key) ? key.amount : Decimal();
    return {currency, plain(amount, currency)};
}

}  // namespace sluice
