// XML file: elements by their local names, with their lines.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <pugixml.hpp>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/values/result.hpp"

namespace sluice::cli {

/// Returns the name without its prefix.
[[nodiscard]] std::string_view local_name(pugi::xml_node node);
/// Returns the first child element of this local name, or a null node.
[[nodiscard]] pugi::xml_node child_of(pugi::xml_node parent, std::string_view name);
/// Returns the element at the end of a path of local names, or a null node.
[[nodiscard]] pugi::xml_node element_at(pugi::xml_node from,
                                        std::initializer_list<std::string_view> path);
[[nodiscard]] std::vector<pugi::xml_node> children_of(pugi::xml_node parent, std::string_view name);
/// Returns the text of the element at the end of a path, without spaces around it.
[[nodiscard]] std::string text_at(pugi::xml_node from,
                                  std::initializer_list<std::string_view> path);

/// Returns the text of the node and of all elements below it, with a space between.
[[nodiscard]] std::string all_text(pugi::xml_node node);

/// Parsed documents, which may follow each other in one file. Not copyable; nodes live as long as
/// it does.
class XmlFile {
public:
    /// Returns kInvalid as `name:line: expectation` for text that is not well-formed, has a
    /// document type or an entity of its own, or is in another encoding than UTF-8, UTF-16,
    /// US-ASCII, ISO-8859-1, ISO-8859-15 or windows-1252.
    [[nodiscard]] Status parse(const std::string& name, const std::string& text);

    /// Returns the first document's element.
    [[nodiscard]] pugi::xml_node root() const { return document_.document_element(); }
    /// Returns the elements of these local names in all documents, but none within another.
    [[nodiscard]] std::vector<pugi::xml_node> outermost(
        std::span<const std::string_view> names) const;
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
