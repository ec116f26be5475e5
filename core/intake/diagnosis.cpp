#include "core/intake/diagnosis.hpp"

#include <simdjson.h>

#include <string>
#include <vector>

namespace sluice {
namespace {

/// A digest, and the mistake in how it was written, or empty.
struct Written {
    std::optional<Digest256> digest;
    std::string_view mistake;
};

/// Reads either alphabet, with or without the `=` that most encoders add.
std::optional<Digest256> parse_loose_base64(std::string_view text) {
    std::string standard(text);
    for (char& c : standard) {
        c = c == '-' ? '+' : c == '_' ? '/' : c;
    }
    if (!standard.ends_with('=')) {
        standard += '=';
    }
    return parse_base64_digest(standard);
}

Written read_digest(std::string_view text) {
    if (const std::optional<Digest256> right = parse_hex_digest(text, HexCase::kLowerOnly)) {
        return {right, {}};
    }
    if (const std::optional<Digest256> upper = parse_hex_digest(text, HexCase::kEither)) {
        return {upper, "signature_uppercase"};
    }
    if (const std::optional<Digest256> base64 = parse_loose_base64(text)) {
        return {base64, "signature_base64"};
    }
    return {};
}

Written read_signature(std::string_view text) {
    const Written bare = read_digest(text);
    const std::size_t separator = text.find_first_of("=: ");
    if (bare.digest || separator == std::string_view::npos) {
        return bare;
    }
    const Written rest = read_digest(text.substr(separator + 1));
    return {rest.digest, rest.digest ? "signature_prefix" : ""};
}

using Keys = std::vector<const SigningKey*>;

/// Tries all keys, even after one has matched.
bool any_signed(const Keys& keys, std::string_view body, const Digest256& digest) noexcept {
    bool any = false;
    for (const SigningKey* key : keys) {
        any = key->verify(body, digest) || any;
    }
    return any;
}

std::string_view without_final_newline(std::string_view body) noexcept {
    for (const std::string_view newline : {"\r\n", "\n"}) {
        if (body.ends_with(newline)) {
            return body.substr(0, body.size() - newline.size());
        }
    }
    return body;
}

/// Returns the JSON without blanks between its tokens, or nothing if simdjson cannot read it.
std::string compact(std::string_view body) {
    std::string result(body.size() + simdjson::SIMDJSON_PADDING, '\0');
    std::size_t bytes = 0;
    if (simdjson::minify(body.data(), body.size(), result.data(), bytes) != simdjson::SUCCESS) {
        return {};
    }
    result.resize(bytes);
    return result;
}

/// Finds out whether the body was signed before something changed it.
std::string_view diagnose_body(const Keys& keys, std::string_view body, const Digest256& digest) {
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

using Tokens = std::span<const std::shared_ptr<const TokenView>>;

std::string_view why_barred(const TokenView& token, Timestamp now) noexcept {
    if (token.revoked) {
        return "token_revoked";
    }
    return token.active(now) ? "token_scope" : "token_expired";
}

/// Returns tokens that may not sign: first the expired ones of the account's list, then `barred`.
std::vector<const TokenView*> unusable_tokens(const ShopView* shop, Tokens barred, Scope scope,
                                              Timestamp now) {
    std::vector<const TokenView*> tokens;
    const auto add = [&](Tokens more) {
        for (const auto& token : more) {
            if (tokens.size() < kDiagnosisBarredMax && token->signing_key != nullptr &&
                !token->may_sign(scope, now)) {
                tokens.push_back(token.get());
            }
        }
    };
    if (shop != nullptr) {
        add(shop->account->tokens);
        add(barred);
    }
    return tokens;
}

/// Returns the reason if a token that may not sign has signed.
std::string_view diagnose_tokens(const std::vector<const TokenView*>& tokens, std::string_view body,
                                 const Digest256& digest, Timestamp now) {
    std::string_view mistake;
    for (const TokenView* token : tokens) {
        if (token->signing_key->verify(body, digest) && mistake.empty()) {
            mistake = why_barred(*token, now);
        }
    }
    for (std::size_t i = tokens.size(); i < kDiagnosisBarredMax; ++i) {
        static_cast<void>(dummy_signing_key().verify(body, digest));
    }
    return mistake;
}

Keys usable_keys(const ShopView* shop, Scope scope, Timestamp now) {
    Keys keys;
    if (shop != nullptr) {
        for (const auto& token : shop->account->tokens) {
            if (token->signing_key != nullptr && token->may_sign(scope, now)) {
                keys.push_back(token->signing_key.get());
            }
        }
    }
    // The dummy signs nothing. With it the time does not depend on how many tokens the account has.
    keys.resize(kDiagnosisUsableMax, &dummy_signing_key());
    return keys;
}

}  // namespace

std::string_view diagnose_signature(const HeaderValue& signature, std::string_view body,
                                    const ShopView* shop, Tokens barred, Scope scope,
                                    Timestamp now) {
    if (signature.count != 1) {
        return {};
    }
    const Written written = read_signature(signature.value);
    if (!written.digest || !written.mistake.empty()) {
        return written.mistake;
    }
    const ShopView* known = shop != nullptr && shop->active() ? shop : nullptr;
    if (*written.digest == sha256(body)) {
        return known != nullptr ? "signature_unkeyed_sha256" : "";
    }
    if (body.size() > kDiagnosisBodyBytesMax) {
        return {};
    }
    const std::string_view changed =
        diagnose_body(usable_keys(known, scope, now), body, *written.digest);
    const std::string_view token =
        diagnose_tokens(unusable_tokens(known, barred, scope, now), body, *written.digest, now);
    return changed.empty() ? token : changed;
}

}  // namespace sluice
