// JSON document: strict JSON as both endpoints require it, on simdjson's DOM.
//
// UTF-8 without BOM, valid even in fields that no rule reads, no lone surrogates, at most 64 levels
// (the root is level 1, an empty container counts), integers within 64 bits, numbers within a
// double. U+0000 in strings is counted but not refused, because the caller knows the name of the
// field.
//
// Threads: one document per thread. Memory: keeps its buffers between parses, see trim().
#pragma once

#include <simdjson.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace sluice {

/// Uninitialized memory for an element, because an object has few of the fields of its table.
struct JsonSlot {
    JsonSlot() noexcept {}
    union {
        simdjson::dom::element value;
    };
};

class JsonDocument {
public:
    static constexpr std::size_t kLevelsMax = 64;

    /// Returns false if the body is not strict JSON; error() then says why. Throws std::bad_alloc
    /// without memory, which is not the sender's fault.
    [[nodiscard]] bool parse(std::string_view body);

    /// Requires: the last parse() returned true. Valid until the next parse() or trim().
    [[nodiscard]] simdjson::dom::element root() const noexcept { return document_.root(); }
    /// Returns the error for the sender's developer: static text without a final full stop.
    [[nodiscard]] std::string_view error() const noexcept { return error_; }
    /// Returns the offsets of all brackets, colons and commas, and of the first characters of
    /// strings, numbers and literals, in the order of the body. Requires and valid as root().
    [[nodiscard]] std::span<const std::uint32_t> tokens() const noexcept {
        return {parser_.implementation->structural_indexes.get(),
                parser_.implementation->n_structural_indexes};
    }
    /// Returns whether a string or a key has an escape such as \u0041.
    [[nodiscard]] bool has_unicode_escapes() const noexcept { return has_unicode_escapes_; }
    /// Returns how many U+0000 the strings of the document contain, keys included.
    [[nodiscard]] std::size_t nul_count() const noexcept { return nul_count_; }

    /// Frees buffers that a large body left behind. Invalidates root() and everything below it.
    void trim() noexcept;

private:
    [[nodiscard]] simdjson::error_code parse_to_depth(std::string_view body, std::size_t levels);
    void check_escapes(std::string_view json) noexcept;

    simdjson::dom::parser parser_;
    simdjson::dom::document document_;
    std::string_view error_;
    std::size_t nul_count_ = 0;
    bool has_unicode_escapes_ = false;
};

/// Selects simdjson's code for this processor. Called once at the start of each process, because
/// simdjson otherwise selects it at the first use, and ends the process if memory is short then.
void prepare_json() noexcept;

}  // namespace sluice
