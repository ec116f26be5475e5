#include "tool/shops/shop_settings.hpp"

#include <cstdio>

#include "program/cli/output.hpp"
#include "worker/access/registry_access.hpp"

namespace sluice::cli {
namespace {

/// Returns the settings of Shopify's orders that no option states, as options with their defaults.
std::string default_options(const StatedSettings& stated) {
    std::string options;
    const auto add = [&options](bool is_stated, const char* option) {
        options += is_stated ? "" : (options.empty() ? "" : " ") + std::string(option);
    };
    add(stated.presentment_money.has_value(), "--money shop");
    add(stated.counts_test_orders.has_value(), "--test-orders ignore");
    add(stated.counts_gift_cards.has_value(), "--gift-cards ignore");
    return options;
}

SourceSettings with_stated(SourceSettings settings, const StatedSettings& stated) {
    settings.from = stated.from ? stated.from : settings.from;
    settings.presentment_money = stated.presentment_money.value_or(settings.presentment_money);
    settings.counts_test_orders = stated.counts_test_orders.value_or(settings.counts_test_orders);
    settings.counts_gift_cards = stated.counts_gift_cards.value_or(settings.counts_gift_cards);
    return settings;
}

}  // namespace

Result<SourceSettings> shop_settings(const Frame& frame, const std::string& shop, Platform platform,
                                     const StatedSettings& stated) {
    if (shop.empty()) {
        return with_stated({}, stated);
    }
    const auto known = ask_registry(
        frame, [&](store::Registry& registry) { return find_shop(registry, ShopId(shop)); });
    const Platform own = known.ok() ? known->source.platform : Platform::kNone;
    if (own == platform) {
        SourceSettings settings = known->source.settings;
        settings.from.reset();
        return with_stated(settings, stated);
    }
    if (own != Platform::kNone) {
        return invalid("shop " + shop + " is on " + std::string(to_string(own)));
    }
    const std::string defaults = platform == Platform::kShopify ? default_options(stated) : "";
    if (!defaults.empty()) {
        std::fprintf(stderr,
                     "sluice: this machine does not know how webhooks of shop %s are read; its "
                     "orders are read with %s, as `sluice shop set` has it\n",
                     printable(shop).c_str(), defaults.c_str());
    }
    return with_stated({}, stated);
}

}  // namespace sluice::cli
