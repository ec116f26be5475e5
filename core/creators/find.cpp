// CreatorLedger::find(): why an order is, or is not, a creator's.
#include <algorithm>

#include "core/creators/creator_ledger.hpp"
#include "core/creators/words.hpp"
#include "core/explain/cause.hpp"
#include "core/ledger/list_rows.hpp"
#include "core/lists/silence.hpp"
#include "core/protocol/order_numbers.hpp"
#include "core/values/texts.hpp"

namespace sluice {
namespace {

constexpr std::size_t kOrdersReadMax = 500;  ///< Without a number.
constexpr std::size_t kOrdersOfNumberMax = 20;
constexpr std::int64_t kDaysApart = 1;  ///< A creator's day may be that of another time zone.

/// Returns whether day and total were given, and are those of the order.
bool fits(const OrderState& order, const MissedOrder& missed) {
    if (!missed.day || !missed.total) {
        return false;
    }
    const Timestamp sold_on = start_of_day(order.ordered_at);
    const auto amount = Decimal::parse(order.amount);
    return missed.day->plus_days(-kDaysApart) <= sold_on &&
           sold_on <= missed.day->plus_days(kDaysApart) && amount && *amount == *missed.total;
}

/// A shop may show `#1001` for the order 1001.
std::string without_mark(std::string_view number) {
    std::string text;
    std::ranges::copy_if(number, std::back_inserter(text),
                         [](char c) { return c != '#' && c != ' '; });
    return text;
}

/// Returns whether the number was given that only those know whom the shop showed the order.
bool is_confirmed(const OrderState& order, const MissedOrder& missed) {
    return missed.number && !order.confirmation_number.empty() &&
           order_number_digest(*missed.number) == order_number_digest(order.confirmation_number);
}

}  // namespace

bool CreatorLedger::answers(const OrderState& order, const MissedOrder& missed) {
    return is_or_was_of(order, scope_.creator()) || has_code_of(ledger_, order, scope_.creator()) ||
           (missed.number && fits(order, missed)) || is_confirmed(order, missed);
}

std::vector<OrderState> CreatorLedger::orders_called(const ShopId& shop,
                                                     const std::string& number) {
    std::vector<OrderState> orders;
    std::set<OrderId> ids;
    const auto add = [&](const OrderId& id) {
        std::optional<OrderState> order =
            id.empty() || !ids.insert(id).second ? std::nullopt : any_order(shop, id);
        if (order) {
            orders.push_back(*std::move(order));
        }
    };
    const std::string plain = without_mark(number);
    add(OrderId(number));
    add(OrderId(plain));
    // People write an id in either case.
    add(OrderId(ascii_upper(plain)));
    add(OrderId(ascii_lower(plain)));
    const std::optional<ShopNumber> shop_number = shop_of(shop);
    if (!shop_number || !is_order_number(number)) {
        return orders;
    }
    std::vector<OrderId> called;
    const OrderByNumber first{scope_.account(), *shop_number, order_number_digest(number),
                              OrderId()};
    ledger_.scan(first, {3, 3}, [&called](const OrderByNumber& row) {
        called.push_back(row.order_id);
        return called.size() < kOrdersOfNumberMax;
    });
    std::ranges::for_each(called, add);
    return orders;
}

/// Several orders may have a number, as those of two years; the first that answers counts.
std::optional<OrderState> CreatorLedger::missed_by_number(const MissedOrder& missed) {
    for (OrderState& order : orders_called(missed.shop, *missed.number)) {
        if (answers(order, missed)) {
            return std::move(order);
        }
    }
    return std::nullopt;
}

std::set<std::string> CreatorLedger::own_codes() {
    std::set<std::string> codes;
    for (const ProgramRow& row : ledger_.programs(scope_.account())) {
        if (ledger_.membership(scope_.account(), row.program.id, scope_.creator())) {
            ledger_.scan_codes(scope_.account(), row.program.id, [&](const CodeRow& code) {
                if (code.creator == scope_.creator()) {
                    codes.insert(code.code);
                }
            });
        }
    }
    return codes;
}

std::optional<OrderState> CreatorLedger::missed_by_total(const MissedOrder& missed) {
    lists::OrderListing listing{scope_.account()};
    listing.from = missed.day->plus_days(-kDaysApart);
    listing.to = missed.day->plus_days(kDaysApart + 1);
    std::optional<OrderState> found;
    std::size_t left = kOrdersReadMax;
    const auto read = [&] {
        const auto places = lists::order_places(ledger_, listing, left);
        left -= places.size();
        lists::visit_places(ledger_, scope_.account(), places, [&](const OrderState& order) {
            if (shop_name(order.key.shop) == missed.shop.view() && fits(order, missed) &&
                answers(order, missed)) {
                found = order;
            }
            return !found;
        });
    };
    listing.creator = scope_.creator();
    read();
    listing.creator.reset();
    for (const std::string& code : own_codes()) {
        if (found || left == 0) {
            break;
        }
        listing.code = code;
        read();
    }
    listing.code.reset();
    if (!found && left != 0) {  // an order that was hers by a click is in neither list
        read();
    }
    return found;
}

/// Returns whether a node is behind. One that sends no more for a day says nothing to a creator.
bool CreatorLedger::lags(Timestamp now) {
    Timestamp newest = kFirstInstant;
    std::vector<Timestamp> received;
    ledger_.scan_heads([&](const LedgerHead& head) {
        newest = std::max(newest, head.last_received);
        received.push_back(head.last_received);
    });
    return std::ranges::any_of(received, [&](Timestamp at) {
        return lists::pace_of(at, newest, now, 1) == lists::NodePace::kBehind;
    });
}

/// Says the same of an order that does not exist and of one that does not answer.
CreatorFound CreatorLedger::not_found(const MissedOrder& missed, Timestamp now, bool is_behind) {
    CreatorFound shown{.cause = to_string(Cause::kNotArrived)};
    if (is_behind || lags(now)) {
        shown.cause = to_string(Cause::kBehind);
        return shown;
    }
    const std::optional<ShopNumber> shop = shop_of(missed.shop);
    const auto silence = shop ? lists::silence_of(ledger_, scope_.account(), *shop) : std::nullopt;
    if (silence && shop_silence(silence->last_event, silence->usual, now) == ShopSilence::kSilent) {
        shown.cause = to_string(Cause::kShopSilent);
        shown.since = silence->last_event.to_string();
    }
    return shown;
}

CreatorFound CreatorLedger::find(const MissedOrder& missed, Timestamp now, bool is_behind) {
    const std::optional<OrderState> order =
        missed.number ? missed_by_number(missed) : missed_by_total(missed);
    if (!order) {
        return not_found(missed, now, is_behind);
    }
    CreatorFound shown;
    const CauseFound found = find_cause(ledger_, *order, scope_.creator(), now);
    shown.cause = to_string(found.cause);
    if (is_own(*order) && !order->has(kOrderRejected)) {
        shown.order = order->key.order_id.str();
        shown.number = order->numbers.empty() ? shown.order : order->numbers.front();
        shown.shop = shop_name(order->key.shop);
    }
    shown.day = day_of_creator(found.at);
    shown.code = found.code;
    shown.program = found.program;
    shown.days = found.days ? std::optional(std::to_string(*found.days)) : std::nullopt;
    shown.window = found.window ? std::optional(std::to_string(*found.window)) : std::nullopt;
    if (found.commission) {
        shown.commission = found.commission->amount;
        shown.currency = found.commission->currency.code();
    }
    return shown;
}

}  // namespace sluice
