#include "serve/read/cut.hpp"

#include <algorithm>
#include <map>
#include <utility>

#include "core/json/value.hpp"
#include "core/values/texts.hpp"
#include "program/cli/cli_values.hpp"
#include "serve/read/cursor.hpp"

namespace sluice::serve {
namespace {

using Path = std::vector<std::string>;

/// Bytes of an answer that its entries of `cut` may take.
constexpr std::size_t kMarksMax = std::size_t{64} << 10;
/// Shorter lists and texts are left whole, so that a cut shows something.
constexpr std::size_t kLeast = 256;

Path below(Path path, std::string name) {
    path.push_back(std::move(name));
    return path;
}

std::size_t bytes_of(const Json& value) {
    return value.compact().size();
}

/// Puts null in place of a list, or of the lists of an object and of the objects in it.
void remove_lists(Json& value) {
    if (value.is_list()) {
        value = Json();
    } else if (value.is_object()) {
        std::ranges::for_each(value.items(), remove_lists);
    }
}

/// Leaves the list at `place` from its index on, and no other list. Returns false if the value has
/// no such list.
bool leave_only(Json& value, const CutPlace& place, std::size_t depth) {
    if (depth == place.path.size()) {
        if (value.is_list()) {
            const auto first = std::min(place.from, value.items().size());
            value.items().erase(value.items().begin(),
                                value.items().begin() + static_cast<std::ptrdiff_t>(first));
        }
        return value.is_list();
    }
    const std::string& name = place.path[depth];
    if (value.is_list()) {
        const auto index = cli::parse_digits(name);
        if (!index || *index >= value.items().size()) {
            return false;
        }
        value = Json::array({std::move(value.items()[*index])});
        return leave_only(value.items().front(), place, depth + 1);
    }
    bool found = false;
    for (std::size_t i = 0; i < value.names().size(); ++i) {
        if (value.names()[i] == name) {
            found = leave_only(value.items()[i], place, depth + 1);
        } else {
            remove_lists(value.items()[i]);
        }
    }
    return found;
}

class Fitter {
public:
    Fitter(const std::optional<CutPlace>& after, const CursorOf& cursor_of)
        : cursor_of_(cursor_of) {
        if (!after) {
            return;
        }
        first_[after->path] = after->from;
        for (Path path = after->path; !path.empty(); path.pop_back()) {
            if (const auto index = cli::parse_digits(path.back())) {
                first_[Path(path.begin(), path.end() - 1)] = *index;
            }
        }
    }

    void fit(Json& value, const Path& path, std::size_t bytes) {
        bytes = std::max(bytes, kLeast);
        if (bytes_of(value) <= bytes) {
            return;
        }
        if (value.is_object()) {
            fit_members(value, path, bytes);
        } else if (value.is_list()) {
            fit_list(value, path, bytes);
        } else if (value.is_text()) {
            fit_text(value, path, bytes);
        }
    }
    [[nodiscard]] Json marks() && { return std::move(marks_); }

private:
    /// Leaves the smaller members whole, and divides the rest among the larger ones.
    void fit_members(Json& value, const Path& path, std::size_t bytes) {
        const std::vector<std::string>& names = value.names();
        std::vector<std::size_t> sizes, by_size;
        for (std::size_t i = 0; i < names.size(); ++i) {
            sizes.push_back(bytes_of(value.items()[i]));
            by_size.push_back(i);
            bytes -= std::min(bytes, names[i].size() + 4);
        }
        std::ranges::stable_sort(by_size, {}, [&sizes](std::size_t i) { return sizes[i]; });
        std::vector<std::size_t> shares(names.size());
        for (std::size_t shared = 0; shared < by_size.size(); ++shared) {
            const std::size_t i = by_size[shared];
            shares[i] = std::min(sizes[i], bytes / (by_size.size() - shared));
            bytes -= shares[i];
        }
        for (std::size_t i = 0; i < names.size(); ++i) {
            fit(value.items()[i], below(path, names[i]), shares[i]);
        }
    }

    /// Keeps the first elements. If there is no room for one, cuts it.
    void fit_list(Json& value, const Path& path, std::size_t bytes) {
        std::vector<Json>& elements = value.items();
        const std::size_t total = elements.size();
        const auto known = first_.find(path);
        const std::size_t first = known == first_.end() ? 0 : known->second;
        std::size_t shown = 0;
        for (std::size_t used = 1; shown < total; ++shown) {
            const std::size_t more = bytes_of(elements[shown]);
            if (used + more + 2 > bytes) {
                break;
            }
            used += more + (shown == 0 ? 0U : 1U);
        }
        if (shown == 0) {
            fit(elements[shown++], below(path, std::to_string(first)), bytes - 2);
        }
        elements.resize(shown);
        if (shown < total) {
            const std::size_t next = first + shown;
            mark(path, first, shown, first + total,
                 cursor_of_ ? Json(cursor_of_(cut_key({path, next}))) : Json());
        }
    }

    /// Keeps whole characters and escapes.
    void fit_text(Json& value, const Path& path, std::size_t bytes) {
        const std::string whole = value.cell();
        std::size_t kept = std::min(whole.size(), bytes);
        const auto is_inside = [&whole](std::size_t at) {
            return at < whole.size() && (static_cast<unsigned char>(whole[at]) & 0xC0U) == 0x80U;
        };
        for (;
             kept > 0 && (is_inside(kept) || json_quoted(whole.substr(0, kept)).size() > bytes);) {
            kept = is_inside(kept) ? kept - 1 : kept - (kept + 7) / 8;
        }
        mark(path, 0, kept, whole.size(), Json());
        value = whole.substr(0, kept);
    }

    void mark(const Path& path, std::size_t from, std::size_t shown, std::size_t total, Json next) {
        marks_.push_back({{"member", joined(path, ".")},
                          {"from", from},
                          {"shown", shown},
                          {"total", total},
                          {"next", std::move(next)}});
    }

    const CursorOf& cursor_of_;
    std::map<Path, std::size_t> first_;  ///< Indices of the first items of lists.
    Json marks_ = Json::array();
};

}  // namespace

std::string cut_key(const CutPlace& place) {
    std::vector<std::string> parts = place.path;
    parts.push_back(std::to_string(place.from));
    return join_key(parts);
}

std::optional<CutPlace> cut_place(std::string_view key) {
    auto parts = split_key(key);
    if (!parts || parts->size() < 2) {
        return std::nullopt;
    }
    const auto from = cli::parse_digits(parts->back());
    if (!from) {
        return std::nullopt;
    }
    parts->pop_back();
    return CutPlace{*std::move(parts), *from};
}

std::optional<std::string> fit_object(Json& object, std::size_t bytes_max,
                                      const std::optional<CutPlace>& after,
                                      const CursorOf& cursor_of) {
    if (after && !leave_only(object, *after, 0)) {
        return std::nullopt;
    }
    std::string whole = object.compact();
    if (whole.size() <= bytes_max) {
        return whole;
    }
    Fitter fitter(after, cursor_of);
    fitter.fit(object, {}, bytes_max - std::min(bytes_max / 2, kMarksMax));
    object["cut"] = std::move(fitter).marks();
    return object.compact();
}

}  // namespace sluice::serve
