// Lookup: what a map or a list has for a key, and what is made of a list, each in one call.
#pragma once

#include <algorithm>
#include <functional>
#include <iterator>
#include <type_traits>
#include <utility>
#include <vector>

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

/// Returns a copy of the key's value, or `otherwise`.
template <class Map>
[[nodiscard]] typename Map::mapped_type value_or(const Map& map, const typename Map::key_type& key,
                                                 typename Map::mapped_type otherwise = {}) {
    const auto found = map.find(key);
    return found == map.end() ? std::move(otherwise) : found->second;
}

/// Returns the key's value. If the map has none, it is made of `initial` first.
template <class Map, class Key = typename Map::key_type, class... Initial>
[[nodiscard]] typename Map::mapped_type& value_at(Map& map, Key&& key, Initial&&... initial) {
    return map.try_emplace(std::forward<Key>(key), std::forward<Initial>(initial)...).first->second;
}

/// Returns the first element for which `fits` returns true, or nullptr.
template <class List, class Fits>
[[nodiscard]] auto* find_where(List& list, Fits fits) {
    const auto found = std::find_if(std::begin(list), std::end(list), fits);
    return found == std::end(list) ? nullptr : &*found;
}

/// Returns what `make` returns for each element, in their order.
template <class List, class Make>
[[nodiscard]] auto mapped(List&& list, Make make) {
    std::vector<std::decay_t<decltype(make(*std::begin(list)))>> made;
    made.reserve(std::size(list));
    for (auto&& element : list) {
        made.push_back(make(element));
    }
    return made;
}

/// Returns the sum of what `of` is for each element, a number.
template <class List, class Of>
[[nodiscard]] auto sum_of(const List& list, Of of) {
    std::decay_t<decltype(std::invoke(of, *std::begin(list)))> sum{};
    for (const auto& element : list) {
        sum += std::invoke(of, element);
    }
    return sum;
}

/// Calls `visit`. Returns what it returns, or true if it returns nothing: it then wants all.
template <class Visit, class... Values>
bool wants_more(Visit&& visit, const Values&... values) {
    if constexpr (std::is_void_v<decltype(visit(values...))>) {
        visit(values...);
        return true;
    } else {
        return visit(values...);
    }
}

}  // namespace sluice
