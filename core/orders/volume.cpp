#include "core/orders/volume.hpp"

#include <algorithm>
#include <map>
#include <string>
#include <tuple>
#include <unordered_set>
#include <utility>
#include <vector>

#include "core/ledger/account_rows.hpp"
#include "core/rules/commission.hpp"
#include "core/rules/order_book.hpp"

namespace sluice {
namespace {

void add(TierVolume volume, bool minus, LedgerTxn& txn) {
    TierVolume stored = volume;
    const Decimal before = txn.load(stored) ? stored.amount : Decimal();
    stored = volume;
    stored.amount = minus ? before - volume.amount : before + volume.amount;
    if (stored.amount.is_zero()) {
        txn.erase(stored);
    } else {
        txn.put(stored);
    }
}

/// Returns kReturning if the ledger has an earlier order of the same customer. Requires: the
/// order's own row is as it was before the input.
CustomerKind customer_kind(const OrderState& state, LedgerReader& ledger) {
    if (!state.customer) {
        return CustomerKind::kUnknown;
    }
    CustomerKind kind = CustomerKind::kNew;
    ledger.scan(CustomerOrder{state.key.account, state.key.shop, *state.customer, {}, {}}, {3, 3},
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
        const RefundRow* refund = standing_row(state.refunds, line.id);
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
    return TierVolume{state.key.account,          attribution.program, attribution.creator,
                      month_of(state.ordered_at), state.currency,      net_sales(state)};
}

void count_volume(const OrderState& state, const VolumeBefore& before, ProgramCache& programs,
                  LedgerTxn& txn) {
    const VolumeBefore after = counted_volume(state, programs, txn);
    if (before && !before->amount.is_zero()) {
        add(*before, true, txn);
    }
    if (after && !after->amount.is_zero()) {
        add(*after, false, txn);
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
    std::vector<TierVolume> old;
    TierVolume first;
    first.account = program.account;
    first.program = program.id;
    txn.scan(first, {2, 2}, [&old](const TierVolume& row) { old.push_back(row); });
    for (const TierVolume& row : old) {
        txn.erase(row);
    }
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

void index_customers(AccountNumber account, LedgerTxn& txn) {
    std::vector<CustomerOrder> rows;
    CustomerOrder first;
    first.account = account;
    txn.scan(first, {1, 1}, [&rows](const CustomerOrder& row) { rows.push_back(row); });
    for (const CustomerOrder& row : rows) {
        txn.erase(row);
    }
    rows.clear();
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
    return std::any_of(state.lines.begin(), state.lines.end(), [&frozen](const OrderLine& line) {
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
    TierVolume volume{state.key.account,          attribution.program, attribution.creator,
                      month_of(state.ordered_at), state.currency,      {}};
    Decimal amount = ledger.load(volume) ? volume.amount : Decimal();
    if (own && own->program == volume.program && own->creator == volume.creator &&
        own->month == volume.month && own->currency == volume.currency) {
        amount -= own->amount;
    }
    return {state.currency, amount};
}

}  // namespace

void complete_facts(OrderState& state, const VolumeBefore& own, ProgramCache& programs,
                    LedgerReader& ledger) {
    Position& position = *state.position();
    const Attribution& attribution = position.attribution;
    const Program& program = programs.rates(ledger, state.key, attribution.program).program();
    const bool lacks_volume = program.has_tiers() && !position.facts.volume;
    const bool lacks_customer = program.asks_for_customer() && state.customer &&
                                position.facts.customer == CustomerKind::kUnknown;
    if ((!lacks_volume && !lacks_customer) || !has_new_line(state)) {
        return;
    }
    if (lacks_volume) {
        position.facts.volume = volume_without(state, attribution, own, ledger);
    }
    if (lacks_customer && !asked_for_customer(position, ledger)) {
        position.facts.customer = customer_kind(state, ledger);
    }
}

FrozenFacts frozen_facts(const OrderState& state, const Attribution& attribution,
                         ProgramCache& programs, LedgerReader& ledger) {
    const Program& program = programs.rates(ledger, state.key, attribution.program).program();
    FrozenFacts facts;
    facts.caps = program.max_per_order;
    if (program.has_tiers()) {
        facts.volume = volume_without(state, attribution, {}, ledger);
    }
    if (program.asks_for_customer()) {
        facts.customer = customer_kind(state, ledger);
    }
    const std::optional<Membership> member =
        ledger.membership(state.key.account, attribution.program, attribution.creator);
    facts.group = member ? member->group : std::string();
    return facts;
}

}  // namespace sluice
