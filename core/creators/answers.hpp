// Answers: all that a creator's page can show. Each struct lists its members once, for
// JSON, CSV and the API's document; a page shows no member that is not listed here.
//
// States and words are names of a closed list, which the page puts into sentences.
// Amounts are texts of decimals. Days are UTC.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/json/member_writer.hpp"
#include "core/values/decimal.hpp"
#include "core/values/ids.hpp"
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
    std::optional<Decimal> minimum;  ///< A payout is at least this.
    std::vector<CreatorDate> dates;  ///< The next five on which something clears.
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

struct CreatorPayment {
    std::string id;
    Decimal amount;
    std::string currency;
    std::string_view state;  ///< PREPARING, SENT, PAID, CAME_BACK
    std::string day;         ///< The day of the close.
    std::optional<std::string> sent_on, paid_on, ended_on;
    std::string payee;  ///< Masked. May be empty.
};
void each_member(auto& members, Is<CreatorPayment> auto& payment) {
    members("id", payment.id);
    members("amount", payment.amount);
    members("currency", payment.currency);
    members("state", payment.state);
    members("day", payment.day);
    members.or_null("sent_on", payment.sent_on);
    members.or_null("paid_on", payment.paid_on);
    members.or_null("ended_on", payment.ended_on);
    members("payee", payment.payee);
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
    std::string number, shop;
    std::string day;                  ///< The day of the sale.
    std::optional<std::string> code;  ///< Hers. Without one, the order came by a link.
    Decimal commission;
    std::string currency;
    std::string_view state;               ///< PENDING, READY, CHECKED, ON_ITS_WAY, PAID, CANCELLED
    std::optional<std::string> ready_on;  ///< Set while PENDING.
    std::vector<std::string> payments;    ///< Ids, those that came back as well.
};
void each_member(auto& members, Is<CreatorOrder> auto& order) {
    members("number", order.number);
    members("shop", order.shop);
    members("day", order.day);
    members.or_null("code", order.code);
    members("commission", order.commission);
    members("currency", order.currency);
    members("state", order.state);
    members.or_null("ready_on", order.ready_on);
    members("payments", order.payments);
}

struct CreatorOrderLine {
    std::string sku, rate;
    std::string calculation, rounding;  ///< As `explain` shows them; may be empty.
    Decimal commission;
};
void each_member(auto& members, Is<CreatorOrderLine> auto& line) {
    members("sku", line.sku);
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

struct CreatorPaymentItem {
    std::optional<std::string> number, shop;  ///< Absent of a credit without an order.
    Decimal amount;
};
void each_member(auto& members, Is<CreatorPaymentItem> auto& item) {
    members.or_null("number", item.number);
    members.or_null("shop", item.shop);
    members("amount", item.amount);
}

/// Why the account's last payout run left her out, or left a part.
struct CreatorLeftOut {
    std::string day, currency;
    /// NOT_POSITIVE, BELOW_MINIMUM, NO_PAYEE, PAYEE_CHANGED, CHECKED, EXCLUDED
    std::string_view reason;
    Decimal amount;
    std::optional<Decimal> minimum;
};
void each_member(auto& members, Is<CreatorLeftOut> auto& left) {
    members("day", left.day);
    members("currency", left.currency);
    members("reason", left.reason);
    members("amount", left.amount);
    members.or_null("minimum", left.minimum);
}

struct CreatorEntry {
    std::string day;
    std::optional<std::string> number;  ///< The order's.
    /// EARNED, REFUND, CANCELLED, ORDER_CHANGED, TAKEN_BACK, CORRECTION, CREDIT, CARRIED_OVER,
    /// PAYMENT, PAYMENT_CAME_BACK
    std::string_view word;
    Decimal amount;
    std::string currency;
};
void each_member(auto& members, Is<CreatorEntry> auto& entry) {
    members("day", entry.day);
    members.or_null("number", entry.number);
    members("word", entry.word);
    members("amount", entry.amount);
    members("currency", entry.currency);
}

/// opening + earned + adjusted - paid_out = closing.
struct CreatorStatementSums {
    std::string currency;
    Decimal opening, earned, adjusted, paid_out, closing;
};
void each_member(auto& members, Is<CreatorStatementSums> auto& sums) {
    members("currency", sums.currency);
    members("opening", sums.opening);
    members("earned", sums.earned);
    members("adjusted", sums.adjusted);
    members("paid_out", sums.paid_out);
    members("closing", sums.closing);
}

struct CreatorStatement {
    std::string month;
    bool closed = false;  ///< It never changes any more.
    std::vector<CreatorEntry> entries;
    std::vector<CreatorStatementSums> sums;
};
void each_member(auto& members, Is<CreatorStatement> auto& statement) {
    members("month", statement.month);
    members("closed", statement.closed);
    members("entries", statement.entries);
    members("sums", statement.sums);
}

}  // namespace sluice
