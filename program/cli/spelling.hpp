// Spelling: how far two names are from each other, the known name that an unknown one means, and
// how a time is read.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace sluice::cli {

/// Longer names are not compared, which would take time.
inline constexpr std::size_t kComparedNameMax = 40;

/// Returns the number of letters that must be inserted, deleted, replaced or swapped with their
/// neighbour to turn one name into the other. Requires: both are at most kComparedNameMax long.
[[nodiscard]] std::size_t spelling_distance(std::string_view a, std::string_view b);

/// Returns the known name that `word` begins, or that is at most two letters from it (one letter,
/// if the word is shorter than six), the nearest first. Returns nothing if there is none.
[[nodiscard]] std::optional<std::string> nearest_name(const std::vector<std::string>& known,
                                                      std::string_view word);

/// Prints a note, once, if the text is a time without an offset: it is taken as UTC.
void note_missing_offset(const std::string& text);

}  // namespace sluice::cli
