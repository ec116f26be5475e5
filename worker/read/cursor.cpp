#include "worker/read/cursor.hpp"

#include <simdjson.h>

#include "core/protocol/signature.hpp"

namespace sluice::serve {
namespace {

constexpr std::size_t kDigestBytes = 8;
constexpr std::string_view kDigits =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

std::string base64url(std::string_view bytes) {
    std::string text;
    unsigned bits = 0, held = 0;
    for (const char c : bytes) {
        bits = bits << 8U | static_cast<unsigned char>(c);
        for (held += 8; held >= 6; held -= 6) {
            text += kDigits[bits >> (held - 6) & 63U];
        }
    }
    if (held != 0) {
        text += kDigits[bits << (6 - held) & 63U];
    }
    return text;
}

/// Accepts only what base64url() returns.
std::optional<std::string> from_base64url(std::string_view text) {
    std::string bytes;
    unsigned bits = 0, held = 0;
    for (const char c : text) {
        const std::size_t digit = kDigits.find(c);
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
    return base64url(bytes) == text ? std::optional(bytes) : std::nullopt;
}

std::string digest_of(std::string_view secret, std::string_view query, std::string_view key) {
    RunningHmac hmac = SigningKey(secret).begin();
    hmac.add(std::to_string(query.size()) + ":");
    hmac.add(query);
    hmac.add(key);
    const Digest256 digest = hmac.digest();
    return {reinterpret_cast<const char*>(digest.data()), kDigestBytes};
}

/// Returns whether all bytes are of texts that a ledger may hold.
bool is_text(std::string_view key) {
    return simdjson::validate_utf8(key) && key.find('\0') == std::string_view::npos;
}

}  // namespace

std::string make_cursor(std::string_view secret, std::string_view query, std::string_view key) {
    return base64url(digest_of(secret, query, key) + std::string(key));
}

std::optional<std::string> open_cursor(std::string_view secret, std::string_view query,
                                       std::string_view cursor) {
    const auto bytes = from_base64url(cursor);
    if (!bytes || bytes->size() < kDigestBytes) {
        return std::nullopt;
    }
    std::string key = bytes->substr(kDigestBytes);
    const bool is_ours = digest_of(secret, query, key) == bytes->substr(0, kDigestBytes);
    return is_ours && is_text(key) ? std::optional(std::move(key)) : std::nullopt;
}

std::string join_key(const std::vector<std::string>& parts) {
    std::string key;
    for (const std::string& part : parts) {
        key += std::to_string(part.size()) + ":" + part;
    }
    return key;
}

std::optional<std::vector<std::string>> split_key(std::string_view key) {
    std::vector<std::string> found;
    while (!key.empty()) {
        std::size_t size = 0, at = 0;
        for (; at < key.size() && key[at] >= '0' && key[at] <= '9' && size <= key.size(); ++at) {
            size = size * 10 + static_cast<std::size_t>(key[at] - '0');
        }
        if (at == 0 || at >= key.size() || key[at] != ':' || key.size() - at - 1 < size) {
            return std::nullopt;
        }
        if (!is_text(key.substr(at + 1, size))) {
            return std::nullopt;
        }
        found.emplace_back(key.substr(at + 1, size));
        key.remove_prefix(at + 1 + size);
    }
    return found;
}

std::optional<std::vector<std::string>> split_key(std::string_view key, std::size_t parts) {
    auto found = split_key(key);
    return found && found->size() == parts ? std::move(found) : std::nullopt;
}

}  // namespace sluice::serve
