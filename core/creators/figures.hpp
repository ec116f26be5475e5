// Figures of a creator's links and codes, by day, month, link or code: see docs/clicks.md.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/json/member_writer.hpp"
#include "core/values/decimal.hpp"

namespace sluice {

enum class FiguresBy : std::uint8_t { kDay, kMonth, kLink, kCode };

/// Commission of attributed orders by accounting date, in the words of a statement.
struct CreatorEarned {
    std::string currency;
    Decimal earned, adjusted;
};
void each_member(auto& members, Is<CreatorEarned> auto& sum) {
    members("currency", sum.currency);
    members("earned", sum.earned);
    members("adjusted", sum.adjusted);
}

/// One of `day` (2026-01-31), `month` (2026-01), `link` and `code` is set; none of them in the row
/// of clicks that name no link. Days and months have what came by links.
struct CreatorFigures {
    std::optional<std::string> day, month, link, code;
    std::optional<std::string> to;                 ///< Where a link leads. Absent if there is none.
    std::optional<std::string_view> state;         ///< A link is active, stopped or removed.
    std::optional<std::uint64_t> clicks, devices;  ///< Absent of a code.
    std::uint64_t orders = 0;
    std::optional<std::string> conversion;  ///< Orders / devices. Absent without devices.
    std::vector<CreatorEarned> amounts;     ///< A row for each currency, sorted.
};
void each_member(auto& members, Is<CreatorFigures> auto& figures) {
    members.or_null("day", figures.day);
    members.or_null("month", figures.month);
    members.or_null("link", figures.link);
    members.or_null("code", figures.code);
    members.or_null("to", figures.to);
    members.or_null("state", figures.state);
    members.or_null("clicks", figures.clicks);
    members.or_null("devices", figures.devices);
    members("orders", figures.orders);
    members.or_null("conversion", figures.conversion);
    members("amounts", figures.amounts);
}

}  // namespace sluice
