#include "core/values/base64url.hpp"

#include <utility>

namespace sluice {
namespace {

constexpr std::string_view kBase64UrlDigits =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

}  // namespace

std::string to_base64url(std::string_view bytes) {
    std::string text;
    unsigned bits = 0, held = 0;
    for (const char c : bytes) {
        bits = bits << 8U | static_cast<unsigned char>(c);
        for (held += 8; held >= 6; held -= 6) {
            text += kBase64UrlDigits[bits >> (held - 6) & 63U];
        }
    }
    if (held != 0) {
        text += kBase64UrlDigits[bits << (6 - held) & 63U];
    }
    return text;
}

Parsed<std::string> from_base64url(std::string_view text) {
    std::string bytes;
    unsigned bits = 0, held = 0;
    for (const char c : text) {
        const std::size_t digit = kBase64UrlDigits.find(c);
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
    return to_base64url(bytes) == text ? Parsed<std::string>(std::move(bytes)) : std::nullopt;
}

}  // namespace sluice
