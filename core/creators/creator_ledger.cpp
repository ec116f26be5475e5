#include "core/creators/creator_ledger.hpp"

#include <algorithm>

#include "core/creators/words.hpp"
#include "core/explain/cause.hpp"
#include "core/explain/explain.hpp"
#include "core/journal/journal.hpp"
#include "core/json/value.hpp"
#include "core/ledger/account_rows.hpp"
#include "core/ledger/overview_rows.hpp"
#include "core/lists/overview.hpp"
#include "core/positions/open_amounts.hpp"
#include "core/programs/policy.hpp"
#include "core/rules/account.hpp"
#include "core/rules/rate_book.hpp"
#include "core/values/lookup.hpp"
#include "core/values/payee_mask.hpp"

namespace sluice {
namespace {

constexpr std::size_t kDates = 5;

}  // namespace

void CreatorLedger::check(AccountNumber account, const CreatorId& creator) const {
    if (account != scope_.account() || creator != scope_.creator()) {
        throw ForeignRow();
    }
}

bool CreatorLedger::is_own(const OrderState& order) const {
    const Position* const position = order.position();
    return order.key.account == scope_.account() && position != nullptr &&
           position->attribution.creator == scope_.creator();
}

std::optional<ShopNumber> CreatorLedger::shop_of(const ShopId& shop) {
    std::optional<ShopNumber> number;
    ledger_.scan_shops([&](const ShopRow& row) {
        if (row.account == scope_.account() && row.shop_id == shop) {
            number = row.shop;
        }
        return !number;
    });
    return number;
}

std::optional<OrderState> CreatorLedger::any_order(const ShopId& shop, const OrderId& id) {
    const std::optional<ShopNumber> number = shop_of(shop);
    OrderState state;
    const bool exists = number && ledger_.load_order({scope_.account(), *number, id}, state);
    return exists ? std::optional(std::move(state)) : std::nullopt;
}

std::optional<OrderState> CreatorLedger::own_order(const ShopId& shop, const OrderId& id) {
    std::optional<OrderState> found = any_order(shop, id);
    return found && is_own(*found) ? std::move(found) : std::nullopt;
}

const std::string& CreatorLedger::shop_name(ShopNumber shop) {
    const auto [name, added] = shops_.try_emplace(shop);
    if (added) {
        name->second = ledger_.shop_id(shop).str();
    }
    return name->second;
}

const std::string& CreatorLedger::number_of(const OrderKey& order) {
    const auto [number, added] = numbers_.try_emplace(order, order.order_id.str());
    OrderState state;
    if (added && ledger_.load_order(order, state) && is_or_was_of(state, scope_.creator()) &&
        !state.numbers.empty()) {
        number->second = state.numbers.front();
    }
    return number->second;
}

// ---- Home ---------------------------------------------------------------------------------------

std::vector<Balance> CreatorLedger::balances() {
    std::vector<Balance> rows;
    for (const ProgramRow& program : ledger_.programs(scope_.account())) {
        std::ranges::move(
            stored_balances(ledger_, scope_.account(), program.program.id, scope_.creator()),
            std::back_inserter(rows));
    }
    return rows;
}

void CreatorLedger::add_amounts(CreatorHome& home, Timestamp now) {
    const Policy policy = account_settings(ledger_, scope_.account()).policy;
    OpenTotals totals;
    std::map<Currency, CreatorAmounts> sums;
    for (const BalanceAt& row : balances_at(ledger_, scope_.account(), now, balances(), &totals)) {
        check(row.key.account, row.key.creator);
        const Currency currency = row.key.currency;
        const Decimal zero = zero_amount(currency);
        const CreatorAmounts none{std::string(currency.code()), zero, zero, zero, zero, zero};
        CreatorAmounts& sum = value_at(sums, currency, none);
        sum.pending += row.pending;
        sum.checked += row.blocked;
        sum.ready += row.payable;
        sum.on_its_way += row.in_payout;
        sum.paid += row.paid;
    }
    const auto days = clearing_days(ledger_, scope_.account(), totals);
    for (auto& [currency, sum] : sums) {
        if (const Decimal* const minimum = amount_in(policy.min_payout, currency)) {
            sum.minimum = *minimum;
        }
        for (auto day = days.lower_bound({currency, kFirstInstant});
             day != days.end() && day->first.first == currency && sum.dates.size() < kDates;
             ++day) {
            sum.dates.push_back({day_of_creator(day->first.second), day->second});
        }
        home.amounts.push_back(std::move(sum));
    }
}

void CreatorLedger::add_months(CreatorHome& home, Timestamp now) {
    constexpr int kMonths = 12;
    std::uint32_t month = month_of(now);
    for (int i = 0; i < kMonths; ++i, month = lists::month_before(month)) {
        std::map<Currency, StatementAmounts> sums;
        lists::scan_month(ledger_, scope_.account(), month, scope_.creator(),
                          [&](const MonthlySum& sum) {
                              check(sum.account, sum.creator);
                              sums[sum.currency] += sum;
                          });
        for (const auto& [currency, sum] : sums) {
            const Decimal zero = zero_amount(currency);
            home.months.push_back({month_text(month), std::string(currency.code()),
                                   zero + sum.earned, zero + sum.adjusted, zero + sum.paid_out});
        }
    }
}

void CreatorLedger::add_tiers(CreatorHome& home, Timestamp now) {
    for (const ProgramRow& row : ledger_.programs(scope_.account())) {
        const auto member = ledger_.membership(scope_.account(), row.program.id, scope_.creator());
        if (!member || member->removed) {
            continue;
        }
        std::map<Currency, Decimal> volumes;
        for (const Tier& tier : row.program.default_tiers) {
            const Currency currency = tier.from.currency;
            const auto [volume, added] = volumes.try_emplace(currency, zero_amount(currency));
            if (added) {
                TierVolume stored{scope_.account(), row.program.id, scope_.creator(), month_of(now),
                                  currency};
                if (ledger_.load(stored)) {
                    volume->second += stored.amount;
                }
            }
        }
        for (const auto& [currency, volume] : volumes) {
            const Tier* next = nullptr;
            for (const Tier& tier : row.program.default_tiers) {
                const bool is_ahead = tier.from.currency == currency && volume < tier.from.amount;
                next = is_ahead && (next == nullptr || tier.from.amount < next->from.amount) ? &tier
                                                                                             : next;
            }
            if (next != nullptr) {
                home.tiers.push_back({std::string(currency.code()), volume, next->from.amount,
                                      next->from.amount - volume, to_string(next->rate)});
            }
        }
    }
}

CreatorHome CreatorLedger::home(Timestamp now) {
    CreatorHome home;
    CreatorRow profile{scope_.account(), scope_.creator(), {}, {}, {}};
    if (ledger_.load(profile)) {
        check(profile.account, profile.creator);
        home.name = profile.name;
        home.payee = profile.payee.empty() ? "" : masked_payee(profile.payee);
        home.payee_since = day_of_creator(profile.payee_since);
    }
    add_amounts(home, now);
    add_months(home, now);
    add_tiers(home, now);
    const CreatorPayments newest = payments({}).value_or(CreatorPayments());
    for (const CreatorPayment& payment : newest.rows) {
        if (payment.paid_on) {
            home.last_payment = payment;
            break;
        }
    }
    return home;
}

// ---- Orders -------------------------------------------------------------------------------------

/// Says what made the order hers, among the candidates of the attribution.
void CreatorLedger::say_source(const OrderState& order, CreatorOrder& shown) const {
    shown.by = "HAND";
    const Attribution& attribution = order.position()->attribution;
    for (const Candidate& candidate : attribution.candidates) {
        if (candidate.program != attribution.program || candidate.creator != scope_.creator()) {
            continue;
        }
        if (candidate.type == AttributionType::kAffiliateCode) {
            shown.by = "CODE";
            shown.code = candidate.code;
            shown.link.reset();
            return;
        }
        if (shown.by != "LINK") {
            shown.by = "LINK";
            shown.link =
                candidate.link.empty() ? std::nullopt : std::optional(candidate.link.str());
        }
    }
}

std::optional<std::string> CreatorLedger::title_of(const OrderState& order, const OrderLine& line) {
    const auto product = find_product(order.key.account, order.key.shop, line, ledger_);
    const std::string title =
        product ? Json::from_text(product->json)["title"].cell() : std::string();
    return title.empty() ? std::nullopt : std::optional(title);
}

CreatorOrder CreatorLedger::order_of(const OrderState& order, OrderJudge& judge, Timestamp now) {
    const Money commission = commission_amount(order);
    CreatorOrder shown;
    shown.order = order.key.order_id.str();
    shown.number = order.numbers.empty() ? shown.order : order.numbers.front();
    shown.shop = shop_name(order.key.shop);
    shown.day = day_of_creator(order.ordered_at);
    say_source(order, shown);
    shown.commission = commission.amount;
    shown.currency = commission.currency.code();
    shown.state = creator_order_state(judge.status(order, now));
    if (commission.amount.is_zero() && !order.cancelled_at) {
        shown.state = to_string(order.refunds.empty() ? Cause::kEarnsNothing : Cause::kRefunded);
    }
    const auto program = ledger_.program(order.position()->attribution.program);
    if (shown.state == kCreatorPending && program) {
        shown.ready_on = day_of_creator(program->program.clears_at(order.ordered_at));
    }
    if (shown.state == kCreatorChecked) {
        shown.checked_since = day_of_creator(judge.blocked_since(order));
    }
    shown.payments = payments_of(order);
    return shown;
}

std::optional<CreatorOrders> CreatorLedger::orders(const std::optional<CreatorOrderPlace>& after,
                                                   Timestamp now) {
    lists::OrderListing listing{scope_.account()};
    listing.creator = scope_.creator();
    if (after) {
        const std::optional<OrderState> last = own_order(after->shop, after->order);
        if (!last) {
            return std::nullopt;
        }
        listing.after = {last->ordered_at, last->key.shop, last->key.order_id};
    }
    const auto places = lists::order_places(ledger_, listing, kCreatorPageRows + 1);
    OrderJudge judge(ledger_);
    CreatorOrders page;
    std::size_t seen = 0;
    lists::visit_places(ledger_, scope_.account(), places, [&](const OrderState& order) {
        if (!is_own(order)) {
            throw ForeignRow();
        }
        if (++seen > kCreatorPageRows) {
            return false;
        }
        if (!order.has(kOrderRejected)) {
            page.rows.push_back(order_of(order, judge, now));
        }
        return true;
    });
    if (places.size() > kCreatorPageRows) {
        const lists::OrderPlace& last = places[kCreatorPageRows - 1];
        page.next = {ShopId(shop_name(last.shop)), last.order_id};
    }
    return page;
}

std::optional<CreatorOrderDetail> CreatorLedger::order(const ShopId& shop, const OrderId& id,
                                                       Timestamp now) {
    const std::optional<OrderState> found = own_order(shop, id);
    if (!found || found->has(kOrderRejected)) {
        return std::nullopt;
    }
    const OrderState& state = *found;
    const auto explained = explain_order(ledger_, state.key);
    if (!explained.ok()) {
        return std::nullopt;
    }
    OrderJudge judge(ledger_);
    CreatorOrderDetail detail{order_of(state, judge, now), {}};
    for (const ExplainedLine& line : explained->lines) {
        // The words of `base` and `refund` would tell the line's tax.
        detail.lines.push_back({line.line.sku.str(), title_of(state, line.line), line.rate,
                                line.calculation.empty() ? line.words : line.calculation,
                                line.rounding, line.commission});
    }
    return detail;
}

// ---- Statement ----------------------------------------------------------------------------------

CreatorStatement CreatorLedger::statement(Timestamp from, Timestamp until) {
    CreatorStatement shown{.month = month_text(month_of(from))};
    const Statement read = read_statement(
        ledger_, scope_.account(), scope_.creator(), from, until,
        [&](const std::pair<const JournalGroup*, std::size_t>& at) {
            const JournalGroup& group = *at.first;
            const JournalEntry& entry = group.entries[at.second];
            check(group.account, group.creator);
            const Decimal owed = change_in(entry, LedgerAccount::kOwed);
            if (!owed.is_zero()) {  // the bank's settlement moves nothing that she is owed
                shown.entries.push_back(
                    {day_of_creator(group.accounting_date),
                     group.order_id.view().empty()
                         ? std::nullopt
                         : std::optional(number_of({group.account, group.shop, group.order_id})),
                     creator_entry_word(entry.reason), owed, std::string(entry.currency.code())});
            }
            return true;
        });
    shown.closed = read.is_closed;
    std::map<Currency, StatementSums> totals;
    for (const auto& [key, sums] : read.sums) {
        const Decimal zero = zero_amount(key.second);
        StatementSums& total =
            value_at(totals, key.second, StatementSums{zero, zero, zero, zero, zero});
        total.opening += sums.opening;
        total.earned += sums.earned;
        total.adjusted += sums.adjusted;
        total.paid_out += sums.paid_out;
        total.closing += sums.closing;
    }
    for (const auto& [currency, sums] : totals) {
        shown.sums.push_back({std::string(currency.code()), sums.opening, sums.earned,
                              sums.adjusted, sums.paid_out, sums.closing});
    }
    return shown;
}

}  // namespace sluice
