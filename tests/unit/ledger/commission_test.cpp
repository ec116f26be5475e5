// Rules M1 to M3: which rate, exact amounts, rates that are frozen.
#include "core/rules/commission.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/rules/rate_book.hpp"
#include "unit/ledger/rules_fixture.hpp"

namespace sluice::test {
namespace {

using testing::ElementsAre;

std::string earned(std::string_view rate, std::string_view amount, std::string_view tax,
                   std::string_view refunded, std::string_view currency = "USD",
                   std::uint32_t quantity = 1, BaseKind base = BaseKind::kNet) {
    FrozenRate frozen;
    frozen.rate = parse_rate(rate).value();
    frozen.base = base;
    OrderLine line;
    line.amount = *Decimal::parse(amount);
    line.tax = *Decimal::parse(tax);
    line.quantity = quantity;
    return line_commission(frozen, line, *Decimal::parse(refunded), *Currency::parse(currency))
        .to_string();
}

TEST(Commission, M1_NetIsAmountWithoutTaxAndNeverBelowZero) {
    EXPECT_EQ(earned("10%", "100.00", "20.00", "0"), "8.00");
    EXPECT_EQ(earned("10%", "10.00", "12.00", "0"), "0.00");
    EXPECT_EQ(earned("10%", "100.00", "20.00", "0", "USD", 1, BaseKind::kGross), "10.00");
}

TEST(Commission, M2_RoundsHalfToEven) {
    EXPECT_EQ(earned("10%", "0.25", "0", "0"), "0.02");
    EXPECT_EQ(earned("10%", "0.35", "0", "0"), "0.04");
    EXPECT_EQ(earned("10%", "0.250001", "0", "0"), "0.03");
    EXPECT_EQ(earned("10%", "0.249999", "0", "0"), "0.02");
    EXPECT_EQ(earned("50%", "0.01", "0", "0"), "0.00");
    EXPECT_EQ(earned("50%", "0.03", "0", "0"), "0.02");
}

TEST(Commission, M2_HasTheDigitsOfTheCurrency) {
    EXPECT_EQ(earned("10%", "12345", "0", "0", "JPY"), "1234");
    EXPECT_EQ(earned("10%", "12355", "0", "0", "JPY"), "1236");
    EXPECT_EQ(earned("10%", "1.0055", "0", "0", "KWD"), "0.101");
    EXPECT_EQ(earned("10%", "1.0045", "0", "0", "KWD"), "0.100");
}

TEST(Commission, M2_PercentagesHaveUpToFourDecimals) {
    EXPECT_EQ(earned("12.3456%", "1000.00", "0", "0"), "123.46");
    EXPECT_EQ(earned("0.0001%", "1000000.00", "0", "0"), "1.00");
    EXPECT_EQ(earned("0%", "1000000.00", "0", "0"), "0.00");
    EXPECT_EQ(earned("250%", "10.00", "0", "0"), "25.00");
}

TEST(Commission, M2_RefundsReduceInProportionToTheGrossLine) {
    EXPECT_EQ(earned("10%", "100.00", "20.00", "25.00"), "6.00");
    EXPECT_EQ(earned("10%", "100.00", "0", "33.33"), "6.67");
    EXPECT_EQ(earned("10%", "100.00", "0", "33.335"), "6.67");
    EXPECT_EQ(earned("10%", "3.00", "0", "1.000001"), "0.20");
    EXPECT_EQ(earned("10%", "100.00", "20.00", "100"), "0.00");
    EXPECT_EQ(earned("10%", "100.00", "20.00", "100.000001"), "0.00");
}

TEST(Commission, M2_FixedAmountsAreForEachUnit) {
    EXPECT_EQ(earned("1.50 USD", "60.00", "0", "20.00", "USD", 3), "3.00");
    EXPECT_EQ(earned("0.333333 USD", "60.00", "0", "0", "USD", 3), "1.00");
    EXPECT_EQ(earned("1.50 USD", "0.00", "0", "0", "USD", 2), "3.00");
    EXPECT_EQ(earned("1.50 USD", "60.00", "0", "0", "EUR", 3), "0.00");
    EXPECT_EQ(earned("0.5 JPY", "60", "0", "0", "JPY", 5), "2");
}

TEST(Commission, M2_IsExactAtTheExtremes) {
    EXPECT_EQ(earned("100%", "999999999999999.999999", "0", "0", "USD"), "1000000000000000.00");
    EXPECT_EQ(earned("99.9999%", "999999999999999.999999", "0", "0.000001", "USD"),
              "999999000000000.00");
    EXPECT_EQ(
        earned("33.3333%", "999999999999999.999999", "0.000001", "333333333333333.333333", "CLF"),
        "222222000000000.0000");
    EXPECT_EQ(earned("999999999999999.999999 USD", "999999999999999.999999", "0",
                     "999999999999999.999998", "USD", 999'999'999),
              "1000.00");
    EXPECT_EQ(earned("999999999999999%", "999999999999999.999999", "0", "0", "KWD"),
              "9999999999999989999990000000.000");
}

TEST(Commission, R3_ReportsTheEffectOfARefund) {
    const auto effect = [](std::string_view amount, std::string_view refunded) {
        return refund_effect(*Decimal::parse(amount), *Decimal::parse(refunded));
    };
    EXPECT_EQ(effect("10", "0.00"), RefundEffect::kNone);
    EXPECT_EQ(effect("0", "0"), RefundEffect::kNone);
    EXPECT_EQ(effect("10", "9.999999"), RefundEffect::kPartial);
    EXPECT_EQ(effect("10", "10.00"), RefundEffect::kFull);
    EXPECT_EQ(effect("10", "10.01"), RefundEffect::kExceeds);
    EXPECT_EQ(effect("0", "0.01"), RefundEffect::kExceeds);
}

TEST(Rates, AreReadExactlyAsWritten) {
    EXPECT_EQ(to_string(parse_rate("12.5%").value()), "12.5%");
    EXPECT_EQ(to_string(parse_rate("1.50 USD").value()), "1.50 USD");
    EXPECT_EQ(to_string(parse_rate("x1.5").value()), "x1.5");
    for (const char* wrong :
         {"",         "x",         "x0",  "x-1",  "x1.125",   "x100.01", "x 2",
          "2x",       "%",         "10",  "-1%",  "1.23456%", "10 %",    "1.50USD",
          "1.50 usd", "1.50  USD", " 1%", "1e2%", "1.50 XXQ", "1,5%"}) {
        EXPECT_FALSE(parse_rate(wrong).ok()) << wrong;
    }
}

class RateRules : public EmptyBooksTest {
protected:
    /// The commission of a line of 100.00 under a program with these rules.
    std::string pays(std::vector<Rule> rules, LineText line = {}, std::string currency = "USD") {
        Program ruled = program("spring", default_rate);
        ruled.rules = std::move(rules);
        return pays_by(ruled, std::move(line), std::move(currency));
    }
    std::string pays_by(const Program& ruled, LineText line = {}, std::string currency = "USD") {
        books.apply({ruled});
        books.creator("c1", "spring", "SAVE");
        OrderText order;
        order.id = "o" + std::to_string(++orders);
        order.codes = {"SAVE"};
        order.currency = std::move(currency);
        order.lines = {std::move(line)};
        books.create(order);
        return books.commission(order.id);
    }
    /// Returns the commission of order o1 if it has these lines from `updated` on.
    std::string pays_later(const char* updated, std::vector<LineText> lines) {
        OrderText order;
        order.id = "o1";
        order.updated = updated;
        order.lines = std::move(lines);
        books.update(order);
        return books.commission("o1");
    }
    static Rate half() { return *parse_rate("50%"); }
    std::string default_rate = "10%";
    int orders = 0;
};
SLUICE_FOR_EVERY_LEDGER(RateRules);

constexpr const char* kShirt = R"([{"platform_product_id":"shirt","title":"Shirt","brand":"Acme",
    "collections":["sale","summer"],"tags":["blue","cotton"],
    "variants":[{"variant_sku":"SKU-RED"},{"variant_sku":"SKU-BLUE"}]}])";

