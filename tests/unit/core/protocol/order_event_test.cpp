#include "core/protocol/order_event.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/protocol/owned_order_event.hpp"
#include "unit/core/protocol/order_fixture.hpp"

namespace sluice {
namespace {

using test::edited;
using test::errors_of;
using test::kOrder;
using testing::ElementsAre;
using testing::IsEmpty;

std::vector<std::string> invalid_format(const std::string& field) {
    return {field + " INVALID_FORMAT"};
}
std::vector<std::string> required(const std::string& field) {
    return {field + " REQUIRED"};
}

TEST(OrderEventRules, AValidOrderIsReadCompletely) {
    OrderEventParser parser;
    const OrderEvent* event = parser.parse(kOrder, Topic::kOrderUpdate, "svc_anon_id");
    ASSERT_NE(event, nullptr);
    EXPECT_EQ(event->topic, Topic::kOrderUpdate);
    EXPECT_EQ(event->order_id, "o-1");
    EXPECT_EQ(event->customer_id, "c-1");
    EXPECT_EQ(event->email, "a@example.com");
    EXPECT_EQ(event->phone, "+1 555");
    EXPECT_EQ(event->ordered_at.to_string(), "2024-01-31T12:00:00Z");
    EXPECT_EQ(event->updated_at.to_string(), "2024-02-01T11:00:00.5Z");
    EXPECT_FALSE(event->cancelled_at);
    EXPECT_EQ(event->amount.text, "120.00");
    EXPECT_EQ(event->tax.value.to_string(), "20.00");
    EXPECT_EQ(event->shipping.text, "5.00");
    EXPECT_EQ(event->currency.code(), "EUR");
    ASSERT_EQ(event->discounts.size(), 1U);
    EXPECT_EQ(event->discounts[0].code, "SPRING");
    EXPECT_TRUE(event->discounts[0].percentage);
    EXPECT_EQ(event->discounts[0].value.text, "10");
    ASSERT_EQ(event->line_items.size(), 2U);
    EXPECT_EQ(event->line_items[0].line_item_id, "l-1");
    EXPECT_EQ(event->line_items[0].variant_sku, "v-1");
    EXPECT_EQ(event->line_items[0].quantity, 2U);
    EXPECT_FALSE(event->line_items[1].variant_sku);
    ASSERT_EQ(event->refund_line_items.size(), 1U);
    EXPECT_EQ(event->refund_line_items[0].refund_line_item_id, "r-1");
    EXPECT_EQ(event->refund_line_items[0].line_item_id, "l-1");
    EXPECT_EQ(event->refund_line_items[0].refunded_at.to_string(), "2024-02-01T00:00:00Z");
    EXPECT_EQ(event->refund_line_items[0].amount.text, "30.00");
    EXPECT_EQ(event->refund_line_items[0].quantity, 1U);
    EXPECT_EQ(event->anon_id, "anon-1");
}

TEST(OrderEventRules, CancellationAndVariantsOfRefundsAreRead) {
    OrderEventParser parser;
    const std::string body =
        edited("\"platform_cancelled_at\": null",
               "\"platform_cancelled_at\": \"2024-02-02T00:00:00+02:00\"",
               edited("\"quantity\": \"1\"}],\n  \"svc",
                      "\"quantity\": \"1\", \"variant_sku\": \"v-1\"}],\n  \"svc"));
    const OrderEvent* event = parser.parse(body, Topic::kOrderCancel, "svc_anon_id");
    ASSERT_NE(event, nullptr);
    ASSERT_TRUE(event->cancelled_at);
    EXPECT_EQ(event->cancelled_at->to_string(), "2024-02-01T22:00:00Z");
    EXPECT_EQ(event->refund_line_items[0].variant_sku, "v-1");
}

TEST(OrderEventRules, NothingRemainsOfTheEventBefore) {
    OrderEventParser parser;
    ASSERT_NE(parser.parse(kOrder, Topic::kOrderUpdate, "svc_anon_id"), nullptr);
    const OrderEvent* event = parser.parse(
        R"({"platform_order_id":"o","platform_ordered_at":"2024-01-01T00:00:00Z","amount":"1",
            "tax":"0","shipping":"0","currency_code":"USD","line_items":[{"line_item_id":"l",
            "sku":"s","amount":"1","tax":"0","quantity":"1"}]})",
        Topic::kOrderCreate, "svc_anon_id");
    ASSERT_NE(event, nullptr);
    EXPECT_FALSE(event->customer_id || event->email || event->phone || event->cancelled_at ||
                 event->anon_id);
    EXPECT_THAT(event->discounts, IsEmpty());
    EXPECT_THAT(event->refund_line_items, IsEmpty());
    EXPECT_EQ(event->line_items.size(), 1U);
    EXPECT_EQ(event->updated_at, event->ordered_at);
}

