// Policy: limits of an account, and who must approve (rules H1, H3).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/values/decimal.hpp"
#include "core/values/ids.hpp"
#include "core/values/money.hpp"
#include "core/values/parsed.hpp"
#include "core/values/result.hpp"

namespace sluice {

/// Last day that every month has.
inline constexpr std::uint32_t kPayoutDayMax = 28;

/// Values as a program file states them, checked; the defaults are those of an account without one.
struct Policy {
    AccountId account_id;
    AccountNumber account;
    std::vector<Money> min_payout;
    /// Amounts above these need an approval, and so does any amount in a currency that the list
    /// lacks. nullopt means that no approval is ever needed.
    std::optional<std::vector<Money>> approve_payout_above, approve_adjust_above,
        approve_attribution_above, approve_run_above;
    bool approve_rates = false;  ///< A program file that raises earnings.
    bool approve_period_close = false;
    bool approve_payees_file = false;  ///< Payouts, together with the file of bank accounts.
    /// Names, each with an SSH public key behind it if only signatures count. Empty means any other
    /// actor.
    std::vector<std::string> approvers;
    bool require_payee = false;
    bool approve_payee_change = false;
    std::uint32_t payee_cooling_days = 0;  ///< Time before a changed payee is paid.
    std::uint32_t payout_day = 0;          ///< Day of the month, 1 to 28, or 0 without one.
    Decimal max_rate{100, 0};              ///< Percent.
    Decimal lines_over{10, 0};             ///< Percent.
    Decimal max_share{100, 0};             ///< Percent.
    std::vector<Money> amount_limit;
    std::optional<std::vector<std::string>> blocking;  ///< Kinds; nullopt means the default set.
    friend bool operator==(const Policy&, const Policy&) = default;

    [[nodiscard]] bool has_approvals() const noexcept {
        return approve_payout_above || approve_adjust_above || approve_attribution_above ||
               approve_run_above || approve_rates || approve_period_close || approve_payee_change ||
               approve_payees_file;
    }
};

/// Returns the name in an entry of Policy::approvers.
[[nodiscard]] inline std::string_view approver_name(std::string_view entry) noexcept {
    return entry.substr(0, entry.find(' '));
}
/// Returns the amount of a currency in a list, or nullptr.
[[nodiscard]] const Decimal* amount_in(const std::vector<Money>& list, Currency currency) noexcept;
/// Returns true if `amount` (its absolute value) needs another actor's approval under `above`.
[[nodiscard]] bool needs_approval(const std::optional<std::vector<Money>>& above,
                                  const Money& amount) noexcept;

/// Checks what types do not express. The message names the field.
[[nodiscard]] Status validate(const Policy& policy);

/// A policy as one line of JSON, in commands and in the ledger.
[[nodiscard]] std::string encode_policy(const Policy& policy);
/// Returns nullopt if `json` is not what encode_policy() writes.
[[nodiscard]] Parsed<Policy> decode_policy(std::string_view json);

}  // namespace sluice
