// JSON document: strict JSON as both endpoints demand it, on simdjson's DOM.
//
// UTF-8 without BOM, valid everywhere (also in fields that no rule reads), no lone surrogates, at
// most 64 levels (the root is level 1, an empty container counts), integers within 64 bits, numbers
// within a double. U+0000 in strings is counted, not refused: the caller knows the field's name.
//
// Threads: one per thread. Memory: keeps its buffers from parse to parse, see trim().
#pragma once

#include <simdjson.h>

#include <cstddef>
#include <string_view>

namespace sluice {

/// Room for an element, not initialised: an object has few of the fields that its table knows.
struct JsonSlot {
    JsonSlot() noexcept {}
    union {
        simdjson::dom::element value;
    };
};

class JsonDocument {
public:
    static constexpr std::size_t kLevelsMax = 64;

    /// @return false if the body is not strict JSON; error() then says why.
    /// Throws std::bad_alloc when memory is short: that is not the sender's fault.
    [[nodiscard]] bool parse(std::string_view body);

    /// Requires: the last parse() returned true. Valid until the next parse() or trim().
    [[nodiscard]] simdjson::dom::element root() const noexcept { return document_.root(); }
    /// What was wrong, for the sender's developer. Static text, without a final full stop.
    [[nodiscard]] std::string_view error() const noexcept { return error_; }
    /// How many U+0000 the strings of the document hold, keys included.
    [[nodiscard]] std::size_t nul_count() const noexcept { return nul_count_; }

    /// Frees buffers that a large body left behind. Invalidates root() and all it gave out.
    void trim() noexcept;

private:
    [[nodiscard]] simdjson::error_code parse_to_depth(std::string_view body, std::size_t levels);

    simdjson::dom::parser parser_;
    simdjson::dom::document document_;
    std::string_view error_;
    std::size_t nul_count_ = 0;
};

}  // namespace sluice
