#include "core/json/tree.hpp"

#include <array>
#include <span>

#include "core/json/slices.hpp"

namespace sluice {
namespace {

constexpr std::size_t kKeptNodes = std::size_t{1} << 16;

/// Returns the offset after a string or scalar, which ends before the token at `next`.
std::size_t end_before(std::string_view text, std::size_t next) noexcept {
    while (is_json_space(text[next - 1])) {
        --next;
    }
    return next;
}

}  // namespace

void JsonTree::read(const JsonDocument& document, std::string_view text) {
    trim();
    text_ = text;
    nodes_.clear();
    unescaped_.clear();
    has_unicode_escapes_ = document.has_unicode_escapes();
    std::array<std::uint32_t, JsonDocument::kLevelsMax + 1> open{};
    std::size_t depth = 0;
    const std::span<const std::uint32_t> tokens = document.tokens();
    std::uint32_t key = 0, key_end = 0;  // of the value that comes next
    for (std::size_t i = 0; i < tokens.size(); ++i) {
        const std::uint32_t begin = tokens[i];
        const char c = text[begin];
        std::size_t end = begin + 1;
        if (c == '}' || c == ']') {
            Node& container = nodes_[open[--depth]];
            container.end = begin + 1;
            container.next = static_cast<std::uint32_t>(nodes_.size());
            continue;
        }
        if (c == ',') {
            continue;
        }
        if (c == '{' || c == '[') {
            open[depth++] = static_cast<std::uint32_t>(nodes_.size());
        } else {
            const std::size_t next = i + 1 < tokens.size() ? tokens[i + 1] : text.size();
            end = end_before(text, next);
            if (next < text.size() && text[next] == ':') {
                key = begin + 1;
                key_end = static_cast<std::uint32_t>(end - 1);
                ++i;
                continue;
            }
        }
        Node& node = nodes_.emplace_back();
        node.key = key;
        node.key_bytes = key_end - key;
        node.begin = begin;
        node.end = static_cast<std::uint32_t>(end);
        node.next = static_cast<std::uint32_t>(nodes_.size());
        key = key_end = 0;
    }
}

std::string_view JsonTree::unescaped(std::string_view between_quotes) const {
    if (between_quotes.find('\\') == std::string_view::npos) {
        return between_quotes;
    }
    const std::string plain = json_string({between_quotes.data() - 1, between_quotes.size() + 2});
    unescaped_.emplace_back(plain.begin(), plain.end());
    return {unescaped_.back().data(), unescaped_.back().size()};
}

void JsonTree::trim() noexcept {
    if (nodes_.capacity() > kKeptNodes) {
        nodes_ = std::vector<Node>();
    }
}

std::string_view JsonValue::text() const {
    const std::string_view quoted = raw();
    const std::string_view text = quoted.substr(1, quoted.size() - 2);
    return tree_->unescaped(text);
}

std::string_view JsonChildren::key() const {
    const JsonTree::Node& node = tree_->nodes_[at_];
    const std::string_view text = tree_->text_.substr(node.key, node.key_bytes);
    return tree_->has_unicode_escapes_ ? tree_->unescaped(text) : text;
}

}  // namespace sluice
