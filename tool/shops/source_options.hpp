// Source options: the options that say of which platform orders are, and how they are read.
#pragma once

#include <algorithm>
#include <string>
#include <string_view>

#include "program/cli/cli.hpp"
#include "program/cli/cli_values.hpp"
#include "tool/shops/translated_orders.hpp"

namespace sluice::cli {

/// Adds `--source`, and returns it.
inline Option add_source(Subcommand app, OrderSource& source) {
    return add_word<Platform>(
        app, "--source", source.platform,
        {{"shopify", Platform::kShopify}, {"woocommerce", Platform::kWooCommerce}},
        "Platform whose API returned the orders of the file");
}

/// Accepts visible ASCII only, because the word becomes part of a header.
inline Result<std::string> parse_header_word(std::string_view text) {
    const bool visible = std::ranges::all_of(text, [](char c) { return c > ' ' && c < 127; });
    return fitting(text, visible && !text.empty(), "expected visible characters without spaces");
}

/// Adds `--header-prefix`, which names the field of the device id.
inline void add_header_prefix(Subcommand app, std::string& prefix) {
    add_value(app, "--header-prefix", "PREFIX", prefix, parse_header_word,
              "Prefix of header names, as nginx's sluice_header_prefix (default: X-SVC-)");
}

/// Adds the settings by which orders of Shopify are read.
/// @param settings  Has members like SourceSettings, which are optional.
/// @param otherwise  Which value an option has that is left out; empty: shop, ignore and ignore.
template <class Settings>
void add_shopify_settings(Subcommand app, Settings& settings, const std::string& otherwise = {}) {
    const auto help = [&otherwise](const char* text, const char* value) {
        return std::string(text) + " (default: " + (otherwise.empty() ? value : otherwise) + ")";
    };
    add_word<bool>(app, "--money", settings.presentment_money,
                   {{"shop", false}, {"presentment", true}},
                   help("Shopify: amounts in the shop's currency or in the customer's", "shop"));
    const Words<bool> choices{{"ignore", false}, {"count", true}};
    add_word(app, "--test-orders", settings.counts_test_orders, choices,
             help("Shopify: orders marked as tests", "ignore"));
    add_word(app, "--gift-cards", settings.counts_gift_cards, choices,
             help("Shopify: lines that sell gift cards", "ignore"));
}

}  // namespace sluice::cli
