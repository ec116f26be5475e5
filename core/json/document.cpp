#include "core/json/document.hpp"

#include <algorithm>
#include <bit>
#include <new>

#include "core/values/name_table.hpp"

namespace sluice {
namespace {

constexpr std::size_t kCapacityMin = 4096;
/// Buffers for bodies up to this size are kept. Larger ones are kept only for more such bodies.
constexpr std::size_t kCapacityKept = 8U << 20;

constexpr NameTable<simdjson::error_code, 7> kFaults{{
    {simdjson::EMPTY, "the body is empty"},
    {simdjson::UTF8_ERROR, "the body is not valid UTF-8"},
    {simdjson::DEPTH_ERROR, "the body is nested deeper than 64 levels"},
    {simdjson::NUMBER_ERROR, "the body is not valid JSON: a number is malformed or out of range"},
    {simdjson::STRING_ERROR, "the body is not valid JSON: a string has an invalid escape"},
    {simdjson::UNESCAPED_CHARS,
     "the body is not valid JSON: a string has an unescaped control character"},
    {simdjson::UNCLOSED_STRING, "the body is not valid JSON: a string is not closed"},
}};

/// Returns the deepest level of a document that is valid JSON.
std::size_t deepest_level(std::string_view json) noexcept {
    std::size_t level = 0;
    std::size_t deepest = 0;
    bool in_string = false;
    for (std::size_t i = 0; i < json.size(); ++i) {
        const char c = json[i];
        if (in_string) {
            i += c == '\\' ? 1U : 0U;
            in_string = c != '"';
        } else if (c == '"') {
            in_string = true;
        } else if (c == '{' || c == '[') {
            deepest = std::max(deepest, ++level);
        } else if (c == '}' || c == ']') {
            --level;
        }
    }
    return deepest;
}

/// Returns true if simdjson may read SIMDJSON_PADDING bytes beyond the end, whose values it
/// ignores. Within the last page of the body that is harmless and saves a copy. Sanitizers report
/// such reads, so builds with sanitizers copy the body.
bool is_readable_beyond(std::string_view body) noexcept {
#ifdef SLUICE_NO_READ_BEYOND
    static_cast<void>(body);
    return false;
#else
    constexpr std::uintptr_t kPageBytesMin = 4096;
    const std::uintptr_t last = reinterpret_cast<std::uintptr_t>(body.data()) + body.size() - 1;
    return last % kPageBytesMin + simdjson::SIMDJSON_PADDING < kPageBytesMin;
#endif
}

}  // namespace

simdjson::error_code JsonDocument::parse_to_depth(std::string_view body, std::size_t levels) {
    std::size_t capacity = parser_.capacity();
    if (capacity < body.size()) {
        capacity = body.size() > kCapacityKept ? body.size()
                                               : std::bit_ceil(std::max(body.size(), kCapacityMin));
    }
    simdjson::error_code code = simdjson::SUCCESS;
    if (parser_.capacity() != capacity || parser_.max_depth() != levels) {
        code = parser_.allocate(capacity, levels);
    }
    if (code == simdjson::SUCCESS && document_.capacity() < capacity) {
        code = document_.allocate(capacity);
    }
    if (code == simdjson::SUCCESS) {
        code =
            parser_
                .parse_into_document(document_, body.data(), body.size(), !is_readable_beyond(body))
                .error();
    }
    if (code == simdjson::MEMALLOC) {
        throw std::bad_alloc();
    }
    return code;
}

/// A backslash always begins an escape in valid JSON, which has no U+0000 that is not escaped.
void JsonDocument::check_escapes(std::string_view json) noexcept {
    nul_count_ = 0;
    has_unicode_escapes_ = false;
    for (std::size_t at = 0; (at = json.find('\\', at)) != std::string_view::npos; at += 2) {
        if (json[at + 1] == 'u') {
            has_unicode_escapes_ = true;
            nul_count_ += json.substr(at + 2, 4) == "0000" ? 1U : 0U;
        }
    }
}

bool JsonDocument::parse(std::string_view body) {
    if (body.size() <= kCapacityKept) {
        trim();
    }
    error_ = {};
    nul_count_ = 0;
    // simdjson does not count empty containers, so a document that it refuses at this depth may
    // still be within the limit. It is parsed again with one more level, and its depth is counted.
    simdjson::error_code code = body.empty() ? simdjson::EMPTY : parse_to_depth(body, kLevelsMax);
    if (code == simdjson::DEPTH_ERROR) {
        code = parse_to_depth(body, kLevelsMax + 1);
        if (code == simdjson::SUCCESS && deepest_level(body) > kLevelsMax) {
            code = simdjson::DEPTH_ERROR;
        }
    }
    if (code == simdjson::SUCCESS && body.starts_with("\xef\xbb\xbf")) {
        code = simdjson::TAPE_ERROR;  // later releases of simdjson skip a BOM
    }
    if (code != simdjson::SUCCESS) {
        error_ = name_in(kFaults, code, "the body is not valid JSON");
        return false;
    }
    check_escapes(body);
    return true;
}

void prepare_json() noexcept {
    static_cast<void>(simdjson::get_active_implementation()->name());
}

void JsonDocument::trim() noexcept {
    if (parser_.capacity() > kCapacityKept) {
        parser_ = simdjson::dom::parser();
        document_ = simdjson::dom::document();
    }
}

}  // namespace sluice
