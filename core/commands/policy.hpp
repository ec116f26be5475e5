// Policy: what an account allows, and who must agree (books H1, H3, section 8).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/values/decimal.hpp"
#include "core/values/ids.hpp"
#include "core/values/money.hpp"
#include "core/values/result.hpp"

namespace sluice {

/// Values as a program file states them, checked; the defaults are those of an account without one.
struct Policy {
    AccountId account_id;
    AccountNumber account;
    std::vector<Money> min_payout;
    /// Nothing: no approval is ever needed. A currency that the list lacks: always.
    std::optional<std::vector<Money>> approve_payout_above, approve_adjust_above;
    std::vector<std::string> approvers;  ///< Empty: any other actor.
    bool require_payee = false;
    Decimal max_rate{100, 0};   ///< Percent.
    Decimal lines_over{10, 0};  ///< Percent.
    Decimal max_share{100, 0};  ///< Percent.
    std::vector<Money> amount_limit;
    std::optional<std::vector<std::string>> blocking;  ///< Kinds; nothing: the default set.
    friend bool operator==(const Policy&, const Policy&) = default;

    [[nodiscard]] bool has_approvals() const noexcept {
        return approve_payout_above || approve_adjust_above;
    }
};

/// The amount of a currency in a list; nullptr: none.
[[nodiscard]] const Decimal* amount_in(const std::vector<Money>& list, Currency currency) noexcept;
/// True if `amount` (its absolute value) needs another actor under `above`.
[[nodiscard]] bool needs_approval(const std::optional<std::vector<Money>>& above,
                                  const Money& amount) noexcept;

/// What the parser of a file cannot know by type. The message names the field.
[[nodiscard]] Status validate(const Policy& policy);

}  // namespace sluice
