#include "core/values/base64.hpp"

#include <utility>

namespace sluice {
namespace {

constexpr std::string_view kStandardDigits =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
constexpr std::string_view kUrlDigits =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

std::string encoded(std::string_view bytes, std::string_view digits) {
    std::string text;
    unsigned bits = 0, held = 0;
    for (const char c : bytes) {
        bits = bits << 8U | static_cast<unsigned char>(c);
        for (held += 8; held >= 6; held -= 6) {
            text += digits[bits >> (held - 6) & 63U];
        }
    }
    if (held != 0) {
        text += digits[bits << (6 - held) & 63U];
    }
    return text;
}

/// Ignores the bits behind the last byte. Returns nullopt for a character that is no digit.
Parsed<std::string> decoded(std::string_view text, std::string_view digits) {
    std::string bytes;
    unsigned bits = 0, held = 0;
    for (const char c : text) {
        const std::size_t digit = digits.find(c);
        if (digit == std::string_view::npos) {
            return std::nullopt;
        }
        bits = bits << 6U | static_cast<unsigned>(digit);
        held += 6;
        if (held >= 8) {
            held -= 8;
            bytes += static_cast<char>(bits >> held & 0xFFU);
        }
    }
    return bytes;
}

}  // namespace

std::string to_base64(std::string_view bytes) {
    std::string text = encoded(bytes, kStandardDigits);
    text.resize((bytes.size() + 2) / 3 * 4, '=');
    return text;
}

Parsed<std::string> from_base64(std::string_view text) {
    Parsed<std::string> bytes = decoded(text.substr(0, text.find('=')), kStandardDigits);
    return bytes && to_base64(*bytes) == text ? std::move(bytes) : std::nullopt;
}

std::string to_base64url(std::string_view bytes) {
    return encoded(bytes, kUrlDigits);
}

Parsed<std::string> from_base64url(std::string_view text) {
    Parsed<std::string> bytes = decoded(text, kUrlDigits);
    return bytes && to_base64url(*bytes) == text ? std::move(bytes) : std::nullopt;
}

}  // namespace sluice
