#include "core/lists/row_output.hpp"

#include <algorithm>

#include "core/values/lookup.hpp"

namespace sluice::lists {

std::string csv_field(std::string_view text) {
    if (text.find_first_of(",\"\r\n") == std::string_view::npos) {
        return std::string(text);
    }
    std::string quoted = "\"";
    for (const char c : text) {
        quoted.append(c == '"' ? 2 : 1, c);
    }
    return quoted + "\"";
}

std::string raw_cell_text(std::string_view json) {
    if (json == "null") {
        return {};
    }
    if (is_json_string(json)) {
        return json_string(json);
    }
    const std::vector<std::string_view> items = json_elements(json);
    if (json.front() != '[' || !std::ranges::all_of(items, is_json_string)) {
        return std::string(json);
    }
    return Json(mapped(items, json_string)).cell();
}

}  // namespace sluice::lists
