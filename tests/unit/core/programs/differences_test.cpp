#include "core/programs/differences.hpp"

#include <gtest/gtest.h>

#include "core/programs/policy.hpp"

namespace sluice {
namespace {

std::string changed(void (*change)(Policy&), const Policy& from = {}) {
    Policy policy = from;
    change(policy);
    return differences_text(encode_policy(from), encode_policy(policy));
}

/// K3: an approver is not told "no difference".
TEST(Differences, K3_AnEmptyListOfLimitsIsNotAbsent) {
    EXPECT_EQ(changed([](Policy& p) { p.approve_payout_above.emplace(); }),
              "approve_payout_above not set -> []");
    EXPECT_EQ(changed([](Policy& p) { p.approve_adjust_above.emplace(); }),
              "approve_adjust_above not set -> []");
    EXPECT_EQ(changed([](Policy& p) { p.approve_attribution_above.emplace(); }),
              "approve_attribution_above not set -> []");
    EXPECT_EQ(changed([](Policy& p) { p.approve_run_above.emplace(); }),
              "approve_run_above not set -> []");
    EXPECT_EQ(changed([](Policy& p) { p.blocking.emplace(); }), "blocking not set -> []");
    Policy all;
    all.approve_run_above.emplace();
    EXPECT_EQ(changed([](Policy& p) { p.approve_run_above.reset(); }, all),
              "approve_run_above [] -> not set");
}

TEST(Differences, H3_AListThatIsEmptyByDefaultIsNotSet) {
    EXPECT_EQ(changed([](Policy& p) { p.min_payout.push_back(*parse_money("5.00 USD")); }),
              "min_payout not set -> [\"5.00 USD\"]");
    EXPECT_EQ(changed([](Policy&) {}), "");
}

/// Every member of a policy is compared.
TEST(Differences, H3_EachChangeOfAPolicyIsNamed) {
    const std::vector<void (*)(Policy&)> changes{
        [](Policy& p) { p.min_payout.push_back(*parse_money("5.00 USD")); },
        [](Policy& p) { p.approve_payout_above.emplace(); },
        [](Policy& p) { p.approve_adjust_above.emplace(); },
        [](Policy& p) { p.approve_attribution_above.emplace(); },
        [](Policy& p) { p.approve_run_above.emplace(); },
        [](Policy& p) { p.approve_rates = true; },
        [](Policy& p) { p.approve_period_close = true; },
        [](Policy& p) { p.approve_payees_file = true; },
        [](Policy& p) { p.approvers.emplace_back("gina"); },
        [](Policy& p) { p.require_payee = true; },
        [](Policy& p) { p.approve_payee_change = true; },
        [](Policy& p) { p.payee_cooling_days = 7; },
        [](Policy& p) { p.payout_day = 5; },
        [](Policy& p) { p.max_rate = Decimal(50, 0); },
        [](Policy& p) { p.lines_over = Decimal(1, 0); },
        [](Policy& p) { p.max_share = Decimal(1, 0); },
        [](Policy& p) { p.amount_limit.push_back(*parse_money("5.00 USD")); },
        [](Policy& p) { p.blocking.emplace(); },
    };
    for (const auto& change : changes) {
        EXPECT_NE(changed(change), "");
    }
}

}  // namespace
}  // namespace sluice
