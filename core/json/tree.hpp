// JSON tree: the values of a valid document as slices of its text, so that a number keeps its
// digits, which a conversion to a machine number does not.
//
// Threads: one tree per thread. Memory: keeps its buffer between documents.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "core/json/document.hpp"

namespace sluice {

class JsonTree;

/// A value of a tree. Cheap to copy; valid until the next read() of its tree.
class JsonValue {
public:
    [[nodiscard]] bool is_null() const noexcept { return raw().front() == 'n'; }
    [[nodiscard]] bool is_string() const noexcept { return raw().front() == '"'; }
    [[nodiscard]] bool is_number() const noexcept {
        return raw().front() == '-' || (raw().front() >= '0' && raw().front() <= '9');
    }
    [[nodiscard]] bool is_flag() const noexcept {
        return raw().front() == 't' || raw().front() == 'f';
    }
    [[nodiscard]] bool is_object() const noexcept { return raw().front() == '{'; }
    [[nodiscard]] bool is_array() const noexcept { return raw().front() == '['; }

    /// Returns the value as in the text, without white space around it. Never empty.
    [[nodiscard]] std::string_view raw() const noexcept;
    /// Returns the text of a string, unescaped. Escapes are rare, so the tree keeps such a text.
    /// Requires: is_string().
    [[nodiscard]] std::string_view text() const;

private:
    friend class JsonTree;
    friend class JsonChildren;
    JsonValue(const JsonTree& tree, std::uint32_t at) noexcept : tree_(&tree), at_(at) {}

    const JsonTree* tree_;
    std::uint32_t at_;
};

/// The members of an object or the elements of an array, one after the other; none of a scalar.
class JsonChildren {
public:
    explicit JsonChildren(const JsonValue& parent) noexcept;

    [[nodiscard]] bool at_end() const noexcept { return at_ >= end_; }
    [[nodiscard]] JsonValue value() const noexcept { return {*tree_, at_}; }
    /// Returns the key. Escapes of a single character stay if the document has no other ones: no
    /// name that is looked for has such a character. Requires: the parent is an object.
    [[nodiscard]] std::string_view key() const;
    void step() noexcept;

private:
    const JsonTree* tree_;
    std::uint32_t at_;
    std::uint32_t end_;
};

class JsonTree {
public:
    static constexpr std::size_t kBytesMax = std::size_t{1} << 31;

    /// Requires: `text` is what `document` has parsed last, is at most kBytesMax long, and outlives
    /// the use of the tree.
    void read(const JsonDocument& document, std::string_view text);
    /// Requires: read() was called.
    [[nodiscard]] JsonValue root() const noexcept { return {*this, 0}; }
    /// Frees a buffer that a large body left behind. Invalidates all values.
    void trim() noexcept;

private:
    friend class JsonValue;
    friend class JsonChildren;
    struct Node {
        std::uint32_t key = 0, key_bytes = 0;  ///< Between the quotes.
        std::uint32_t begin = 0, end = 0;
        std::uint32_t next = 0;  ///< The node after this one and all below it.
    };

    [[nodiscard]] std::string_view unescaped(std::string_view between_quotes) const;

    std::string_view text_;
    bool has_unicode_escapes_ = false;
    std::vector<Node> nodes_;
    /// Texts with escapes. A list, because views of its texts must stay valid.
    mutable std::vector<std::vector<char>> unescaped_;
};

inline std::string_view JsonValue::raw() const noexcept {
    const JsonTree::Node& node = tree_->nodes_[at_];
    return tree_->text_.substr(node.begin, node.end - node.begin);
}

inline JsonChildren::JsonChildren(const JsonValue& parent) noexcept
    : tree_(parent.tree_), at_(parent.at_ + 1), end_(tree_->nodes_[parent.at_].next) {}

inline void JsonChildren::step() noexcept {
    at_ = tree_->nodes_[at_].next;
}

}  // namespace sluice