TEST_P(RateRules, M1_TheMostSpecificRuleWinsWhateverTheFilesOrder) {
    books.products(Topic::kProductUpsert, kShirt);
    const std::vector<Rule> all{
        rule(RuleMatch::kTag, "blue", "6%"),        rule(RuleMatch::kBrand, "Acme", "5%"),
        rule(RuleMatch::kCollection, "sale", "4%"), rule(RuleMatch::kProduct, "shirt", "3%"),
        rule(RuleMatch::kSku, "S", "2%"),           rule(RuleMatch::kVariantSku, "SKU-RED", "1%")};
    LineText line;
    line.sku = "S";
    line.variant_sku = "SKU-RED";
    for (std::size_t left = all.size(); left > 0; --left) {
        EXPECT_EQ(pays({all.begin(), all.begin() + static_cast<std::ptrdiff_t>(left)}, line),
                  std::to_string(7 - left) + ".00 USD");
    }
    EXPECT_EQ(pays({}, line), "10.00 USD");
}

TEST_P(RateRules, M1_AProductWithoutABrandMatchesNoBrand) {
    books.products(Topic::kProductUpsert,
                   R"([{"platform_product_id":"shirt","title":"Shirt","brand":"Acme",
                        "variants":[{"variant_sku":"SKU-RED"}]}])");
    books.products(Topic::kProductUpsert,
                   R"([{"platform_product_id":"plain","title":"Plain",
                        "variants":[{"variant_sku":"SKU-PLAIN"}]}])");
    LineText line;
    line.variant_sku = "SKU-PLAIN";
    EXPECT_EQ(pays({rule(RuleMatch::kBrand, "Acme", "5%")}, line), "10.00 USD");
}

