// Source options: the options that say of which platform orders are, and how they are read.
#pragma once

#include <string>
#include <string_view>

#include "core/values/result.hpp"
#include "program/cli/cli.hpp"
#include "tool/shops/translated_orders.hpp"

namespace sluice::cli {

/// Parses `shop` or `presentment`; true means presentment.
[[nodiscard]] Result<bool> parse_money_choice(std::string_view text);
/// Parses `ignore` or `count`; true means count.
[[nodiscard]] Result<bool> parse_count_choice(std::string_view text);

/// Adds `--source`, and returns it.
Option add_source(Subcommand app, OrderSource& source);
/// Adds the settings of a shop, for a command that knows no registry.
void add_source_settings(Subcommand app, SourceSettings& settings);

}  // namespace sluice::cli
