// Shop settings: how the orders of a platform's file are read for a shop.
#pragma once

#include <optional>
#include <string>

#include "core/shops/source.hpp"
#include "core/values/result.hpp"
#include "program/cli/cli.hpp"

namespace sluice::cli {

/// The settings that the options of a command state.
struct StatedSettings {
    std::optional<Timestamp> from;
    std::optional<bool> presentment_money, counts_test_orders, counts_gift_cards;
};

/// Returns the settings of the store's shop, as nginx uses them for its webhooks, but its --from: a
/// file has the orders from before the webhooks. Options that are stated win. If this machine has
/// no such shop, an option that is not stated has its default, and a line on stderr names it.
/// Returns kInvalid for a shop of another platform.
/// @param shop  Empty: an option that is not stated has its default.
[[nodiscard]] Result<SourceSettings> shop_settings(const Frame& frame, const std::string& shop,
                                                   Platform platform, const StatedSettings& stated);

}  // namespace sluice::cli