TEST_P(RateRules, M1_AtOneLevelTheFirstInTheFileWins) {
    books.products(Topic::kProductUpsert, kShirt);
    LineText line;
    line.variant_sku = "SKU-RED";
    EXPECT_EQ(pays({rule(RuleMatch::kCollection, "summer", "4%"),
                    rule(RuleMatch::kCollection, "sale", "5%")},
                   line),
              "4.00 USD");
    EXPECT_EQ(pays({rule(RuleMatch::kCollection, "sale", "5%"),
                    rule(RuleMatch::kCollection, "summer", "4%")},
                   line),
              "5.00 USD");
    EXPECT_EQ(pays({rule(RuleMatch::kSku, "SKU", "3%"), rule(RuleMatch::kSku, "SKU", "2%")}),
              "3.00 USD");
}

TEST_P(RateRules, M1_ValuesMatchExactly) {
    books.products(Topic::kProductUpsert, kShirt);
    LineText line;
    line.variant_sku = "SKU-RED";
    EXPECT_EQ(pays({rule(RuleMatch::kBrand, "acme", "5%"), rule(RuleMatch::kTag, "blu", "6%"),
                    rule(RuleMatch::kSku, "sku", "7%")},
                   line),
              "10.00 USD");
}

TEST_P(RateRules, M1_AFixedRateInAnotherCurrencyDoesNotMatch) {
    EXPECT_EQ(pays({rule(RuleMatch::kSku, "SKU", "1.00 USD"), rule(RuleMatch::kSku, "SKU", "3%")},
                   {}, "EUR"),
              "3.00 EUR");
    default_rate = "2.00 USD";
    EXPECT_EQ(pays({rule(RuleMatch::kSku, "SKU", "1.00 USD")}, {}, "EUR"), "0.00 EUR");
}

