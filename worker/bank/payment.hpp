// Payment: what a bank is told to pay, whatever the form.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/values/currency.hpp"
#include "core/values/decimal.hpp"
#include "core/values/timestamp.hpp"
#include "worker/bank/payees.hpp"

namespace sluice::cli {

struct Payment {
    std::string payout_id;  ///< End-to-end id.
    std::string creator_id;
    std::string payee;
    Decimal amount;  ///< Above 0.
    BankAccount to;
};

struct PaymentMessage {
    std::string message_id;  ///< Command id of the `payout sent` that it belongs to.
    std::string account_id;
    Timestamp created_at;  ///< Receipt of that command.
    Currency currency;
    std::optional<BankAccount> debtor;  ///< kPain needs it.
    std::vector<Payment> payments;      ///< By payout id; at least one.
};

}  // namespace sluice::cli
