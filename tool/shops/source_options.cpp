#include "tool/shops/source_options.hpp"

#include "program/cli/cli_values.hpp"

namespace sluice::cli {
namespace {

Result<Platform> parse_source(std::string_view text) {
    const auto platform = parse_name<Platform>(text);
    if (!platform || *platform == Platform::kNone) {
        return Error{ErrorCode::kInvalid, "expected shopify or woocommerce"};
    }
    return *platform;
}

}  // namespace

Result<bool> parse_money_choice(std::string_view text) {
    if (text != "shop" && text != "presentment") {
        return Error{ErrorCode::kInvalid, "expected shop or presentment"};
    }
    return text == "presentment";
}

Result<bool> parse_count_choice(std::string_view text) {
    if (text != "ignore" && text != "count") {
        return Error{ErrorCode::kInvalid, "expected ignore or count"};
    }
    return text == "count";
}

Option add_source(Subcommand app, OrderSource& source) {
    return add_value(app, "--source", "shopify|woocommerce", source.platform, parse_source,
                     "Platform whose API returned the orders of the file");
}

void add_source_settings(Subcommand app, SourceSettings& settings) {
    add_value(app, "--from", "TIME", settings.from, parse_time,
              "Leave out orders placed before this time");
    add_value(app, "--money", "shop|presentment", settings.presentment_money, parse_money_choice,
              "Shopify: amounts in the shop's currency (default) or in the customer's");
    add_value(app, "--test-orders", "ignore|count", settings.counts_test_orders, parse_count_choice,
              "Shopify: orders marked as tests (default: ignore)");
    add_value(app, "--gift-cards", "ignore|count", settings.counts_gift_cards, parse_count_choice,
              "Shopify: lines that sell gift cards (default: ignore)");
}

}  // namespace sluice::cli
