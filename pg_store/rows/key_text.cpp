#include "core/protocol/signature.hpp"
#include "pg_store/rows/rows.hpp"

namespace sluice::pg {
namespace {

constexpr std::size_t kCutBytes = 900;

/// Returns the length of the UTF-8 sequence at the beginning of `text`, or 0 if there is none.
std::size_t sequence_bytes(std::string_view text) noexcept {
    const auto byte = [&](std::size_t at) { return static_cast<unsigned char>(text[at]); };
    const unsigned char first = byte(0);
    if (first < 0x80) {
        return first == 0 ? 0 : 1;
    }
    const std::size_t size = first >= 0xf0 ? 4U : (first >= 0xe0 ? 3U : 2U);
    if (first < 0xc2 || first > 0xf4 || text.size() < size) {
        return 0;
    }
    // Overlong forms, surrogates and what lies beyond U+10FFFF.
    const bool second_fits =
        !(first == 0xe0 && byte(1) < 0xa0) && !(first == 0xed && byte(1) > 0x9f) &&
        !(first == 0xf0 && byte(1) < 0x90) && !(first == 0xf4 && byte(1) > 0x8f);
    for (std::size_t i = 1; i < size; ++i) {
        if ((byte(i) & 0xc0) != 0x80) {
            return 0;
        }
    }
    return second_fits ? size : 0;
}

}  // namespace

std::string key_text(std::string_view id) {
    if (id.size() <= kKeyTextBytesMax) {
        return std::string(id);
    }
    std::size_t cut = kCutBytes;
    while ((static_cast<unsigned char>(id[cut]) & 0xc0) == 0x80) {
        --cut;
    }
    return std::string(id.substr(0, cut)) + "\x01" + to_hex(sha256(id));
}

std::string clean_text(std::string_view text) {
    std::string clean;
    clean.reserve(text.size());
    while (!text.empty()) {
        const std::size_t size = sequence_bytes(text);
        clean += size == 0 ? std::string_view("?") : text.substr(0, size);
        text.remove_prefix(size == 0 ? 1 : size);
    }
    return clean;
}

}  // namespace sluice::pg