TEST(OrderEventRules, AllMissingFieldsAreListedInTableOrder) {
    EXPECT_THAT(errors_of("{}", Topic::kOrderUpdate),
                ElementsAre("platform_order_id REQUIRED", "platform_ordered_at REQUIRED",
                            "platform_updated_at REQUIRED", "amount REQUIRED", "tax REQUIRED",
                            "shipping REQUIRED", "currency_code REQUIRED", "line_items REQUIRED"));
    EXPECT_THAT(
        errors_of(R"({"line_items":[{}],"refund_line_items":[{}],"discounts":[{}]})",
                  Topic::kOrderCreate),
        ElementsAre("platform_order_id REQUIRED", "platform_ordered_at REQUIRED", "amount REQUIRED",
                    "tax REQUIRED", "shipping REQUIRED", "currency_code REQUIRED",
                    "discounts[0].code REQUIRED", "discounts[0].type REQUIRED",
                    "discounts[0].value_type REQUIRED", "discounts[0].value REQUIRED",
                    "line_items[0].line_item_id REQUIRED", "line_items[0].sku REQUIRED",
                    "line_items[0].amount REQUIRED", "line_items[0].tax REQUIRED",
                    "line_items[0].quantity REQUIRED",
                    "refund_line_items[0].refund_line_item_id REQUIRED",
                    "refund_line_items[0].line_item_id REQUIRED",
                    "refund_line_items[0].platform_refunded_at REQUIRED",
                    "refund_line_items[0].sku REQUIRED", "refund_line_items[0].amount REQUIRED",
                    "refund_line_items[0].tax REQUIRED", "refund_line_items[0].quantity REQUIRED"));
}

TEST(OrderEventRules, AMissingOrNullRequiredFieldIsRequired) {
    for (const std::string name : {"platform_order_id", "platform_ordered_at", "amount", "tax",
                                   "shipping", "currency_code", "line_items"}) {
        EXPECT_EQ(errors_of(edited('"' + name + '"', "\"renamed\"")).front(), name + " REQUIRED");
    }
    EXPECT_EQ(errors_of(edited(R"("amount": "120.00")", R"("amount": null)")), required("amount"));
    EXPECT_EQ(errors_of(edited(R"("currency_code": "EUR")", R"("currency_code": null)")),
              required("currency_code"));
}

TEST(OrderEventRules, UpdatedAtIsRequiredButOnCreate) {
    for (const char* to : {"\"renamed\": 1", "\"platform_updated_at\": null"}) {
        const std::string body =
            edited(R"("platform_updated_at": "2024-02-01T12:00:00.5+01:00")", to);
        EXPECT_EQ(errors_of(body, Topic::kOrderUpdate), required("platform_updated_at"));
        EXPECT_EQ(errors_of(body, Topic::kOrderCancel), required("platform_updated_at"));
        OrderEventParser parser;
        const OrderEvent* event = parser.parse(body, Topic::kOrderCreate, "svc_anon_id");
        ASSERT_NE(event, nullptr);
        EXPECT_EQ(event->updated_at, event->ordered_at);
    }
    EXPECT_EQ(errors_of(edited("2024-02-01T12:00:00.5+01:00", "yesterday"), Topic::kOrderCreate),
              invalid_format("platform_updated_at"));
}

