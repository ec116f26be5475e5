#include "tool/shops/shop_settings.hpp"

#include "worker/access/registry_access.hpp"

namespace sluice::cli {
namespace {

/// Returns the options that have to state the settings, and do not.
std::string missing_options(Platform platform, const StatedSettings& stated) {
    std::string names;
    const auto add = [&names](bool is_stated, const char* name) {
        names += is_stated ? "" : (names.empty() ? "" : ", ") + std::string(name);
    };
    add(stated.from.has_value(), "--from");
    if (platform == Platform::kShopify) {
        add(stated.presentment_money.has_value(), "--money");
        add(stated.counts_test_orders.has_value(), "--test-orders");
        add(stated.counts_gift_cards.has_value(), "--gift-cards");
    }
    return names;
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
        return with_stated(known->source.settings, stated);
    }
    if (own != Platform::kNone) {
        return invalid("shop " + shop + " is on " + std::string(to_string(own)));
    }
    const std::string missing = missing_options(platform, stated);
    if (missing.empty()) {
        return with_stated({}, stated);
    }
    const std::string why = known.ok() ? "the store's shop has no platform" : known.error().message;
    return invalid("how the orders of shop " + shop + " are read is not known here (" + why +
                   "): state it with " + missing + ", as `sluice shop set` has it");
}

}  // namespace sluice::cli
