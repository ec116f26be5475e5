// Shop order: any body gives one of the outcomes, the same one twice; an order is one that the
// ledger reads, and has the same values again if it is made from `seen`.
#include <string>

#include "check.hpp"
#include "core/json/slices.hpp"
#include "core/protocol/order_event.hpp"
#include "core/shops/source_rows.hpp"
#include "core/shops/translator.hpp"

namespace {

using sluice::SourceRequest;
using sluice::SourceSettings;
using sluice::Translation;
using sluice::TranslationKind;

struct Choices {
    SourceRequest request;
    SourceSettings settings;
};

/// Takes platform, topic and settings from the first two bytes.
Choices take_choices(std::string_view& input) {
    constexpr std::string_view kShopifyTopics[] = {"orders/updated", "orders/delete",
                                                   "customers/redact", "refunds/create"};
    constexpr std::string_view kWooTopics[] = {"order.updated", "order.deleted", "order.restored",
                                               "coupon.created"};
    const unsigned topic = sluice::fuzz::take_choice(input);
    const unsigned settings = sluice::fuzz::take_choice(input);
    Choices chosen;
    const bool is_shopify = topic % 2 == 0;
    chosen.request.platform =
        is_shopify ? sluice::Platform::kShopify : sluice::Platform::kWooCommerce;
    chosen.request.topic = (is_shopify ? kShopifyTopics : kWooTopics)[topic / 2 % 4];
    chosen.request.body = input;
    chosen.request.anon_field = "svc_anon_id";
    if (topic % 16 >= 8) {
        chosen.request.triggered_at = sluice::Timestamp{1'772'359'201, 516'267'807};
    }
    chosen.settings.presentment_money = (settings & 1U) != 0;
    chosen.settings.counts_test_orders = (settings & 2U) != 0;
    chosen.settings.counts_gift_cards = (settings & 4U) != 0;
    chosen.settings.platform_shop = (settings & 8U) != 0 ? 548'380'009 : 0;
    return chosen;
}

std::string_view member(std::string_view object, std::string_view name) {
    for (const sluice::JsonMember& each : sluice::json_members(object)) {
        if (each.key == name) {
            return each.value;
        }
    }
    return {};
}

/// Lines and refunds: what a second translation must repeat.
std::string rows_of(std::string_view body) {
    return std::string(member(body, "line_items")) +
           std::string(member(body, "refund_line_items")) + std::string(member(body, "amount"));
}

void check_order(const Choices& chosen, const std::string& body) {
    sluice::OrderEventParser parser;
    FUZZ_CHECK(parser.parse(body, sluice::Topic::kOrderUpdate, "svc_anon_id") != nullptr);
    const std::string seen(member(member(body, "source"), "seen"));
    if (seen.empty()) {
        return;  // too large to be kept
    }
    Choices again = chosen;
    again.request.body = seen;
    again.settings.platform_shop = 0;
    sluice::Translator translator;
    const Translation second = translator.translate(again.request, again.settings);
    FUZZ_CHECK(second.kind == TranslationKind::kOrder);
    FUZZ_CHECK(rows_of(second.body) == rows_of(body));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    static sluice::Translator reused;
    std::string_view input = sluice::fuzz::text_of(data, size);
    const Choices chosen = take_choices(input);

    const Translation found = reused.translate(chosen.request, chosen.settings);
    FUZZ_CHECK((found.kind == TranslationKind::kFaults) == !found.faults.empty());
    FUZZ_CHECK((found.kind == TranslationKind::kUnreadable) == !found.error.empty());
    const std::string body(found.body);
    if (!body.empty()) {
        const auto rows = sluice::source_rows(body);
        FUZZ_CHECK(found.kind != TranslationKind::kOrder || !rows.empty() ||
                   body.find("\"seen_bytes\":") != std::string::npos);
    }
    if (found.kind == TranslationKind::kOrder) {
        check_order(chosen, body);
    } else if (found.kind == TranslationKind::kFaults) {
        sluice::OrderEventParser parser;
        FUZZ_CHECK(parser.parse(body, sluice::Topic::kOrderUpdate, "svc_anon_id") == nullptr);
        FUZZ_CHECK(found.faults.size() <= 100);
    }

    sluice::Translator fresh;
    const Translation second = fresh.translate(chosen.request, chosen.settings);
    FUZZ_CHECK(second.kind == found.kind && second.body == body);
    return 0;
}
