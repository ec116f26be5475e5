#include "tool/bank/xml_file.hpp"

#include <simdjson.h>

#include <algorithm>
#include <array>
#include <optional>

#include "core/values/lookup.hpp"
#include "core/values/texts.hpp"
#include "program/cli/csv_reader.hpp"
#include "program/system/encoding.hpp"

namespace sluice::cli {
namespace {

bool is_space(char c) {
    return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

bool is_predefined(std::string_view reference) {
    constexpr std::array<std::string_view, 5> kNames{"amp", "lt", "gt", "quot", "apos"};
    return reference.starts_with('#') || has_item(kNames, reference);
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
    const auto found = std::ranges::find_if(
        text, [](char c) { return static_cast<unsigned char>(c) < 0x20 && !is_space(c); });
    return found == text.end()
               ? std::nullopt
               : std::optional(static_cast<std::size_t>(std::distance(text.begin(), found)));
}

/// Visits the nodes below `top` in the order of the file. `visit` returns whether to go below its
/// node. Not recursive, because a file may be nested as deeply as it is long.
template <class Visit>
void walk(pugi::xml_node top, Visit visit) {
    pugi::xml_node node = top.first_child();
    while (node) {
        pugi::xml_node next = visit(node) ? node.first_child() : pugi::xml_node();
        while (!next && node != top) {
            next = node.next_sibling();
            node = node.parent();
        }
        node = next;
    }
}

/// Returns how to make XML of a file that is something else, or an empty text.
std::string_view remedy_for(std::string_view text) {
    using namespace std::string_view_literals;
    struct Kind {
        std::string_view begins, remedy;
    };
    constexpr std::array kKinds{
        Kind{"PK\3\4"sv, "the file is a ZIP archive; unpack it, and import each file"},
        Kind{"\x1F\x8B"sv, "the file is compressed by gzip; unpack it with `gzip -d`"},
        Kind{"%PDF"sv, "the file is a PDF; ask the bank for camt.053"},
        Kind{"<!DOCTYPE HTML"sv,
             "the file is a web page, as of an expired login; download it again"},
        Kind{"<HTML"sv, "the file is a web page, as of an expired login; download it again"},
        Kind{":20:"sv, "the file is MT940 or MT942 (SWIFT); ask the bank for camt.053"},
        Kind{"{1:"sv, "the file is MT940 or MT942 (SWIFT); ask the bank for camt.053"},
    };
    constexpr std::size_t kStartBytes = 64;
    const std::string start = ascii_upper(without_space(text.substr(0, kStartBytes)));
    const auto found = std::ranges::find_if(
        kKinds, [&](const Kind& kind) { return start.starts_with(kind.begins); });
    return found == kKinds.end() ? std::string_view() : found->remedy;
}

// ---- Encodings ----------------------------------------------------------------------------------

/// Returns the encoding that the text's XML declaration states, in capitals, or an empty text.
/// Requires: a text in a superset of ASCII.
std::string stated_encoding(std::string_view text) {
    constexpr std::string_view kWord = "encoding";
    const std::size_t end = text.find("?>");
    const std::string_view declaration = text.substr(0, end == std::string_view::npos ? 0 : end);
    const std::size_t word = declaration.find(kWord);
    if (!declaration.starts_with("<?xml") || word == std::string_view::npos) {
        return {};
    }
    const std::size_t open = declaration.find_first_of("\"'", word + kWord.size());
    const std::size_t close =
        open == std::string_view::npos ? open : declaration.find(declaration[open], open + 1);
    return close == std::string_view::npos
               ? std::string()
               : ascii_upper(declaration.substr(open + 1, close - open - 1));
}

/// Returns the encoding of the text: that of its mark or of its first bytes, as XML 1.0 has it in
/// appendix F, or the stated one.
std::string encoding_of(std::string_view text) {
    using namespace std::string_view_literals;
    if (text.starts_with("\xFF\xFE") || text.starts_with("<\0?\0"sv)) {
        return "UTF-16LE";
    }
    if (text.starts_with("\xFE\xFF") || text.starts_with("\0<\0?"sv)) {
        return "UTF-16BE";
    }
    std::string stated = stated_encoding(text);
    return stated.empty() || stated.starts_with("UTF-16") ? "UTF-8" : stated;
}

/// Returns the text in UTF-8, or why it cannot be read.
Result<std::string> utf8_of(const std::string& text) {
    constexpr std::array<std::string_view, 5> kConverted{"UTF-16LE", "UTF-16BE", "ISO-8859-1",
                                                         "ISO-8859-15", "WINDOWS-1252"};
    const std::string encoding = encoding_of(text);
    if (encoding == "UTF-8" || encoding == "US-ASCII" || encoding == "ASCII") {
        return simdjson::validate_utf8(text.data(), text.size()) ? Result(text)
                                                                 : invalid("expected UTF-8");
    }
    if (!has_item(kConverted, encoding)) {
        return invalid("the file is in " + encoding + "; make it UTF-8 with `iconv -f " + encoding +
                       " -t UTF-8`, and write encoding=\"UTF-8\" into its first line");
    }
    auto utf8 = recoded(text, encoding.c_str(), "UTF-8");
    return utf8 ? Result(*std::move(utf8)) : invalid("expected " + encoding);
}

}  // namespace

std::string_view local_name(pugi::xml_node node) {
    const std::string_view name = node.name();
    const std::size_t colon = name.find(':');
    return colon == std::string_view::npos ? name : name.substr(colon + 1);
}

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
    return std::string(without_space(text));
}

std::string all_text(pugi::xml_node node) {
    std::string text;
    walk(node, [&](pugi::xml_node part) {
        if (part.type() == pugi::node_pcdata || part.type() == pugi::node_cdata) {
            text.append(text.empty() ? "" : " ").append(without_space(part.value()));
        }
        return true;
    });
    return text;
}

Status XmlFile::parse(const std::string& name, const std::string& text) {
    name_ = name;
    line_ends_.clear();
    if (const std::string_view remedy = remedy_for(text); !remedy.empty()) {
        return error_at_line(1, std::string(remedy));
    }
    const Result<std::string> utf8 = utf8_of(text);
    if (!utf8.ok()) {
        return error_at_line(1, utf8.error().message);
    }
    for (std::size_t at = utf8->find('\n'); at != std::string::npos;
         at = utf8->find('\n', at + 1)) {
        line_ends_.push_back(at);
    }
    if (const auto bad = control_character(*utf8)) {
        return error_at_line(line_at(*bad), "expected XML, found a control character");
    }
    const pugi::xml_parse_result parsed = document_.load_buffer(
        utf8->data(), utf8->size(), pugi::parse_default | pugi::parse_doctype, pugi::encoding_utf8);
    if (!parsed) {
        return error_at_line(line_at(static_cast<std::size_t>(parsed.offset)),
                             std::string("expected a whole XML file: ") + parsed.description());
    }
    for (const pugi::xml_node node : document_.children()) {
        if (node.type() == pugi::node_doctype) {
            return error_at_line(line_of(node), "a document type (DOCTYPE) is not allowed");
        }
    }
    const auto entity = own_entity(*utf8);
    return entity ? Status(error_at_line(line_at(*entity),
                                         "an entity of the file's own is not allowed"))
                  : Status::success();
}

std::vector<pugi::xml_node> XmlFile::outermost(std::span<const std::string_view> names) const {
    std::vector<pugi::xml_node> found;
    walk(document_, [&](pugi::xml_node node) {
        const bool is_named =
            node.type() == pugi::node_element && has_item(names, local_name(node));
        if (is_named) {
            found.push_back(node);
        }
        return !is_named;
    });
    return found;
}

std::uint64_t XmlFile::line_of(pugi::xml_node node) const {
    const std::ptrdiff_t offset = node.offset_debug();
    return line_at(offset < 0 ? 0 : static_cast<std::size_t>(offset));
}

std::uint64_t XmlFile::line_at(std::size_t offset) const {
    const auto end = std::ranges::lower_bound(line_ends_, offset);
    return static_cast<std::uint64_t>(std::distance(line_ends_.begin(), end)) + 1;
}

Error XmlFile::error_at(pugi::xml_node node, const std::string& expectation) const {
    return error_at_line(line_of(node), expectation);
}

Error XmlFile::error_at_line(std::uint64_t line, const std::string& expectation) const {
    return cli::error_at(name_, line, expectation);
}

}  // namespace sluice::cli