TEST(OrderEventRules, NullOnAnOptionalFieldMeansAbsent) {
    for (
        const auto& [from, to] : std::vector<std::pair<std::string, std::string>>{
            {R"("platform_customer_id": "c-1")", R"("platform_customer_id": null)"},
            {R"("email": "a@example.com")", R"("email": null)"},
            {R"("phone": "+1 555")", R"("phone": null)"},
            {R"("variant_sku": "v-1")", R"("variant_sku": null)"},
            {R"("svc_anon_id": "anon-1")", R"("svc_anon_id": null)"},
            {R"([{"code": "SPRING", "type": "DISCOUNT_CODE", "value_type": "PERCENTAGE", "value": "10"}])",
             "null"}}) {
        EXPECT_THAT(errors_of(edited(from, to)), IsEmpty()) << to;
    }
    OrderEventParser parser;
    const std::string body =
        edited("\"refund_line_items\": [", "\"refund_line_items\": null, \"x\": [");
    const OrderEvent* event = parser.parse(body, Topic::kOrderUpdate, "svc_anon_id");
    ASSERT_NE(event, nullptr);
    EXPECT_THAT(event->refund_line_items, IsEmpty());
}

TEST(OrderEventRules, CustomerFieldsAreStringsOfAnyLength) {
    for (const std::string name : {"platform_customer_id", "email", "phone"}) {
        const std::string start = '"' + name + "\": \"";
        EXPECT_THAT(errors_of(edited(start, start + std::string(100'000, 'x'))), IsEmpty());
        EXPECT_EQ(errors_of(edited(start, '"' + name + "\": 5, \"x\": \"")), invalid_format(name));
    }
    EXPECT_THAT(errors_of(edited("a@example.com", "")), IsEmpty());
}

TEST(OrderEventRules, AnEmptyAnonymousIdCountsAsAbsent) {
    OrderEventParser parser;
    const std::string body = edited("anon-1", "");
    const OrderEvent* event = parser.parse(body, Topic::kOrderUpdate, "svc_anon_id");
    ASSERT_NE(event, nullptr);
    EXPECT_FALSE(event->anon_id);
    EXPECT_EQ(errors_of(edited("\"anon-1\"", "7")), invalid_format("svc_anon_id"));
}

TEST(OrderEventRules, TheAnonymousIdsFieldFollowsTheHeaderPrefix) {
    EXPECT_EQ(anon_field_name("X-SVC-"), "svc_anon_id");
    EXPECT_EQ(anon_field_name("X-LC-"), "lc_anon_id");
    EXPECT_EQ(anon_field_name("My-Shop-"), "my_shop_anon_id");
    EXPECT_EQ(anon_field_name("x-svc-"), "svc_anon_id");
    EXPECT_EQ(anon_field_name("X-Svc"), "svc_anon_id");
    OrderEventParser parser;
    const std::string body = edited("svc_anon_id", "lc_anon_id");
    EXPECT_EQ(parser.parse(body, Topic::kOrderUpdate, "lc_anon_id")->anon_id, "anon-1");
    EXPECT_FALSE(parser.parse(body, Topic::kOrderUpdate, "svc_anon_id")->anon_id);
    EXPECT_FALSE(parser.parse(kOrder, Topic::kOrderUpdate, "")->anon_id);
}

TEST(OrderEventRules, IdsAre1To1024Bytes) {
    for (const auto& [value, field] : std::vector<std::pair<std::string, std::string>>{
             {"o-1", "platform_order_id"},
             {"s-2", "line_items[1].sku"},
             {"v-1", "line_items[0].variant_sku"},
             {"r-1", "refund_line_items[0].refund_line_item_id"},
             {"l-2", "line_items[1].line_item_id"}}) {
        EXPECT_THAT(errors_of(edited(value, std::string(1024, 'x'))), IsEmpty()) << field;
        EXPECT_EQ(errors_of(edited(value, std::string(1025, 'x'))), invalid_format(field));
        EXPECT_EQ(errors_of(edited(value, "")), invalid_format(field));
        EXPECT_EQ(errors_of(edited('"' + value + '"', "17")), invalid_format(field));
    }
}

TEST(OrderEventRules, MoneyIsADecimalStringOfZeroOrMore) {
    for (const std::string_view bad :
         {"\"-1\"", "120", "120.00", "\"1e3\"", "\"\"", "\"1,000\"", "\"1234567890123456\"",
          "\"1.1234567\"", "true", "[]", "{}"}) {
        EXPECT_EQ(errors_of(edited("\"120.00\"", bad)), invalid_format("amount")) << bad;
        EXPECT_EQ(errors_of(edited("\"20.00\"", bad)), invalid_format("tax")) << bad;
        EXPECT_EQ(errors_of(edited("\"5.00\"", bad)), invalid_format("shipping")) << bad;
        EXPECT_EQ(errors_of(edited("\"60.00\"", bad)), invalid_format("line_items[0].amount"))
            << bad;
        EXPECT_EQ(errors_of(edited("\"10.00\"", bad)), invalid_format("line_items[0].tax")) << bad;
        EXPECT_EQ(errors_of(edited("\"30.00\"", bad)),
                  invalid_format("refund_line_items[0].amount"));
        EXPECT_EQ(errors_of(edited("\"10\"", bad)), invalid_format("discounts[0].value")) << bad;
    }
    EXPECT_THAT(errors_of(edited("120.00", "000120.00")), IsEmpty());
}

TEST(OrderEventRules, QuantityIsAWholeNumberStringOfAtMost9Digits) {
    const auto line = [](std::string_view to) {
        return errors_of(edited(R"("quantity": "2")", "\"quantity\": " + std::string(to)));
    };
    const auto refund = [](std::string_view to) {
        return errors_of(edited(R"("quantity": "1"}],
  "svc)",
                                "\"quantity\": " + std::string(to) + "}],\n  \"svc"));
    };
    for (const char* good : {"\"1\"", "\"999999999\"", "\"000000002\""}) {
        EXPECT_THAT(line(good), IsEmpty()) << good;
        EXPECT_THAT(refund(good), IsEmpty()) << good;
    }
    for (const char* bad : {"1", "\"\"", "\"1.0\"", "\"-1\"", "\"+1\"", "\"1000000000\"", "\" 1\"",
                            "\"0000000001\"", "\"0x1\"", "true"}) {
        EXPECT_EQ(line(bad), invalid_format("line_items[0].quantity")) << bad;
        EXPECT_EQ(refund(bad), invalid_format("refund_line_items[0].quantity")) << bad;
    }
    EXPECT_EQ(line("\"0\""), invalid_format("line_items[0].quantity"));
    EXPECT_EQ(line("\"000\""), invalid_format("line_items[0].quantity"));
    EXPECT_THAT(refund("\"0\""), IsEmpty());
}

TEST(OrderEventRules, TimestampsAndCurrencyAreChecked) {
    EXPECT_EQ(errors_of(edited("2024-01-31T12:00:00Z", "2024-01-31 12:00:00")),
              invalid_format("platform_ordered_at"));
    EXPECT_EQ(
        errors_of(edited("\"platform_cancelled_at\": null", "\"platform_cancelled_at\": \"\"")),
        invalid_format("platform_cancelled_at"));
    EXPECT_EQ(errors_of(edited("2024-02-01T00:00:00Z", "2024-02-30T00:00:00Z")),
              invalid_format("refund_line_items[0].platform_refunded_at"));
    EXPECT_EQ(errors_of(edited("\"2024-01-31T12:00:00Z\"", "1706702400")),
              invalid_format("platform_ordered_at"));
    EXPECT_EQ(errors_of(edited("EUR", "eur")), invalid_format("currency_code"));
    EXPECT_EQ(errors_of(edited("EUR", "")), invalid_format("currency_code"));
}

TEST(OrderEventRules, DiscountsAreChecked) {
    EXPECT_EQ(errors_of(edited("SPRING", "")), invalid_format("discounts[0].code"));
    EXPECT_EQ(errors_of(edited("DISCOUNT_CODE", "discount_code")),
              invalid_format("discounts[0].type"));
    EXPECT_EQ(errors_of(edited("PERCENTAGE", "PERCENT")),
              invalid_format("discounts[0].value_type"));
    EXPECT_THAT(errors_of(edited("PERCENTAGE", "FIXED_AMOUNT")), IsEmpty());
    EXPECT_EQ(errors_of(edited("\"discounts\": [", "\"discounts\": [7, ")),
              invalid_format("discounts[0]"));
    EXPECT_EQ(errors_of(edited("\"discounts\": [", "\"discounts\": {}, \"x\": [")),
              invalid_format("discounts"));
}

TEST(OrderEventRules, AnOrderHasAtLeastOneLineItem) {
    EXPECT_EQ(errors_of(edited("\"line_items\": [", "\"line_items\": [], \"x\": ["))[0],
              "line_items INVALID_FORMAT");
    EXPECT_EQ(errors_of(edited("\"line_items\": [", "\"line_items\": {}, \"x\": ["))[0],
              "line_items INVALID_FORMAT");
    EXPECT_EQ(
        errors_of(edited("\"line_items\": [", "\"line_items\": [null, [], ")),
        (std::vector<std::string>{"line_items[0] INVALID_FORMAT", "line_items[1] INVALID_FORMAT"}));
}

TEST(OrderEventRules, LineItemIdsAreUniqueTheSecondIsAtFault) {
    EXPECT_EQ(errors_of(edited("l-2", "l-1")), invalid_format("line_items[1].line_item_id"));
    // Also when other errors come later, in order.
    EXPECT_THAT(errors_of(edited("\"60.00\"", "1", edited("l-2", "l-1"))),
                ElementsAre("line_items[0].amount INVALID_FORMAT",
                            "line_items[1].line_item_id INVALID_FORMAT"));
}

TEST(OrderEventRules, RefundAndLineIdsAppearOnceInRefundsTheSecondIsAtFault) {
    const auto second_refund = [](std::string_view refund_id, std::string_view line_id) {
        return edited("\"refund_line_items\": [",
                      R"("refund_line_items": [{"refund_line_item_id": ")" +
                          std::string(refund_id) + R"(", "line_item_id": ")" +
                          std::string(line_id) +
                          R"(", "platform_refunded_at": "2024-02-01T00:00:00Z", "sku": "s",
                              "amount": "1", "tax": "0", "quantity": "0"}, )");
    };
    EXPECT_THAT(errors_of(second_refund("r-2", "l-2")), IsEmpty());
    EXPECT_EQ(errors_of(second_refund("r-1", "l-2")),
              invalid_format("refund_line_items[1].refund_line_item_id"));
    EXPECT_EQ(errors_of(second_refund("r-2", "l-1")),
              invalid_format("refund_line_items[1].line_item_id"));
    EXPECT_THAT(errors_of(second_refund("r-1", "l-1")),
                ElementsAre("refund_line_items[1].refund_line_item_id INVALID_FORMAT",
                            "refund_line_items[1].line_item_id INVALID_FORMAT"));
}

TEST(OrderEventRules, ElementsThatAreNoObjectsAreListedAndKeepTheirPlace) {
    EXPECT_THAT(errors_of(edited("\"refund_line_items\": [", "\"refund_line_items\": [7, ")),
                ElementsAre("refund_line_items[0] INVALID_FORMAT"));
    EXPECT_THAT(
        errors_of(
            edited("\"line_items\": [", "\"line_items\": [7, ", edited("\"l-2\"", "\"l-1\""))),
        ElementsAre("line_items[0] INVALID_FORMAT", "line_items[2].line_item_id INVALID_FORMAT"));
}

TEST(OrderEventRules, ARefundNamesALineItemOfTheSamePayload) {
    EXPECT_EQ(errors_of(edited(R"("line_item_id": "l-1", "platform)",
                               R"("line_item_id": "l-9", "platform)")),
              invalid_format("refund_line_items[0].line_item_id"));
}

TEST(OrderEventRules, ANumberThatIsMalformedIsLeftOutAndNoError) {
    OrderEventParser parser;
    const auto read = [&parser](const std::string& members) {
        const std::string body = edited(R"("svc_anon_id": "anon-1")", members);
        const OrderEvent* event = parser.parse(body, Topic::kOrderUpdate, "svc_anon_id");
        std::string found;
        for (const std::string_view number : event->numbers) {
            found.append(number).append("|");
        }
        return found.append(event->confirmation_number);
    };
    const std::string longest(64, 'n'), confirmed = R"("platform_confirmation_number": )";
    EXPECT_EQ(
        read(R"("platform_order_numbers": ["#1001", "1001/b"], )" + confirmed + R"("XK4J2PQ9V")"),
        "#1001|1001/b|XK4J2PQ9V");
    EXPECT_EQ(read(R"("platform_order_numbers": ["", " # ", 7, null, ["x"], "a\tb", ")" + longest +
                   R"(", ")" + longest + R"(n"])"),
              longest + "|");
    EXPECT_EQ(read(R"("platform_order_numbers": ["1", "2", "3", "4", "5"])"), "1|2|3|4|");
    for (const char* const other : {R"("1001")", "null", "{}", "1001", "[]"}) {
        EXPECT_EQ(read(R"("platform_order_numbers": )" + std::string(other)), "") << other;
    }
    for (const std::string& other :
         {std::string(R"("SHORT12")"), std::string("12345678"), "\"" + longest + "n\""}) {
        EXPECT_EQ(read(confirmed + other), "") << other;
    }
}

TEST(OrderEventRules, UnknownFieldsAreAccepted) {
    EXPECT_THAT(errors_of(edited("\"unknown\"", "\"\": {}, \"AMOUNT\": 1, \"amount \"")),
                IsEmpty());
}

TEST(OrderEventRules, ANamedFieldTwiceInOneObjectIsInvalid) {
    EXPECT_EQ(errors_of(edited("\"unknown\"", "\"amount\"")), invalid_format("amount"));
    EXPECT_EQ(errors_of(edited("\"unknown\"", "\"svc_anon_id\"")), invalid_format("svc_anon_id"));
    EXPECT_EQ(errors_of(edited("\"unknown\"", R"("\u0061mount")")), invalid_format("amount"));
    EXPECT_EQ(
        errors_of(edited("\"unknown\": {\"kept\": [1, 2.5, null, true, \"x\"]}", "\"tax\": null")),
        invalid_format("tax"));
    EXPECT_EQ(errors_of(edited("\"quantity\": \"2\"", "\"quantity\": \"2\", \"quantity\": \"2\"")),
              invalid_format("line_items[0].quantity"));
    EXPECT_EQ(errors_of(edited("\"value\": \"10\"", "\"value\": \"10\", \"value\": \"11\"")),
              invalid_format("discounts[0].value"));
    EXPECT_THAT(errors_of(edited("\"unknown\"", "\"twice\": 1, \"twice\"")), IsEmpty());
}

TEST(OrderEventRules, TheFirst100ErrorsAreListed) {
    std::string lines;
    for (int i = 0; i < 500; ++i) {
        lines += "{\"line_item_id\":\"n\"},";
    }
    const auto errors = errors_of(edited("\"line_items\": [", "\"line_items\": [" + lines));
    ASSERT_EQ(errors.size(), OrderEventParser::kErrorsMax);
    EXPECT_EQ(errors[0], "line_items[0].sku REQUIRED");
    EXPECT_EQ(errors[4], "line_items[1].line_item_id INVALID_FORMAT");
    EXPECT_EQ(errors[5], "line_items[1].sku REQUIRED");
}

TEST(OrderEventRules, RepeatedIdsAreFoundInLongListsToo) {
    std::string lines;
    for (int i = 0; i < 3000; ++i) {
        lines += R"({"line_item_id":"n)" + std::to_string(i) +
                 R"(","sku":"s","amount":"1","tax":"0","quantity":"1"},)";
    }
    const std::string many = edited("\"line_items\": [", "\"line_items\": [" + lines);
    EXPECT_THAT(errors_of(many), IsEmpty());
    EXPECT_EQ(errors_of(edited("\"n2999\"", "\"n17\"", many)),
              invalid_format("line_items[2999].line_item_id"));
    EXPECT_EQ(errors_of(edited(R"("line_item_id": "l-1", "platform)",
                               R"("line_item_id": "m", "platform)", many)),
              invalid_format("refund_line_items[0].line_item_id"));
}

