#include "tool/bank/schema_values.hpp"

#include <algorithm>
#include <string>

namespace sluice::cli {
namespace {

constexpr std::size_t kDateBytes = 10;  // 2026-02-03

}  // namespace

std::optional<Decimal> schema_decimal(std::string_view text) {
    const bool is_negative = text.starts_with('-');
    if (is_negative || text.starts_with('+')) {
        text.remove_prefix(1);
    }
    const std::size_t point = text.find('.');
    std::string_view whole = text.substr(0, point);
    std::string_view fraction =
        point == std::string_view::npos ? std::string_view() : text.substr(point + 1);
    if (whole.empty() && fraction.empty()) {
        return std::nullopt;
    }
    while (whole.starts_with('0')) {
        whole.remove_prefix(1);
    }
    while (fraction.ends_with('0')) {
        fraction.remove_suffix(1);
    }
    std::string plain(whole.empty() ? "0" : whole);
    if (!fraction.empty()) {
        plain.append(".").append(fraction);
    }
    const std::optional<Decimal> value = Decimal::parse(plain);
    return is_negative && value && !value->is_zero() ? std::nullopt : value;
}

std::optional<Timestamp> schema_date(std::string_view text) {
    const std::string day(text.substr(0, kDateBytes));
    const std::string_view rest = text.substr(day.size());
    const bool is_time = rest.starts_with('T');
    if (is_time ? !schema_time(text) : !Timestamp::parse(day + "T00:00:00" + std::string(rest))) {
        return std::nullopt;
    }
    return Timestamp::parse(day + "T00:00:00Z");
}

std::optional<Timestamp> schema_time(std::string_view text) {
    constexpr std::string_view kMidnight = "T00:00:00", kEndOfDay = "T24:00:00";
    constexpr std::size_t kNanoDigits = 9;
    std::string plain(text);
    const bool is_end =
        plain.compare(std::min(plain.size(), kDateBytes), kEndOfDay.size(), kEndOfDay) == 0;
    if (is_end) {
        plain.replace(kDateBytes, kMidnight.size(), kMidnight);
    }
    const std::size_t point = plain.find('.');
    if (point != std::string::npos) {  // a schema sets no limit to the digits
        const std::size_t end =
            std::min(plain.find_first_not_of("0123456789", point + 1), plain.size());
        if (end - point - 1 > kNanoDigits) {
            plain.erase(point + 1 + kNanoDigits, end - point - 1 - kNanoDigits);
        }
    }
    const std::optional<Timestamp> at = Timestamp::parse(plain);
    if (!at || !is_end) {
        return at;
    }
    return at->nanos == 0 ? std::optional(at->plus_days(1)) : std::nullopt;
}

}  // namespace sluice::cli
