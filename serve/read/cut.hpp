// Cuts: what an answer has no room for is cut with a mark, and a cursor to the rest. No answer is
// refused for its size, because a larger one will not come smaller next time.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/json/value.hpp"

namespace sluice::serve {

/// Where a list of an object is read on.
struct CutPlace {
    std::vector<std::string> path;  ///< Names of members, and indices of lists: payouts, 0, items.
    std::size_t from = 0;           ///< Index of the first item.
};
[[nodiscard]] std::string cut_key(const CutPlace& place);
/// Returns nothing unless cut_key() made the key.
[[nodiscard]] std::optional<CutPlace> cut_place(std::string_view key);

/// Returns the cursor of a key.
using CursorOf = std::function<std::string(const std::string& key)>;

/// Cuts the longest lists and texts of an object so that it has about `bytes_max` bytes at most,
/// and returns it as text. An object that was cut gets the member `cut`: for each list or text its
/// `member` (`payouts.0.items`), the index `from` of its first item, the number of items or bytes
/// `shown`, their `total`, and the cursor `next`, which is null for a text.
/// @param after   Shows the rest of this list; the other lists are null.
/// @param cursor_of  Absent if no cursor leads to the rest.
/// Returns nothing if the object has no such list.
[[nodiscard]] std::optional<std::string> fit_object(Json& object, std::size_t bytes_max,
                                                    const std::optional<CutPlace>& after,
                                                    const CursorOf& cursor_of);

}  // namespace sluice::serve
