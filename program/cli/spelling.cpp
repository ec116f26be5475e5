#include "program/cli/spelling.hpp"

#include <algorithm>
#include <array>
#include <cstdio>

#include "core/values/timestamp.hpp"

namespace sluice::cli {

std::size_t spelling_distance(std::string_view a, std::string_view b) {
    using Distances = std::array<std::size_t, kComparedNameMax + 1>;
    Distances before_last{}, last{}, row{};
    for (std::size_t j = 0; j <= b.size(); ++j) {
        last[j] = j;
    }
    for (std::size_t i = 1; i <= a.size(); ++i) {
        row[0] = i;
        for (std::size_t j = 1; j <= b.size(); ++j) {
            const std::size_t replaced = last[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
            row[j] = std::min({last[j] + 1, row[j - 1] + 1, replaced});
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) {
                row[j] = std::min(row[j], before_last[j - 2] + 1);
            }
        }
        before_last = last;
        last = row;
    }
    return last[b.size()];
}

std::optional<std::string> nearest_name(const std::vector<std::string>& known,
                                        std::string_view word) {
    constexpr std::size_t kShortWord = 6;
    if (word.empty() || word.size() > kComparedNameMax) {
        return std::nullopt;
    }
    std::optional<std::string> nearest;
    std::size_t least = word.size() < kShortWord ? 2 : 3;  // one more than is accepted
    for (const std::string& name : known) {
        const std::size_t distance = name.starts_with(word) ? 0
                                     : name.size() > kComparedNameMax
                                         ? least
                                         : spelling_distance(name, word);
        if (distance < least) {
            least = distance;
            nearest = name;
        }
    }
    return nearest;
}

void note_missing_offset(const std::string& text) {
    static bool noted = false;
    if (!noted && Timestamp::parse(text) && Timestamp::parse(text + "Z")) {
        noted = true;
        std::fprintf(stderr, "sluice: note: %s has no offset, so it is taken as UTC\n",
                     text.c_str());
    }
}

}  // namespace sluice::cli
