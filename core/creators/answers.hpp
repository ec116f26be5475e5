// Answers: all that a creator's page can show. Each struct lists its members once, for
// JSON, CSV and the API's document; a page shows no member that is not listed here.
//
// States and words are names of a closed list, which the page puts into sentences.
// Amounts are texts of decimals. Days are UTC.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/creators/payment_answers.hpp"
#include "core/json/member_writer.hpp"
#include "core/values/decimal.hpp"
#include "core/values/money.hpp"

namespace sluice {

/// An amount that becomes payable on a day.
struct CreatorDate {
    std::string day;
    Decimal amount;
};
void each_member(auto& members, Is<CreatorDate> auto& date) {
    members("day", date.day);
    members("amount", date.amount);
}

/// A creator's amounts in one currency. Over all creators they add up to `report balances`.
struct CreatorAmounts {
    std::string currency;
    Decimal pending;     ///< Waits for its clearing days.
    Decimal checked;     ///< Blocked by whatever: the kind would teach cheats.
    Decimal ready;       ///< The next payout takes it.
    Decimal on_its_way;  ///< In a payout that is not paid.
    Decimal paid;
    std::optional<Decimal> minimum{};  ///< A payout is at least this.
    std::vector<CreatorDate> dates{};  ///< The next five on which something clears.
};
void each_member(auto& members, Is<CreatorAmounts> auto& amounts) {
    members("currency", amounts.currency);
    members("pending", amounts.pending);
    members("checked", amounts.checked);
    members("ready", amounts.ready);
    members("on_its_way", amounts.on_its_way);
    members("paid", amounts.paid);
    members.or_null("minimum", amounts.minimum);
    members("dates", amounts.dates);
}

struct CreatorMonth {
    std::string month;  ///< 2026-01
    std::string currency;
    Decimal earned, adjusted, paid_out;  ///< As in a statement.
};
void each_member(auto& members, Is<CreatorMonth> auto& month) {
    members("month", month.month);
    members("currency", month.currency);
    members("earned", month.earned);
    members("adjusted", month.adjusted);
    members("paid_out", month.paid_out);
}

/// The next tier of a program's default rate.
struct CreatorTier {
    std::string currency;
    Decimal volume, from;  ///< This month's; the rate counts from there.
    Decimal missing;
    std::string rate;
};
void each_member(auto& members, Is<CreatorTier> auto& tier) {
    members("currency", tier.currency);
    members("volume", tier.volume);
    members("from", tier.from);
    members("missing", tier.missing);
    members("rate", tier.rate);
}

struct CreatorHome {
    std::string name;  ///< May be empty.
    std::vector<CreatorAmounts> amounts;
    std::optional<CreatorPayment> last_payment;
    std::vector<CreatorMonth> months;  ///< The last twelve, the newest first.
    std::vector<CreatorTier> tiers;
    std::string payee;  ///< Masked. Empty without one.
    std::optional<std::string> payee_since;
};
void each_member(auto& members, Is<CreatorHome> auto& home) {
    members("name", home.name);
    members("amounts", home.amounts);
    members.or_null("last_payment", home.last_payment);
    members("months", home.months);
    members("tiers", home.tiers);
    members("payee", home.payee);
    members.or_null("payee_since", home.payee_since);
}

struct CreatorOrder {
    std::string number, shop;               ///< Its first number; else the id.
    std::string order;                      ///< The id, by which it is read.
    std::string day;                        ///< The day of the sale.
    std::string_view by;                    ///< Attributed by: CODE, LINK, HAND.
    std::optional<std::string> code, link;  ///< Hers. A click that a server sent has no link.
    Decimal commission;
    std::string currency;
    /// PENDING, READY, CHECKED, ON_ITS_WAY, PAID, CANCELLED, REFUNDED, EARNS_NOTHING
    std::string_view state;
    std::optional<std::string> ready_on;       ///< Set while PENDING.
    std::optional<std::string> checked_since;  ///< Set while CHECKED.
    std::vector<std::string> payments;         ///< Ids, those that came back as well.
};
void each_member(auto& members, Is<CreatorOrder> auto& order) {
    members("number", order.number);
    members("shop", order.shop);
    members("order", order.order);
    members("day", order.day);
    members("by", order.by);
    members.or_null("code", order.code);
    members.or_null("link", order.link);
    members("commission", order.commission);
    members("currency", order.currency);
    members("state", order.state);
    members.or_null("ready_on", order.ready_on);
    members.or_null("checked_since", order.checked_since);
    members("payments", order.payments);
}

struct CreatorOrderLine {
    std::string sku;
    std::optional<std::string> title;  ///< The catalog's, if it has the product.
    std::string rate;
    std::string calculation, rounding;  ///< As `explain` shows them; may be empty.
    Decimal commission;
};
void each_member(auto& members, Is<CreatorOrderLine> auto& line) {
    members("sku", line.sku);
    members.or_null("title", line.title);
    members("rate", line.rate);
    members("calculation", line.calculation);
    members("rounding", line.rounding);
    members("commission", line.commission);
}

struct CreatorOrderDetail {
    CreatorOrder order;
    std::vector<CreatorOrderLine> lines;
};
void each_member(auto& members, Is<CreatorOrderDetail> auto& detail) {
    members("order", detail.order);
    members("lines", detail.lines);
}

/// Why an order is, or is not, hers. Nothing of it is repeated from the question.
struct CreatorFound {
    std::string_view cause;  ///< A name of core/explain/cause.hpp.
    /// The order, if it is hers and `orders` has it.
    std::optional<std::string> number{}, shop{}, order{};
    std::optional<std::string> day{};             ///< On which it happened, or happens.
    std::optional<std::string> since{};           ///< To the minute: the shop is silent since then.
    std::optional<std::string> code{};            ///< Hers.
    std::optional<std::string> program{};         ///< The program of her code or click.
    std::optional<std::string> days{}, window{};  ///< Days before the order; days that count.
    std::optional<Decimal> commission{};
    std::optional<std::string> currency{};
};
void each_member(auto& members, Is<CreatorFound> auto& found) {
    members("cause", found.cause);
    members.or_null("number", found.number);
    members.or_null("shop", found.shop);
    members.or_null("order", found.order);
    members.or_null("day", found.day);
    members.or_null("since", found.since);
    members.or_null("code", found.code);
    members.or_null("program", found.program);
    members.or_null("days", found.days);
    members.or_null("window", found.window);
    members.or_null("commission", found.commission);
    members.or_null("currency", found.currency);
}

}  // namespace sluice
