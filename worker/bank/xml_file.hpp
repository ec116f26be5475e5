// XML file: elements by their local names, with their lines.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <pugixml.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "core/values/result.hpp"

namespace sluice::cli {

/// Returns the first child element of this local name, or a null node.
[[nodiscard]] pugi::xml_node child_of(pugi::xml_node parent, std::string_view name);
/// Returns the element at the end of a path of local names, or a null node.
[[nodiscard]] pugi::xml_node element_at(pugi::xml_node from,
                                        std::initializer_list<std::string_view> path);
[[nodiscard]] std::vector<pugi::xml_node> children_of(pugi::xml_node parent, std::string_view name);
/// Returns the text of the element at the end of a path, without spaces around it.
[[nodiscard]] std::string text_at(pugi::xml_node from,
                                  std::initializer_list<std::string_view> path);

/// A parsed document in UTF-8. Not copyable; nodes live as long as it does.
class XmlFile {
public:
    /// Keeps `text`, which outlives the object. Returns kInvalid as `name:line: expectation` for
    /// text that is not well-formed or has a document type or an entity of its own.
    [[nodiscard]] Status parse(const std::string& name, const std::string& text);

    [[nodiscard]] pugi::xml_node root() const { return document_.document_element(); }
    [[nodiscard]] std::uint64_t line_of(pugi::xml_node node) const;
    /// Returns `name:line: expectation`.
    [[nodiscard]] Error error_at(pugi::xml_node node, const std::string& expectation) const;

private:
    [[nodiscard]] std::uint64_t line_at(std::size_t offset) const;
    [[nodiscard]] Error error_at_line(std::uint64_t line, const std::string& expectation) const;

    pugi::xml_document document_;
    std::string name_;
    std::vector<std::size_t> line_ends_;  ///< Offsets of the line feeds.
};

}  // namespace sluice::cli
