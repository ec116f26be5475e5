// JSON for output: values, and the layout of JSON text.
#pragma once

#include <concepts>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/json/writer.hpp"
#include "core/values/timestamp.hpp"

namespace sluice {

/// A value to be written: null, a flag, a number, text, a list, or an object whose members keep
/// their order.
class Json {
public:
    struct Member;

    Json() = default;  ///< null
    Json(std::nullptr_t) {}
    template <std::same_as<bool> Flag>
    Json(Flag flag) : kind_(Kind::kPlain), text_(flag ? "true" : "false") {}
    template <std::integral Number>
    requires(!std::same_as<Number, bool>) Json(Number number)
        : kind_(Kind::kPlain), text_(std::to_string(number)) {}
    Json(std::string text) : kind_(Kind::kText), text_(std::move(text)) {}
    Json(std::string_view text) : Json(std::string(text)) {}
    Json(const char* text) : Json(std::string(text)) {}
    Json(const std::vector<std::string>& words);
    Json(const Timestamp& time) : Json(time.to_string()) {}
    Json(const std::optional<Timestamp>& time) : Json(time ? Json(time->to_string()) : Json()) {}
    Json(std::initializer_list<Member> members);
    [[nodiscard]] static Json object() { return Json(std::initializer_list<Member>{}); }
    [[nodiscard]] static Json array(std::initializer_list<Json> items = {});
    /// Returns a list of what `each` makes of the rows.
    template <class Rows, class Each>
    [[nodiscard]] static Json list(const Rows& rows, Each&& each) {
        Json list = array();
        for (const auto& row : rows) {
            list.push_back(each(row));
        }
        return list;
    }

    /// Returns the value of valid JSON text. Numbers stay as they were written.
    [[nodiscard]] static Json from_text(std::string_view text);

    /// Adds an item to a list; null becomes a list.
    void push_back(Json item);
    /// The member `name` of an object, added as null if the object lacks it.
    [[nodiscard]] Json& operator[](std::string_view name);

    [[nodiscard]] bool is_null() const noexcept { return kind_ == Kind::kNull; }
    [[nodiscard]] bool is_text() const noexcept { return kind_ == Kind::kText; }
    [[nodiscard]] bool is_list() const noexcept { return kind_ == Kind::kList; }
    [[nodiscard]] bool is_object() const noexcept { return kind_ == Kind::kObject; }
    /// Returns the items of a list, or the members of an object, in order.
    [[nodiscard]] const std::vector<Json>& items() const noexcept { return items_; }
    [[nodiscard]] std::vector<Json>& items() noexcept { return items_; }
    /// Returns the names of an object's members, in the order of items().
    [[nodiscard]] const std::vector<std::string>& names() const noexcept { return names_; }

    /// Calls change(name, value) for each member of this object, and of those below it.
    template <class Change>
    void change_members(Change&& change) {
        for (std::size_t i = 0; i < items_.size(); ++i) {
            if (i < names_.size()) {
                change(names_[i], items_[i]);
            }
            items_[i].change_members(change);
        }
    }

    /// JSON text on one line, without spaces.
    [[nodiscard]] std::string compact() const;
    /// Appends compact(), or with other escapes.
    void append_to(std::string& out, JsonEscapes escapes = JsonEscapes::kUnseen) const;
    /// JSON text as indented() lays it out.
    [[nodiscard]] std::string pretty() const;
    /// Returns the text of a cell of a table or CSV file, not yet quoted: null is empty, a list of
    /// words is joined by `;`, other lists and objects are compact JSON.
    [[nodiscard]] std::string cell() const;

private:
    enum class Kind : std::uint8_t { kNull, kPlain, kText, kList, kObject };

    [[nodiscard]] bool is_word_list() const noexcept;

    Kind kind_ = Kind::kNull;
    std::string text_;  ///< kPlain: as it is written. kText: not quoted.
    std::vector<Json> items_;
    std::vector<std::string> names_;  ///< kObject: of items_.
};

struct Json::Member {
    std::string_view name;
    Json value;
};

/// Null for an empty text.
[[nodiscard]] Json text_or_null(std::string_view text);

/// Returns the same JSON with a member or element on each line and two spaces for each level,
/// without a final newline. Numbers stay as they were written. `level` is that of the line on which
/// it begins. Requires: valid JSON.
[[nodiscard]] std::string indented(std::string_view json, unsigned level);

}  // namespace sluice
