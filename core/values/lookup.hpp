// Look-ups in lists and maps, with a pointer instead of an iterator.
#pragma once

#include <algorithm>
#include <functional>

namespace sluice {

/// Returns whether the list has the item.
template <class Items, class Item>
[[nodiscard]] constexpr bool has_item(const Items& items, const Item& item) {
    return std::ranges::find(items, item) != std::ranges::end(items);
}

/// Returns the first item of a list of which `of` is the value, or nullptr.
template <class Items, class Value, class Of = std::identity>
[[nodiscard]] constexpr auto* find_item(Items& items, const Value& value, Of of = {}) {
    const auto found = std::ranges::find(items, value, of);
    return found == std::ranges::end(items) ? nullptr : &*found;
}

/// Returns the value that a map has for the key, or nullptr.
template <class Map, class Key>
[[nodiscard]] auto* find_value(Map& map, const Key& key) {
    const auto found = map.find(key);
    return found == map.end() ? nullptr : &found->second;
}

}  // namespace sluice
