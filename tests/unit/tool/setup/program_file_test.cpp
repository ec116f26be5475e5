// Program file (rules A2, M1, H3): what it reads, and that a mistake names its line and
// field.
#include "tool/setup/program_file.hpp"

#include <gtest/gtest.h>

namespace sluice::cli {
namespace {

constexpr std::string_view kWhole = R"([[policy]]
account = "acme"
min_payout = ["25.00 EUR", "30.00 USD"]
approve_payout_above = ["500.00 EUR"]
approvers = ["frank", "gina"]
require_payee = true
max_rate = "40%"
blocking = ["CANCEL_NOT_LATER"]

[[program]]
id = "spring"
account = "acme"
shops = ["shop-1"]
starts_at = 2026-03-01T00:00:00Z
ends_at = 2026-07-01T02:00:00+02:00
late_days = 7
default_rate = "10%"
default_tiers = [{ from = "1000.00 EUR", rate = "12%" }, { from = "5000.00 EUR", rate = "15%" }]
max_per_order = ["40.00 EUR"]

[[program.rule]]
group = "gold"
customer = "new"
rate = "20%"

[[program.rule]]
match = "sku"
value = "TRIAL"
until = 2026-04-01T00:00:00Z
min_order_amount = "50.00 EUR"
rate = "5.00 EUR per order"
tiers = [{ from = "10.00 EUR", rate = "6.00 EUR per order" }]
)";

TEST(ProgramFile, EverythingOfAPolicyAndAProgram) {
    const auto file = parse_program_file("p.toml", kWhole);
    ASSERT_TRUE(file.ok()) << file.error().message;
    ASSERT_EQ(file->policies.size(), 1U);
    const Policy& policy = file->policies[0].policy;
    EXPECT_EQ(policy.min_payout.size(), 2U);
    EXPECT_EQ(policy.approve_payout_above->size(), 1U);
    EXPECT_FALSE(policy.approve_adjust_above.has_value());
    EXPECT_EQ(policy.approvers, (std::vector<std::string>{"frank", "gina"}));
    EXPECT_TRUE(policy.require_payee);
    EXPECT_EQ(policy.max_rate, Decimal(40, 0));
    ASSERT_EQ(file->programs.size(), 1U);
    const Program& program = file->programs[0].program;
    EXPECT_EQ(program.starts_at->to_string(), "2026-03-01T00:00:00Z");
    EXPECT_EQ(program.ends_at->to_string(), "2026-07-01T00:00:00Z");
    EXPECT_EQ(program.late_days, 7U);
    EXPECT_EQ(program.default_tiers.size(), 2U);
    EXPECT_EQ(program.max_per_order.size(), 1U);
    ASSERT_EQ(program.rules.size(), 2U);
    EXPECT_EQ(program.rules[0].match, RuleMatch::kNoItem);
    EXPECT_EQ(program.rules[0].qualifiers(), 2U);
    EXPECT_EQ(program.rules[1].rate.kind, RateKind::kPerOrder);
    EXPECT_EQ(program.rules[1].qualifiers(), 2U);
    EXPECT_EQ(file->programs[0].rates.size(), 6U);
}

std::string program_with(const std::string& lines) {
    return "[[program]]\nid = 'a'\naccount = 'acme'\ndefault_rate = '1%'\n" + lines;
}

TEST(ProgramFile, AMistakeNamesFileLineFieldAndExpectation) {
    for (const auto& [text, wanted] : {
             std::pair(program_with("colour = 1\n"), ":5: unknown key 'colour'"),
             std::pair(program_with("max_per_order = [\"1.00 EUR\",\n\"2.00 EUR\"]\n"),
                       ":6: max_per_order: expected one amount of EUR"),
             std::pair(program_with("max_per_order = [\"1.005 EUR\"]\n"),
                       ":5: max_per_order: expected at most 2 digits"),
             std::pair(program_with("default_tiers = [{ from = \"5.00 EUR\", rate = \"2%\" },\n"
                                    "{ from = \"5.00 EUR\", rate = \"3%\" }]\n"),
                       ":6: default_tiers: expected tiers of EUR that rise"),
             std::pair(program_with("default_tiers = [{ from = \"5.00 EUR\" }]\n"),
                       ":5: expected rate = "),
             std::pair(program_with("starts_at = 2026-03-01T00:00:00Z\n"
                                    "ends_at = 2026-03-01T00:00:00Z\n"),
                       ":6: ends_at: expected an instant after starts_at"),
             std::pair(program_with("starts_at = 2026-03-01\n"), ":5: starts_at: expected"),
             std::pair(program_with("starts_at = \"2026-03-01T00:00:00Z\"\n"),
                       ":5: starts_at: expected"),
             std::pair(program_with("late_days = 40000\n"), ":5: late_days: expected"),
             std::pair(program_with("[[program.rule]]\nrate = '2%'\n"),
                       ":5: rule: expected an item"),
             std::pair(program_with("[[program.rule]]\nvalue = 'x'\nrate = '2%'\n"),
                       ":6: value: expected match"),
             std::pair(program_with("[[program.rule]]\ncustomer = 'old'\nrate = '2%'\n"),
                       ":6: customer: expected \"new\" or \"returning\""),
             std::pair(program_with("[[program.rule]]\ngroup = 'gold'\n"), ":5: expected rate = "),
             std::pair(std::string("[[policy]]\naccount = 'a'\nblocking = ['NONSENSE']\n"),
                       ":3: blocking: expected kinds"),
             std::pair(std::string("[[policy]]\naccount = 'a'\nmax_rate = '40'\n"),
                       ":3: max_rate: expected a percentage"),
             std::pair(std::string("[[policy]]\naccount = 'a'\n[[policy]]\naccount = 'a'\n"),
                       ":3: account a has two policies"),
             std::pair(std::string(), ":1: expected at least one [[program]] or [[policy]]"),
         }) {
        const auto file = parse_program_file("p.toml", text);
        ASSERT_FALSE(file.ok()) << text;
        EXPECT_EQ(file.error().message.find("p.toml" + std::string(wanted)), 0U)
            << file.error().message;
    }
}

TEST(ProgramFile, ARateAboveTheLimitNamesItsLine) {
    const auto file = parse_program_file(
        "p.toml", program_with("default_tiers = [{ from = \"5.00 EUR\",\nrate = \"41%\" }]\n"));
    EXPECT_FALSE(file.ok());  // an inline table is one line
    const auto rules =
        parse_program_file("p.toml", program_with("[[program.rule]]\ngroup = 'g'\nrate = '41%'\n"));
    ASSERT_TRUE(rules.ok()) << rules.error().message;
    EXPECT_TRUE(check_rates("p.toml", rules->programs[0], Decimal(41, 0)).ok());
    const Status above = check_rates("p.toml", rules->programs[0], Decimal(40, 0));
    ASSERT_FALSE(above.ok());
    EXPECT_EQ(above.error().message,
              "p.toml:7: rate: 41% is above the account's max_rate; expected at most 40%");
}

}  // namespace
}  // namespace sluice::cli
