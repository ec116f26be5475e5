#include "core/programs/policy.hpp"

#include <set>
#include <utility>

#include "core/values/lookup.hpp"

namespace sluice {
namespace {

Status validate_list(const char* name, const std::vector<Money>& list) {
    std::set<Currency> seen;
    for (const Money& money : list) {
        if (money.amount.is_negative() || !in_minor_units(money.amount, money.currency)) {
            return invalid(std::string(name) + ": " + to_string(money) +
                           ": expected an amount of 0 or more with no more digits than " +
                           std::string(money.currency.code()) + " has");
        }
        if (!seen.insert(money.currency).second) {
            return invalid(std::string(name) + ": expected one amount of " +
                           std::string(money.currency.code()));
        }
    }
    return {};
}

}  // namespace

const Decimal* amount_in(const std::vector<Money>& list, Currency currency) noexcept {
    const Money* const found =
        find_where(list, [currency](const Money& money) { return money.currency == currency; });
    return found == nullptr ? nullptr : &found->amount;
}

bool needs_approval(const std::optional<std::vector<Money>>& above, const Money& amount) noexcept {
    if (!above) {
        return false;
    }
    const Decimal* limit = amount_in(*above, amount.currency);
    return limit == nullptr || amount.amount.absolute() > *limit;
}

Status validate(const Policy& policy) {
    if (!is_admin_id(policy.account_id.view())) {
        return invalid("account: expected an account id");
    }
    const std::vector<Money> none;
    for (const auto& [name, list] :
         {std::pair("min_payout", &policy.min_payout),
          std::pair("approve_payout_above",
                    policy.approve_payout_above ? &*policy.approve_payout_above : &none),
          std::pair("approve_adjust_above",
                    policy.approve_adjust_above ? &*policy.approve_adjust_above : &none),
          std::pair("approve_attribution_above",
                    policy.approve_attribution_above ? &*policy.approve_attribution_above : &none),
          std::pair("approve_run_above",
                    policy.approve_run_above ? &*policy.approve_run_above : &none),
          std::pair("amount_limit", &policy.amount_limit)}) {
        if (Status fits = validate_list(name, *list); !fits) {
            return fits;
        }
    }
    if (policy.payout_day > kPayoutDayMax) {
        return invalid("payout_day: expected a day of the month from 1 to " +
                       std::to_string(kPayoutDayMax));
    }
    return {};
}

}  // namespace sluice
