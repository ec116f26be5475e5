#include "core/lists/list.hpp"

#include <algorithm>
#include <type_traits>

#include "core/values/assert.hpp"
#include "core/values/lookup.hpp"

namespace sluice::lists {

std::vector<std::string_view> words_of(std::string_view text) {
    std::vector<std::string_view> words;
    while (!text.empty()) {
        words.push_back(text.substr(0, text.find(' ')));
        text.remove_prefix(std::min(text.size(), words.back().size() + 1));
    }
    return words;
}

std::size_t column_place(const std::vector<Column>& columns, std::string_view name) {
    const auto found = std::ranges::find(columns, name, &Column::name);
    SLUICE_ASSERT(found != columns.end());
    return static_cast<std::size_t>(found - columns.begin());
}

std::vector<std::size_t> column_places(const std::vector<Column>& columns, std::string_view names) {
    return mapped(words_of(names),
                  [&](std::string_view name) { return column_place(columns, name); });
}

Json json_of(const Value& value) {
    return std::visit(
        [](const auto& held) -> Json {
            using Held = std::decay_t<decltype(held)>;
            if constexpr (std::is_same_v<Held, std::monostate>) {
                return {};
            } else if constexpr (std::is_same_v<Held, Decimal> || std::is_same_v<Held, Timestamp>) {
                return held.to_string();
            } else {
                return held;
            }
        },
        value.held());
}

bool fits(ColumnType type, const Value& value) noexcept {
    const Value::Held& held = value.held();
    const bool is_text =
        std::holds_alternative<std::string_view>(held) || std::holds_alternative<std::string>(held);
    if (std::holds_alternative<std::monostate>(held)) {
        return true;
    }
    switch (type) {
        case ColumnType::kText:
        case ColumnType::kDate:
        case ColumnType::kRate:
            return is_text;
        case ColumnType::kAmount:
            return is_text || std::holds_alternative<Decimal>(held);
        case ColumnType::kTexts:
            return std::holds_alternative<std::vector<std::string>>(held);
        case ColumnType::kInteger:
            return std::holds_alternative<std::uint64_t>(held);
        case ColumnType::kFlag:
            return std::holds_alternative<bool>(held);
        case ColumnType::kTime:
            return std::holds_alternative<Timestamp>(held);
        case ColumnType::kJson:
        case ColumnType::kObject:
        case ColumnType::kObjects:
            break;
    }
    return std::holds_alternative<Json>(held);
}

}  // namespace sluice::lists
