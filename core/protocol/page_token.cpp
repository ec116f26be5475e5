#include "core/protocol/page_token.hpp"

#include <openssl/core_names.h>
#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/kdf.h>

#include <algorithm>
#include <charconv>
#include <new>
#include <optional>
#include <utility>
#include <vector>

#include "core/protocol/openssl_objects.hpp"
#include "core/protocol/signature.hpp"
#include "core/values/base64.hpp"

namespace sluice {
namespace {

constexpr std::string_view kPrefix = "scp1.";
constexpr std::size_t kLines = 5, kRandomBytes = 8;

/// OpenSSL fails here only without memory.
template <class Object>
Object made(Object object) {
    if (object == nullptr) {
        throw std::bad_alloc();
    }
    return object;
}

using Seed = std::array<std::uint8_t, 32>;

/// HKDF-SHA256 without salt (RFC 5869).
Seed seed_of(std::string_view secret) {
    const auto algorithm =
        made(Owned<EVP_KDF, EVP_KDF_free>(EVP_KDF_fetch(nullptr, "HKDF", nullptr)));
    const auto context =
        made(Owned<EVP_KDF_CTX, EVP_KDF_CTX_free>(EVP_KDF_CTX_new(algorithm.get())));
    std::string digest = "SHA256", key(secret), info = "sluice creator pages 1";
    const std::array<OSSL_PARAM, 4> parameters{
        OSSL_PARAM_construct_utf8_string(OSSL_KDF_PARAM_DIGEST, digest.data(), 0),
        OSSL_PARAM_construct_octet_string(OSSL_KDF_PARAM_KEY, key.data(), key.size()),
        OSSL_PARAM_construct_octet_string(OSSL_KDF_PARAM_INFO, info.data(), info.size()),
        OSSL_PARAM_construct_end()};
    Seed seed{};
    const int derived = EVP_KDF_derive(context.get(), seed.data(), seed.size(), parameters.data());
    OPENSSL_cleanse(key.data(), key.size());
    if (derived != 1) {
        throw std::bad_alloc();
    }
    return seed;
}

/// Returns the lines of a payload, or nothing if it has another number of them.
std::optional<std::vector<std::string>> lines_of(std::string_view payload) {
    std::vector<std::string> lines;
    for (std::size_t begin = 0; begin <= payload.size() && lines.size() <= kLines;) {
        const std::size_t end = std::min(payload.find('\n', begin), payload.size());
        lines.emplace_back(payload.substr(begin, end - begin));
        begin = end + 1;
    }
    return lines.size() == kLines ? std::optional(std::move(lines)) : std::nullopt;
}

/// Accepts the one text of a number of seconds since 1970.
Parsed<std::int64_t> parse_second(std::string_view text) {
    std::int64_t value = 0;
    const auto read = std::from_chars(text.data(), text.data() + text.size(), value);
    return read.ec == std::errc() && std::to_string(value) == text && value >= 0
               ? Parsed<std::int64_t>(value)
               : std::nullopt;
}

Parsed<PageToken> parse_payload(std::string_view payload) {
    const auto lines = lines_of(payload);
    if (!lines) {
        return std::nullopt;
    }
    const auto issued = parse_second((*lines)[2]), expires = parse_second((*lines)[3]);
    std::array<std::uint8_t, kRandomBytes> random{};
    const bool is_whole = is_admin_id((*lines)[0]) && is_admin_id((*lines)[1]) && issued &&
                          expires && read_hex((*lines)[4], random, HexCase::kLowerOnly);
    if (!is_whole) {
        return std::nullopt;
    }
    return PageToken{TokenId((*lines)[0]), CreatorId((*lines)[1]), *issued, *expires, (*lines)[4]};
}

std::string payload_of(const PageToken& token) {
    return token.token_id.str() + "\n" + token.creator.str() + "\n" + std::to_string(token.issued) +
           "\n" + std::to_string(token.expires) + "\n" + token.random;
}

}  // namespace

bool PageToken::counts_at(std::int64_t second) const noexcept {
    const bool has_length = issued < expires && expires - issued <= kPageTokenSecondsMax;
    return has_length && issued - kPageClockSecondsMax <= second && second < expires;
}

bool SignedPageToken::verify(const PageKey& key) const {
    const auto public_key = made(
        EvpKey(EVP_PKEY_new_raw_public_key(EVP_PKEY_ED25519, nullptr, key.data(), key.size())));
    const auto context = made(DigestContext(EVP_MD_CTX_new()));
    return EVP_DigestVerifyInit(context.get(), nullptr, nullptr, nullptr, public_key.get()) == 1 &&
           EVP_DigestVerify(context.get(), signature.data(), signature.size(),
                            bytes_of(signed_text), signed_text.size()) == 1;
}

Parsed<SignedPageToken> parse_page_token(std::string_view text) {
    if (text.size() > kPageTokenBytesMax || !text.starts_with(kPrefix)) {
        return std::nullopt;
    }
    const std::size_t dot = text.find('.', kPrefix.size());
    if (dot == std::string_view::npos) {
        return std::nullopt;
    }
    SignedPageToken parsed{.signed_text = std::string(text.substr(0, dot))};
    const auto payload = from_base64url(text.substr(kPrefix.size(), dot - kPrefix.size()));
    const auto signature = from_base64url(text.substr(dot + 1));
    if (!payload || !signature || signature->size() != parsed.signature.size()) {
        return std::nullopt;
    }
    std::ranges::copy(*signature, parsed.signature.begin());
    auto token = parse_payload(*payload);
    if (!token) {
        return std::nullopt;
    }
    parsed.token = *std::move(token);
    return parsed;
}

struct PageSigner::Key {
    EvpKey key;
};

PageSigner::PageSigner(std::string_view secret) : key_(std::make_unique<Key>()) {
    Seed seed = seed_of(secret);
    key_->key.reset(
        EVP_PKEY_new_raw_private_key(EVP_PKEY_ED25519, nullptr, seed.data(), seed.size()));
    OPENSSL_cleanse(seed.data(), seed.size());
    if (key_->key == nullptr) {
        throw std::bad_alloc();
    }
}

PageSigner::~PageSigner() = default;

PageKey PageSigner::public_key() const {
    PageKey key{};
    std::size_t size = key.size();
    if (EVP_PKEY_get_raw_public_key(key_->key.get(), key.data(), &size) != 1) {
        throw std::bad_alloc();
    }
    return key;
}

std::string PageSigner::sign(const PageToken& token) const {
    const std::string text = std::string(kPrefix) + to_base64url(payload_of(token));
    const auto context = made(DigestContext(EVP_MD_CTX_new()));
    std::array<std::uint8_t, 64> signature{};
    std::size_t size = signature.size();
    if (EVP_DigestSignInit(context.get(), nullptr, nullptr, nullptr, key_->key.get()) != 1 ||
        EVP_DigestSign(context.get(), signature.data(), &size, bytes_of(text), text.size()) != 1) {
        throw std::bad_alloc();
    }
    return text + "." +
           to_base64url({reinterpret_cast<const char*>(signature.data()), signature.size()});
}

}  // namespace sluice