/// Every text of an event.
std::string texts_of(const OrderEvent& event) {
    std::string all;
    for (const std::string_view text :
         {event.order_id, event.customer_id.value_or("-"), event.email.value_or("-"),
          event.phone.value_or("-"), event.amount.text, event.tax.text, event.shipping.text,
          event.anon_id.value_or("-"), event.discounts.at(0).code, event.discounts.at(0).value.text,
          event.numbers.at(0), event.numbers.at(1), event.confirmation_number}) {
        all.append(text).append("|");
    }
    for (const LineItem& line : event.line_items) {
        for (const std::string_view text :
             {line.line_item_id, line.sku, line.variant_sku.value_or("-"), line.amount.text,
              line.tax.text}) {
            all.append(text).append("|");
        }
    }
    const RefundLineItem& refund = event.refund_line_items.at(0);
    for (const std::string_view text :
         {refund.refund_line_item_id, refund.line_item_id, refund.sku,
          refund.variant_sku.value_or("-"), refund.amount.text, refund.tax.text}) {
        all.append(text).append("|");
    }
    return all;
}

TEST(OwnedOrderEvent, KeepsEveryTextWhenTheParserReadsAnotherEvent) {
    OrderEventParser parser;
    OwnedOrderEvent owned;
    const std::string order =
        edited(R"("svc_anon_id": "anon-1")", R"("platform_order_numbers": ["#1001", "1001/b"], )"
                                             R"("platform_confirmation_number": "XK4J2PQ91")");
    const auto event = [&] { return parser.parse(order, Topic::kOrderUpdate, "svc_anon_id"); };
    const std::string expected = texts_of(*event());
    const OrderEvent& kept = owned.assign(*event());
    std::string other(order);  // as long, so that each text takes the place of the kept one's
    for (char& c : other) {
        c = c == '1' ? '7' : c;
    }
    static_cast<void>(parser.parse(other, Topic::kOrderUpdate, "svc_anon_id"));
    EXPECT_EQ(texts_of(kept), expected);
    EXPECT_NE(kept.order_id.data(), event()->order_id.data());
    EXPECT_EQ(texts_of(owned.assign(*event())), expected) << "reused";
}

TEST(OrderEventRules, MessagesNeverRepeatTheBody) {
    OrderEventParser parser;
    std::string body(kOrder);
    for (const char* value : {"o-1", "EUR", "120.00", "SPRING", "PERCENTAGE", "r-1", "12:00:00Z"}) {
        body = edited(value, "SECRET\\u0000", body);
    }
    EXPECT_EQ(parser.parse(body, Topic::kOrderUpdate, "svc_anon_id"), nullptr);
    for (const FieldError& error : parser.errors()) {
        EXPECT_EQ(error.message.find("SECRET"), std::string::npos);
    }
}

}  // namespace
}  // namespace sluice
