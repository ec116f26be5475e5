#include "tool/reconcile/list_map.hpp"

#include <algorithm>

#include "core/values/texts.hpp"

namespace sluice::cli {
namespace {

/// A field's name in the payload, and its column in `report orders`.
struct FieldName {
    std::string_view payload;
    std::string_view report;
};
constexpr std::array<FieldName, kListFields> kNames{{{"platform_order_id", "order_id"},
                                                     {"platform_ordered_at", "ordered_at"},
                                                     {"platform_updated_at", "last_updated_at"},
                                                     {"platform_cancelled_at", "cancelled_at"},
                                                     {"amount", "amount"},
                                                     {"tax", "tax"},
                                                     {"shipping", "shipping"},
                                                     {"currency_code", "currency"}}};

/// Returns the comma that the next FIELD= follows, or npos.
std::size_t end_of_column(std::string_view text) {
    for (std::size_t comma = text.find(','); comma != std::string_view::npos;
         comma = text.find(',', comma + 1)) {
        const std::string_view next = text.substr(comma + 1);
        if (std::ranges::any_of(kNames, [next](const FieldName& name) {
                return next.starts_with(name.payload) &&
                       next.substr(name.payload.size()).starts_with('=');
            })) {
            return comma;
        }
    }
    return std::string_view::npos;
}

}  // namespace

std::string_view name_of(ListField field) noexcept {
    return kNames[index_of(field)].payload;
}

std::string_view report_column_of(ListField field) noexcept {
    return kNames[index_of(field)].report;
}

Result<ListMap> parse_list_map(std::string_view text) {
    ListMap map;
    while (!text.empty()) {
        const std::string_view part = text.substr(0, end_of_column(text));
        text.remove_prefix(std::min(part.size() + 1, text.size()));
        const std::size_t equals = std::min(part.find('='), part.size());
        const auto* const known =
            std::ranges::find(kNames, part.substr(0, equals), &FieldName::payload);
        if (known == kNames.end() || equals + 1 >= part.size()) {
            return invalid("expected FIELD=COLUMN,... with a FIELD of " +
                           joined(kNames, ", ", &FieldName::payload));
        }
        std::string& column = map[static_cast<std::size_t>(known - kNames.begin())];
        if (!column.empty()) {
            return invalid("expected each FIELD once, found " + std::string(known->payload) +
                           " twice");
        }
        column = part.substr(equals + 1);
    }
    return map;
}

Parsed<Timestamp> parse_list_time(std::string_view text) {
    constexpr std::size_t kDayBytes = 10;     // 2026-03-01
    constexpr std::size_t kOffsetDigits = 4;  // +0100
    std::string time(text);
    if (time.size() > kDayBytes && time[kDayBytes] == ' ') {
        time[kDayBytes] = 'T';
    }
    if (time.ends_with(" UTC")) {
        time.replace(time.size() - kOffsetDigits, kOffsetDigits, "Z");
    }
    const std::size_t sign = time.find_first_of("+-", std::min(kDayBytes, time.size()));
    if (sign != std::string::npos) {
        if (time.size() - sign == kOffsetDigits + 1 && time.find(':', sign) == std::string::npos) {
            time.insert(sign + 3, ":");
        }
        if (time[sign - 1] == ' ') {
            time.erase(sign - 1, 1);
        }
    }
    return Timestamp::parse(time);
}

}  // namespace sluice::cli
