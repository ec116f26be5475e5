#include "core/diagnosis.hpp"

#include <simdjson.h>

#include <array>
#include <string>
#include <vector>

namespace sluice {
namespace {

/// A digest, and what was wrong with the way in which it was written (empty: nothing).
struct Written {
    std::optional<Digest256> digest;
    std::string_view mistake;
};

/// Value of a base64 digit of either alphabet; 64 for anything else.
unsigned base64_digit(char c) noexcept {
    constexpr std::string_view kDigits =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    const char standard = c == '-' ? '+' : c == '_' ? '/' : c;
    const std::size_t value = kDigits.find(standard);
    return value == std::string_view::npos ? 64 : static_cast<unsigned>(value);
}

/// 32 bytes are 43 digits and, in most hands, one `=`.
std::optional<Digest256> parse_base64_digest(std::string_view text) noexcept {
    constexpr std::size_t kDigits = 43;
    if (text.ends_with('=')) {
        text.remove_suffix(1);
    }
    if (text.size() != kDigits) {
        return std::nullopt;
    }
    Digest256 digest{};
    unsigned bits = 0;
    unsigned bits_count = 0;
    std::size_t filled = 0;
    for (const char c : text) {
        const unsigned digit = base64_digit(c);
        if (digit > 63) {
            return std::nullopt;
        }
        bits = (bits << 6 | digit) & 0xffff;
        bits_count += 6;
        if (bits_count >= 8 && filled < digest.size()) {
            bits_count -= 8;
            digest[filled++] = static_cast<std::uint8_t>(bits >> bits_count);
        }
    }
    return digest;
}

Written read_digest(std::string_view text) noexcept {
    if (const std::optional<Digest256> right = parse_hex_digest(text, HexCase::kLowerOnly)) {
        return {right, {}};
    }
    if (const std::optional<Digest256> upper = parse_hex_digest(text, HexCase::kEither)) {
        return {upper, "signature_uppercase"};
    }
    if (const std::optional<Digest256> base64 = parse_base64_digest(text)) {
        return {base64, "signature_base64"};
    }
    return {};
}

Written read_signature(std::string_view text) noexcept {
    const Written bare = read_digest(text);
    const std::size_t separator = text.find_first_of("=: ");
    if (bare.digest || separator == std::string_view::npos) {
        return bare;
    }
    const Written rest = read_digest(text.substr(separator + 1));
    return {rest.digest, rest.digest ? "signature_prefix" : ""};
}

using Keys = std::vector<const SigningKey*>;

bool any_signed(const Keys& keys, std::string_view body, const Digest256& digest) noexcept {
    for (const SigningKey* key : keys) {
        if (key->verify(body, digest)) {
            return true;
        }
    }
    return false;
}

std::string_view without_final_newline(std::string_view body) noexcept {
    for (const std::string_view newline : {"\r\n", "\n"}) {
        if (body.ends_with(newline)) {
            return body.substr(0, body.size() - newline.size());
        }
    }
    return body;
}

/// The same JSON without blanks between its tokens; nothing if simdjson cannot read it.
std::string compact(std::string_view body) {
    std::string result(body.size() + simdjson::SIMDJSON_PADDING, '\0');
    std::size_t bytes = 0;
    if (simdjson::minify(body.data(), body.size(), result.data(), bytes) != simdjson::SUCCESS) {
        return {};
    }
    result.resize(bytes);
    return result;
}

/// Whether the body as it was before something changed it was signed.
std::string_view diagnose_body(const Keys& keys, std::string_view body, const Digest256& digest) {
    if (keys.empty() || body.size() > kDiagnosisBodyBytesMax) {
        return {};
    }
    const std::string_view shorter = without_final_newline(body);
    if (shorter.size() != body.size() && any_signed(keys, shorter, digest)) {
        return "body_trailing_newline";
    }
    if (any_signed(keys, std::string(body) + '\n', digest)) {
        return "body_missing_newline";
    }
    const std::string compacted = compact(body);
    if (!compacted.empty() && compacted != body && any_signed(keys, compacted, digest)) {
        return "body_reformatted";
    }
    return {};
}

/// Whether a token signed that may not, and why not.
std::string_view diagnose_token(const TokenView& token, std::string_view body,
                                const Digest256& digest, Timestamp now) {
    if (token.signing_key == nullptr || !token.signing_key->verify(body, digest)) {
        return {};
    }
    if (token.revoked) {
        return "token_revoked";
    }
    return token.active(now) ? std::string_view() : "token_expired";
}

std::string_view diagnose_tokens(std::span<const std::shared_ptr<const TokenView>> tokens,
                                 std::string_view body, const Digest256& digest, Timestamp now) {
    for (const auto& token : tokens.first(std::min(tokens.size(), kDiagnosisKeysMax))) {
        const std::string_view mistake = diagnose_token(*token, body, digest, now);
        if (!mistake.empty()) {
            return mistake;
        }
    }
    return {};
}

Keys usable_keys(const ShopView& shop, Timestamp now) {
    Keys keys;
    for (const auto& token : shop.account->tokens) {
        if (keys.size() < kDiagnosisKeysMax && token->signing_key != nullptr &&
            token->active(now) && (token->scopes & kWriteOrders) != 0) {
            keys.push_back(token->signing_key.get());
        }
    }
    return keys;
}

/// For shops that are unknown or suspended. Never destroyed, as threads may outlive main().
const Keys& stand_in_keys() {
    static const Keys* const keys =
        new Keys{new SigningKey("stands for the keys of unknown shops")};
    return *keys;
}

}  // namespace

std::string_view diagnose_signature(const HeaderValue& signature, std::string_view body,
                                    const ShopView* shop,
                                    std::span<const std::shared_ptr<const TokenView>> retired,
                                    Timestamp now) {
    if (signature.count != 1) {
        return {};
    }
    const Written written = read_signature(signature.value);
    if (!written.digest || !written.mistake.empty()) {
        return written.mistake;
    }
    const bool unkeyed = *written.digest == sha256(body);
    // An unknown shop costs what one with a token costs, and says nothing: a sender may time the
    // next request of the connection.
    const bool known = shop != nullptr && shop->active();
    const std::string_view changed =
        diagnose_body(known ? usable_keys(*shop, now) : stand_in_keys(), body, *written.digest);
    if (!known) {
        static_cast<void>(any_signed(stand_in_keys(), body, *written.digest));
        return {};
    }
    std::string_view token = diagnose_tokens(shop->account->tokens, body, *written.digest, now);
    if (token.empty()) {
        token = diagnose_tokens(retired, body, *written.digest, now);
    }
    return unkeyed ? "signature_unkeyed_sha256" : !changed.empty() ? changed : token;
}

}  // namespace sluice
