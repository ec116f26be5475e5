#include "core/json/tree.hpp"

#include <array>
#include <cstring>

#include "core/json/document.hpp"
#include "core/json/slices.hpp"

namespace sluice {
namespace {

constexpr std::size_t kKeptNodes = std::size_t{1} << 16;

constexpr bool ends_scalar(char c) noexcept {
    return c == ',' || c == '}' || c == ']' || c == ' ' || c == '\n' || c == '\r' || c == '\t';
}

}  // namespace

std::size_t JsonTree::after_string(std::size_t at) const noexcept {
    const char* const end = text_.data() + text_.size();
    const char* from = text_.data() + at + 1;
    for (;;) {
        const void* found = std::memchr(from, '"', static_cast<std::size_t>(end - from));
        if (found == nullptr) {
            return text_.size();
        }
        const char* const quote = static_cast<const char*>(found);
        const char* first = quote;
        while (first[-1] == '\\') {  // the opening quote is no backslash
            --first;
        }
        from = quote + 1;
        if ((quote - first) % 2 == 0) {
            return static_cast<std::size_t>(from - text_.data());
        }
    }
}

void JsonTree::read(std::string_view text) {
    trim();
    text_ = text;
    nodes_.clear();
    unescaped_.clear();
    std::array<std::uint32_t, JsonDocument::kLevelsMax + 1> open{};
    std::size_t depth = 0;
    Node next;
    for (std::size_t at = 0; at < text.size();) {
        const char c = text[at];
        const std::size_t begin = at++;
        if (c == '"') {
            at = after_string(begin);
            const std::size_t after = text.find_first_not_of(" \t\n\r", at);
            if (after != std::string_view::npos && text[after] == ':') {
                next.key = static_cast<std::uint32_t>(begin + 1);
                next.key_bytes = static_cast<std::uint32_t>(at - begin - 2);
                at = after + 1;
                continue;
            }
        } else if (c == '}' || c == ']') {
            Node& container = nodes_[open[--depth]];
            container.end = static_cast<std::uint32_t>(at);
            container.next = static_cast<std::uint32_t>(nodes_.size());
            continue;
        } else if (c == '{' || c == '[') {
            open[depth++] = static_cast<std::uint32_t>(nodes_.size());
        } else if (c == ',' || ends_scalar(c)) {
            continue;
        } else {
            while (at < text.size() && !ends_scalar(text[at])) {
                ++at;
            }
        }
        read_value(begin, at, next);
        next = {};
    }
}

void JsonTree::read_value(std::size_t begin, std::size_t end, Node key) {
    key.begin = static_cast<std::uint32_t>(begin);
    key.end = static_cast<std::uint32_t>(end);
    key.next = static_cast<std::uint32_t>(nodes_.size()) + 1;
    nodes_.push_back(key);
}

std::string_view JsonTree::unescaped(std::string_view between_quotes) const {
    if (std::memchr(between_quotes.data(), '\\', between_quotes.size()) == nullptr) {
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
    return tree_->unescaped(quoted.substr(1, quoted.size() - 2));
}

std::string_view JsonChildren::key() const {
    const JsonTree::Node& node = tree_->nodes_[at_];
    return tree_->unescaped(tree_->text_.substr(node.key, node.key_bytes));
}

}  // namespace sluice
