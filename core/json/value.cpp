#include "core/json/value.hpp"

#include <algorithm>
#include <cstddef>

#include "core/json/slices.hpp"
#include "core/values/assert.hpp"

namespace sluice {
namespace {

void break_line(std::string& out, unsigned level) {
    out += '\n';
    out.append(std::size_t{2} * level, ' ');
}

}  // namespace

Json::Json(const std::vector<std::string>& words)
    : kind_(Kind::kList), items_(words.begin(), words.end()) {}

Json::Json(std::initializer_list<Member> members) : kind_(Kind::kObject) {
    for (const Member& member : members) {
        names_.emplace_back(member.name);
        items_.push_back(member.value);
    }
}

Json Json::array(std::initializer_list<Json> items) {
    Json list;
    list.kind_ = Kind::kList;
    list.items_ = items;
    return list;
}

Json Json::from_text(std::string_view text) {
    Json value;
    if (is_json_string(text)) {
        return json_string(text);
    }
    if (text.starts_with('[')) {
        value.kind_ = Kind::kList;
        for (const std::string_view element : json_elements(text)) {
            value.items_.push_back(from_text(element));
        }
    } else if (text.starts_with('{')) {
        value.kind_ = Kind::kObject;
        for (const JsonMember& member : json_members(text)) {
            value.names_.push_back(member.key);
            value.items_.push_back(from_text(member.value));
        }
    } else if (text != "null") {
        value.kind_ = Kind::kPlain;
        value.text_ = text;
    }
    return value;
}

void Json::push_back(Json item) {
    SLUICE_ASSERT(kind_ == Kind::kList || kind_ == Kind::kNull);
    kind_ = Kind::kList;
    items_.push_back(std::move(item));
}

Json& Json::operator[](std::string_view name) {
    SLUICE_ASSERT(kind_ == Kind::kObject);
    const auto found = std::ranges::find(names_, name);
    if (found != names_.end()) {
        return items_[static_cast<std::size_t>(found - names_.begin())];
    }
    names_.emplace_back(name);
    return items_.emplace_back();
}

void Json::append_to(std::string& out, JsonEscapes escapes) const {
    switch (kind_) {
        case Kind::kNull:
            out += "null";
            return;
        case Kind::kPlain:
            out += text_;
            return;
        case Kind::kText:
            append_json_string(out, text_, escapes);
            return;
        case Kind::kList:
        case Kind::kObject:
            break;
    }
    const bool is_object = kind_ == Kind::kObject;
    out += is_object ? '{' : '[';
    for (std::size_t i = 0; i < items_.size(); ++i) {
        out += i == 0 ? "" : ",";
        if (is_object) {
            append_json_string(out, names_[i], escapes);
            out += ':';
        }
        items_[i].append_to(out, escapes);
    }
    out += is_object ? '}' : ']';
}

std::string Json::compact() const {
    std::string out;
    append_to(out);
    return out;
}

std::string Json::pretty() const {
    return indented(compact(), 0);
}

std::string Json::cell() const {
    if (kind_ == Kind::kNull) {
        return {};
    }
    if (kind_ == Kind::kText) {
        return text_;
    }
    if (!is_word_list()) {
        return compact();
    }
    std::string joined;
    for (const Json& item : items_) {
        joined += (joined.empty() ? "" : ";") + item.text_;
    }
    return joined;
}

bool Json::is_word_list() const noexcept {
    return kind_ == Kind::kList &&
           std::ranges::all_of(items_, [](const Json& item) { return item.kind_ == Kind::kText; });
}

Json text_or_null(std::string_view text) {
    return text.empty() ? Json() : Json(text);
}

std::string indented(std::string_view json, unsigned level) {
    std::vector<std::string> items;
    for (const JsonMember& member : json_members(json)) {
        items.push_back(json_quoted(member.key) + ": " + indented(member.value, level + 1));
    }
    for (const std::string_view element : json_elements(json)) {
        items.push_back(indented(element, level + 1));
    }
    const bool is_object = json.starts_with('{');
    if (!is_object && !json.starts_with('[')) {
        return std::string(json);
    }
    std::string out(1, json.front());
    for (const std::string& item : items) {
        out += &item == items.data() ? "" : ",";
        break_line(out, level + 1);
        out += item;
    }
    if (!items.empty()) {
        break_line(out, level);
    }
    return out + (is_object ? '}' : ']');
}

}  // namespace sluice
