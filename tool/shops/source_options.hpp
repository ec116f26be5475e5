// Source options: the options that say of which platform orders are, and how they are read.
#pragma once

#include "program/cli/cli.hpp"
#include "tool/shops/translated_orders.hpp"

namespace sluice::cli {

/// Adds `--source`, and returns it.
inline Option add_source(Subcommand app, OrderSource& source) {
    return add_word<Platform>(
        app, "--source", source.platform,
        {{"shopify", Platform::kShopify}, {"woocommerce", Platform::kWooCommerce}},
        "Platform whose API returned the orders of the file");
}

/// Adds the settings by which orders of Shopify are read.
/// @param settings  Has members like SourceSettings, which may be optional.
template <class Settings>
void add_shopify_settings(Subcommand app, Settings& settings) {
    add_word<bool>(app, "--money", settings.presentment_money,
                   {{"shop", false}, {"presentment", true}},
                   "Shopify: amounts in the shop's currency (default) or in the customer's");
    const Words<bool> choices{{"ignore", false}, {"count", true}};
    add_word(app, "--test-orders", settings.counts_test_orders, choices,
             "Shopify: orders marked as tests (default: ignore)");
    add_word(app, "--gift-cards", settings.counts_gift_cards, choices,
             "Shopify: lines that sell gift cards (default: ignore)");
}

}  // namespace sluice::cli