TEST_P(RateRules, M1_TheProductIsFoundByVariantThenSkuThenProductId) {
    books.products(Topic::kProductUpsert, R"([
        {"platform_product_id":"by-variant","title":"t","variants":[{"variant_sku":"V"}]},
        {"platform_product_id":"by-sku","title":"t","variants":[{"variant_sku":"S"}]},
        {"platform_product_id":"S","title":"t"},{"platform_product_id":"P","title":"t"}])");
    const std::vector<Rule> rules{
        rule(RuleMatch::kProduct, "by-variant", "1%"), rule(RuleMatch::kProduct, "by-sku", "2%"),
        rule(RuleMatch::kProduct, "S", "3%"), rule(RuleMatch::kProduct, "P", "4%")};
    LineText line;
    line.sku = "S";
    line.variant_sku = "V";
    EXPECT_EQ(pays(rules, line), "1.00 USD");
    line.variant_sku = "unknown";
    EXPECT_EQ(pays(rules, line), "2.00 USD");
    line.sku = "P";
    EXPECT_EQ(pays(rules, line), "4.00 USD");
    line.sku = "nothing";
    EXPECT_EQ(pays(rules, line), "10.00 USD");
}

TEST_P(RateRules, M1_OfSeveralCopiesTheDefaultThenTheLowestThenTheLowestProduct) {
    const std::vector<Rule> rules{
        rule(RuleMatch::kTag, "none", "1%"), rule(RuleMatch::kTag, "de", "2%"),
        rule(RuleMatch::kTag, "en-US", "3%"), rule(RuleMatch::kTag, "b", "4%")};
    LineText line;
    line.variant_sku = "V";
    books.products(Topic::kProductUpsert, R"([
        {"platform_product_id":"p","title":"t","language":"en","country":"US","tags":["en-US"],
         "variants":[{"variant_sku":"V"}]},
        {"platform_product_id":"b","title":"t","language":"en","country":"US","tags":["b"],
         "variants":[{"variant_sku":"V"}]}])");
    EXPECT_EQ(pays(rules, line), "4.00 USD");
    books.products(Topic::kProductUpsert, R"([{"platform_product_id":"p","title":"t",
        "language":"de","tags":["de"],"variants":[{"variant_sku":"V"}]}])");
    EXPECT_EQ(pays(rules, line), "2.00 USD");
    books.products(Topic::kProductUpsert, R"([{"platform_product_id":"p","title":"t",
        "tags":["none"],"variants":[{"variant_sku":"V"}]}])");
    EXPECT_EQ(pays(rules, line), "1.00 USD");
}

TEST_P(RateRules, M1_DeletedProductsAndDroppedVariantsAreNotFound) {
    const std::vector<Rule> rules{rule(RuleMatch::kBrand, "Acme", "5%")};
    LineText line;
    line.variant_sku = "SKU-RED";
    books.products(Topic::kProductUpsert, kShirt);
    EXPECT_EQ(pays(rules, line), "5.00 USD");
    books.products(Topic::kProductUpsert, R"([{"platform_product_id":"shirt","title":"Shirt",
        "variants":[{"variant_sku":"SKU-BLUE"}]}])");
    EXPECT_EQ(pays(rules, line), "10.00 USD");
    line.variant_sku = "SKU-BLUE";
    EXPECT_EQ(pays(rules, line), "5.00 USD");
    books.products(Topic::kProductDelete,
                   R"([{"platform_product_id":"shirt","parent_id":"shirt","title":"Shirt"}])");
    EXPECT_EQ(pays(rules, line), "10.00 USD");
}

TEST_P(RateRules, M3_RatesAreFrozenWithTheLineNewLinesGetTheCurrentOnes) {
    EXPECT_EQ(pays({}), "10.00 USD");
    default_rate = "20%";
    pays({});  // Applies the changed program.
    EXPECT_EQ(pays_later("2026-01-02T00:00:00Z", {{.id = "l1"}, {.id = "l2"}}), "30.00 USD");
}

