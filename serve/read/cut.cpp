#include "serve/read/cut.hpp"

#include <algorithm>
#include <charconv>
#include <map>
#include <utility>

#include "core/json/slices.hpp"
#include "core/json/value.hpp"
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

std::optional<std::size_t> index_of(std::string_view text) {
    std::size_t index = 0;
    const char* const end = text.data() + text.size();
    const auto [stop, error] = std::from_chars(text.data(), end, index);
    return error == std::errc() && stop == end ? std::optional(index) : std::nullopt;
}

/// Returns the object with null in place of its lists, and of those of the objects in it.
std::string without_lists(std::string_view json) {
    std::string text = "{";
    for (const JsonMember& member : json_members(json)) {
        text += (text.size() == 1 ? "" : ",") + json_quoted(member.key) + ":";
        text += member.value.starts_with('{')   ? without_lists(member.value)
                : member.value.starts_with('[') ? "null"
                                                : std::string(member.value);
    }
    return text + "}";
}

/// Returns the value with the list at `place` from its index on, and no other list; nothing if the
/// value has no such list.
std::optional<std::string> only(std::string_view json, const CutPlace& place, std::size_t depth) {
    const bool is_list = json.starts_with('[');
    if (depth == place.path.size()) {
        if (!is_list) {
            return std::nullopt;
        }
        std::string text = "[";
        const std::vector<std::string_view> elements = json_elements(json);
        for (std::size_t i = place.from; i < elements.size(); ++i) {
            text += i == place.from ? "" : ",";
            text += elements[i];
        }
        return text + "]";
    }
    if (is_list) {
        const auto index = index_of(place.path[depth]);
        const std::vector<std::string_view> elements = json_elements(json);
        const auto one = index && *index < elements.size()
                             ? only(elements[*index], place, depth + 1)
                             : std::nullopt;
        return one ? std::optional("[" + *one + "]") : std::nullopt;
    }
    if (!json.starts_with('{')) {
        return std::nullopt;
    }
    std::string text = "{";
    bool found = false;
    for (const JsonMember& member : json_members(json)) {
        text += (text.size() == 1 ? "" : ",") + json_quoted(member.key) + ":";
        if (member.key == place.path[depth]) {
            const auto inner = only(member.value, place, depth + 1);
            found = inner.has_value();
            text += inner.value_or("null");
        } else {
            text += member.value.starts_with('{')   ? without_lists(member.value)
                    : member.value.starts_with('[') ? "null"
                                                    : std::string(member.value);
        }
    }
    return found ? std::optional(text + "}") : std::nullopt;
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
            if (const auto index = index_of(path.back())) {
                first_[Path(path.begin(), path.end() - 1)] = *index;
            }
        }
    }

    std::string fit(std::string_view value, const Path& path, std::size_t bytes) {
        bytes = std::max(bytes, kLeast);
        if (value.size() <= bytes) {
            return std::string(value);
        }
        switch (value.front()) {
            case '{':
                return fit_members(value, path, bytes);
            case '[':
                return fit_list(value, path, bytes);
            case '"':
                return fit_text(value, path, bytes);
            default:
                return std::string(value);
        }
    }
    [[nodiscard]] Json marks() && { return std::move(marks_); }

private:
    /// Leaves the smaller members whole, and divides the rest among the larger ones.
    std::string fit_members(std::string_view value, const Path& path, std::size_t bytes) {
        const std::vector<JsonMember> members = json_members(value);
        std::vector<std::size_t> by_size(members.size());
        for (std::size_t i = 0; i < members.size(); ++i) {
            by_size[i] = i;
            bytes -= std::min(bytes, members[i].key.size() + 4);
        }
        std::ranges::stable_sort(by_size, {},
                                 [&](std::size_t i) { return members[i].value.size(); });
        std::vector<std::size_t> shares(members.size());
        for (std::size_t taken = 0; taken < by_size.size(); ++taken) {
            const std::size_t i = by_size[taken];
            shares[i] = std::min(members[i].value.size(), bytes / (by_size.size() - taken));
            bytes -= shares[i];
        }
        std::string text = "{";
        for (std::size_t i = 0; i < members.size(); ++i) {
            text += (i == 0 ? "" : ",") + json_quoted(members[i].key) + ":";
            text += fit(members[i].value, below(path, members[i].key), shares[i]);
        }
        return text + "}";
    }

    /// Keeps the first elements. If there is no room for one, cuts it.
    std::string fit_list(std::string_view value, const Path& path, std::size_t bytes) {
        const std::vector<std::string_view> elements = json_elements(value);
        const auto known = first_.find(path);
        const std::size_t first = known == first_.end() ? 0 : known->second;
        std::string text = "[";
        std::size_t shown = 0;
        while (shown < elements.size() && text.size() + elements[shown].size() + 2 <= bytes) {
            text += shown == 0 ? "" : ",";
            text += elements[shown++];
        }
        if (shown == 0) {
            text += fit(elements[shown++], below(path, std::to_string(first)), bytes - 2);
        }
        if (shown < elements.size()) {
            const std::size_t next = first + shown;
            mark(path, first, shown, first + elements.size(),
                 cursor_of_ ? Json(cursor_of_(cut_key({path, next}))) : Json());
        }
        return text + "]";
    }

    /// Keeps whole characters and escapes.
    std::string fit_text(std::string_view value, const Path& path, std::size_t bytes) {
        const std::string whole = json_string(value);
        std::size_t kept = std::min(whole.size(), bytes);
        const auto is_inside = [&whole](std::size_t at) {
            return at < whole.size() && (static_cast<unsigned char>(whole[at]) & 0xC0U) == 0x80U;
        };
        for (;
             kept > 0 && (is_inside(kept) || json_quoted(whole.substr(0, kept)).size() > bytes);) {
            kept = is_inside(kept) ? kept - 1 : kept - (kept + 7) / 8;
        }
        mark(path, 0, kept, whole.size(), Json());
        return json_quoted(whole.substr(0, kept));
    }

    void mark(const Path& path, std::size_t from, std::size_t shown, std::size_t total, Json next) {
        std::string member;
        for (const std::string& name : path) {
            member += (member.empty() ? "" : ".") + name;
        }
        marks_.push_back({{"member", member},
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
    const auto from = index_of(parts->back());
    if (!from) {
        return std::nullopt;
    }
    parts->pop_back();
    return CutPlace{*std::move(parts), *from};
}

std::optional<std::string> fit_object(std::string_view json, std::size_t bytes_max,
                                      const std::optional<CutPlace>& after,
                                      const CursorOf& cursor_of) {
    std::optional<std::string> whole = after ? only(json, *after, 0) : std::string(json);
    if (!whole || whole->size() <= bytes_max) {
        return whole;
    }
    Fitter fitter(after, cursor_of);
    std::string text = fitter.fit(*whole, {}, bytes_max - std::min(bytes_max / 2, kMarksMax));
    const Json marks = std::move(fitter).marks();
    text.pop_back();
    return text + ",\"cut\":" + marks.compact() + "}";
}

}  // namespace sluice::serve
