#include "worker/bank/xml_file.hpp"

#include <simdjson.h>

#include <algorithm>
#include <array>
#include <optional>

namespace sluice::cli {
namespace {

std::string_view local_name(pugi::xml_node node) {
    const std::string_view name = node.name();
    const std::size_t colon = name.find(':');
    return colon == std::string_view::npos ? name : name.substr(colon + 1);
}

bool is_space(char c) {
    return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

std::string_view trimmed(std::string_view text) {
    while (!text.empty() && is_space(text.front())) {
        text.remove_prefix(1);
    }
    while (!text.empty() && is_space(text.back())) {
        text.remove_suffix(1);
    }
    return text;
}

bool is_predefined(std::string_view reference) {
    constexpr std::array<std::string_view, 5> kNames{"amp", "lt", "gt", "quot", "apos"};
    return reference.starts_with('#') ||
           std::find(kNames.begin(), kNames.end(), reference) != kNames.end();
}

/// Returns the offset of a reference to an entity that only a document type can declare.
std::optional<std::size_t> own_entity(std::string_view text) {
    for (std::size_t at = 0; at < text.size(); ++at) {
        const std::string_view rest = text.substr(at);
        if (rest.starts_with("<!--") || rest.starts_with("<![CDATA[")) {
            at = std::min(text.find(rest[2] == '-' ? "-->" : "]]>", at), text.size());
        } else if (text[at] == '&') {
            const std::size_t end = rest.find(';');
            if (end == std::string_view::npos || !is_predefined(rest.substr(1, end - 1))) {
                return at;
            }
        }
    }
    return std::nullopt;
}

/// Returns the offset of the first control character that XML does not allow.
std::optional<std::size_t> control_character(std::string_view text) {
    const auto found = std::find_if(text.begin(), text.end(), [](char c) {
        return static_cast<unsigned char>(c) < 0x20 && !is_space(c);
    });
    return found == text.end()
               ? std::nullopt
               : std::optional(static_cast<std::size_t>(std::distance(text.begin(), found)));
}

}  // namespace

pugi::xml_node child_of(pugi::xml_node parent, std::string_view name) {
    for (pugi::xml_node child = parent.first_child(); child; child = child.next_sibling()) {
        if (child.type() == pugi::node_element && local_name(child) == name) {
            return child;
        }
    }
    return {};
}

pugi::xml_node element_at(pugi::xml_node from, std::initializer_list<std::string_view> path) {
    for (const std::string_view name : path) {
        from = child_of(from, name);
    }
    return from;
}

std::vector<pugi::xml_node> children_of(pugi::xml_node parent, std::string_view name) {
    std::vector<pugi::xml_node> found;
    for (pugi::xml_node child = parent.first_child(); child; child = child.next_sibling()) {
        if (child.type() == pugi::node_element && local_name(child) == name) {
            found.push_back(child);
        }
    }
    return found;
}

std::string text_at(pugi::xml_node from, std::initializer_list<std::string_view> path) {
    std::string text;
    for (const pugi::xml_node part : element_at(from, path).children()) {
        if (part.type() == pugi::node_pcdata || part.type() == pugi::node_cdata) {
            text += part.value();
        }
    }
    return std::string(trimmed(text));
}

Status XmlFile::parse(const std::string& name, const std::string& text) {
    name_ = name;
    line_ends_.clear();
    for (std::size_t at = text.find('\n'); at != std::string::npos; at = text.find('\n', at + 1)) {
        line_ends_.push_back(at);
    }
    if (!simdjson::validate_utf8(text.data(), text.size())) {
        return error_at_line(1, "expected UTF-8");
    }
    if (const auto bad = control_character(text)) {
        return error_at_line(line_at(*bad), "expected XML, found a control character");
    }
    const pugi::xml_parse_result parsed = document_.load_buffer(
        text.data(), text.size(), pugi::parse_default | pugi::parse_doctype, pugi::encoding_utf8);
    if (!parsed) {
        return error_at_line(line_at(static_cast<std::size_t>(parsed.offset)),
                             std::string("expected a whole XML file: ") + parsed.description());
    }
    std::size_t elements = 0;
    for (const pugi::xml_node node : document_.children()) {
        if (node.type() == pugi::node_doctype) {
            return error_at_line(line_of(node), "a document type (DOCTYPE) is not allowed");
        }
        elements += node.type() == pugi::node_element ? 1U : 0U;
    }
    if (const auto entity = own_entity(text)) {
        return error_at_line(line_at(*entity), "an entity of the file's own is not allowed");
    }
    return elements == 1 ? Status::success()
                         : Status(error_at_line(1, "expected one XML document"));
}

std::uint64_t XmlFile::line_of(pugi::xml_node node) const {
    const std::ptrdiff_t offset = node.offset_debug();
    return line_at(offset < 0 ? 0 : static_cast<std::size_t>(offset));
}

std::uint64_t XmlFile::line_at(std::size_t offset) const {
    const auto end = std::lower_bound(line_ends_.begin(), line_ends_.end(), offset);
    return static_cast<std::uint64_t>(std::distance(line_ends_.begin(), end)) + 1;
}

Error XmlFile::error_at(pugi::xml_node node, const std::string& expectation) const {
    return error_at_line(line_of(node), expectation);
}

Error XmlFile::error_at_line(std::uint64_t line, const std::string& expectation) const {
    return {ErrorCode::kInvalid, name_ + ":" + std::to_string(line) + ": " + expectation};
}

}  // namespace sluice::cli