TEST_P(RateRules, M4_ATierOfAnotherCurrencyDoesNotHold) {
    Program tiered = program();
    tiered.default_tiers = {{Money{*Currency::parse("EUR"), *Decimal::parse("1.00")}, half()}};
    EXPECT_EQ(pays_by(tiered), "10.00 USD");
    EXPECT_EQ(pays_by(tiered), "10.00 USD") << "what was sold this month was not sold in EUR";
    tiered.default_tiers[0].from.currency = *Currency::parse("USD");
    EXPECT_EQ(pays_by(tiered), "50.00 USD");
}

TEST_P(RateRules, M4_ACapTakesAwayAndNeverAdds) {
    Program capped = program();
    capped.max_per_order = {Money{*Currency::parse("USD"), *Decimal::parse("10.01")}};
    EXPECT_EQ(pays_by(capped), "10.00 USD");
    capped.max_per_order[0].amount = *Decimal::parse("9.99");
    EXPECT_EQ(pays_by(capped), "9.99 USD");
    capped.default_rate = *parse_rate("3.00 USD per order");
    EXPECT_EQ(pays_by(capped), "3.00 USD");
}

TEST_P(RateRules, M3_ALineKeepsItsRateAtAnyPlaceOfTheOrder) {
    EXPECT_EQ(pays({}), "10.00 USD");
    default_rate = "20%";
    pays({});  // Applies the changed program.
    EXPECT_EQ(pays_later("2026-01-02T00:00:00Z", {{.id = "l0"}, {.id = "l1"}}), "30.00 USD");
    EXPECT_EQ(pays_later("2026-01-03T00:00:00Z", {{.id = "l1"}, {.id = "l0"}}), "30.00 USD");
}

TEST_P(RateRules, M3_TheBaseIsFrozenToo) {
    LineText line;
    line.tax = "50.00";
    EXPECT_EQ(pays({}, line), "5.00 USD");
    Program gross = program();
    gross.base = BaseKind::kGross;
    books.apply({gross});
    line.amount = "200.00";
    EXPECT_EQ(pays_later("2026-01-02T00:00:00Z", {line}), "15.00 USD");
}

TEST_P(RateRules, M3_ALaterCatalogChangeDoesNotTouchAFrozenRate) {
    books.products(Topic::kProductUpsert, kShirt);
    LineText line;
    line.variant_sku = "SKU-RED";
    EXPECT_EQ(pays({rule(RuleMatch::kBrand, "Acme", "5%")}, line), "5.00 USD");
    books.products(Topic::kProductUpsert,
                   R"([{"platform_product_id":"shirt","title":"Shirt","brand":null}])");
    OrderText order;
    order.id = "o1";
    order.updated = "2026-01-02T00:00:00Z";
    order.lines = {line};
    order.lines[0].amount = "200.00";
    books.update(order);
    EXPECT_EQ(books.commission("o1"), "10.00 USD");
}

TEST_P(RateRules, M3_AFrozenFixedRateEarnsOnlyInItsCurrency) {
    default_rate = "2.00 USD";
    EXPECT_EQ(pays({}), "2.00 USD");
    OrderText order;
    order.id = "o1";
    order.currency = "EUR";
    order.updated = "2026-01-02T00:00:00Z";
    books.update(order);
    EXPECT_EQ(books.commission("o1"), "0.00 EUR");
    order.currency = "USD";
    order.updated = "2026-01-03T00:00:00Z";
    books.update(order);
    EXPECT_EQ(books.commission("o1"), "2.00 USD");
}

TEST_P(RateRules, M3_ALineWithoutARateStaysWithoutOne) {
    default_rate = "2.00 USD";
    EXPECT_EQ(pays({}, {}, "EUR"), "0.00 EUR");
    OrderText order;
    order.id = "o1";
    order.updated = "2026-01-02T00:00:00Z";
    books.update(order);
    EXPECT_EQ(books.commission("o1"), "0.00 USD");
}

}  // namespace
}  // namespace sluice::test
