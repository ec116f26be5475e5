// Answers about payments and months. See answers.hpp.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/json/member_writer.hpp"
#include "core/values/decimal.hpp"

namespace sluice {

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

struct CreatorPaymentItem {
    std::optional<std::string> number, shop, order;  ///< Absent of a credit without an order.
    Decimal amount;
};
void each_member(auto& members, Is<CreatorPaymentItem> auto& item) {
    members.or_null("number", item.number);
    members.or_null("shop", item.shop);
    members.or_null("order", item.order);
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
    /// EARNED, REFUND, CANCELLED, ORDER_CHANGED, MONTH_VOLUME, TAKEN_BACK, CORRECTION, CREDIT,
    /// CARRIED_OVER, PAYMENT, PAYMENT_CAME_BACK
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
    std::vector<CreatorEntry> entries{};
    std::vector<CreatorStatementSums> sums{};
};
void each_member(auto& members, Is<CreatorStatement> auto& statement) {
    members("month", statement.month);
    members("closed", statement.closed);
    members("entries", statement.entries);
    members("sums", statement.sums);
}

}  // namespace sluice
