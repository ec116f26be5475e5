// The low-level SHA-256 interface, deprecated in OpenSSL 3 but present in all of 3.x, makes a check
// cheap, free of allocation and safe on any thread, because a keyed state is a plain struct that is
// copied onto the stack. Measured for 1100 bytes (SHA-NI, OpenSSL 3.0): copied SHA256_CTX 0.69 us,
// EVP_MD_CTX_copy_ex 0.73 and EVP_MAC_init(NULL) 0.75 (both need a context per thread),
// EVP_MAC_CTX_dup 1.02 (allocates), HMAC() 1.59 (fetches); plain SHA-256 of it is 0.66.
#define OPENSSL_SUPPRESS_DEPRECATED

#include "core/protocol/signature.hpp"

#include <openssl/crypto.h>
#include <openssl/sha.h>

#include <algorithm>
#include <utility>

#include "core/values/assert.hpp"

namespace sluice {
namespace {

constexpr std::size_t kBlockBytes = 64;
constexpr std::uint8_t kInnerPad = 0x36;
constexpr std::uint8_t kOuterPad = 0x5c;
/// Marks a character that is no digit: larger than any digit, even combined with another one.
constexpr std::uint8_t kNoHexDigit = 0xff;

using HexTable = std::array<std::uint8_t, 256>;

constexpr HexTable hex_table(bool upper_too) noexcept {
    HexTable table{};
    table.fill(kNoHexDigit);
    for (std::uint8_t value = 0; value < 16; ++value) {
        table[static_cast<unsigned char>("0123456789abcdef"[value])] = value;
        if (upper_too) {
            table[static_cast<unsigned char>("0123456789ABCDEF"[value])] = value;
        }
    }
    return table;
}
constexpr HexTable kLowerHex = hex_table(false);
constexpr HexTable kEitherHex = hex_table(true);

using Block = std::array<std::uint8_t, kBlockBytes>;

/// Returns SHA-256 after one block: the zero-padded key with every byte xored with `pad`.
SHA256_CTX state_after_key(Block key, std::uint8_t pad) noexcept {
    for (std::uint8_t& byte : key) {
        byte = static_cast<std::uint8_t>(byte ^ pad);
    }
    SHA256_CTX context;
    SHA256_Init(&context);
    SHA256_Update(&context, key.data(), key.size());
    OPENSSL_cleanse(key.data(), key.size());
    return context;
}

/// Completes the hash in `context` with `bytes`.
Digest256 finish(SHA256_CTX context, const void* bytes, std::size_t count) noexcept {
    Digest256 digest;
    SHA256_Update(&context, bytes, count);
    SHA256_Final(digest.data(), &context);
    return digest;
}

}  // namespace

bool read_hex(std::string_view digits, std::span<std::uint8_t> to, HexCase hex_case) noexcept {
    if (digits.size() != 2 * to.size()) {
        return false;
    }
    const HexTable& table = hex_case == HexCase::kLowerOnly ? kLowerHex : kEitherHex;
    unsigned seen = 0;
    for (std::size_t i = 0; i < to.size(); ++i) {
        const unsigned high = table[static_cast<unsigned char>(digits[2 * i])];
        const unsigned low = table[static_cast<unsigned char>(digits[2 * i + 1])];
        to[i] = static_cast<std::uint8_t>(high << 4 | low);
        seen |= high | low;
    }
    return seen <= 0xf;
}

Parsed<Digest256> parse_base64_digest(std::string_view text) noexcept {
    constexpr std::string_view kAlphabet =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    constexpr std::size_t kCharacters = 44;
    Digest256 digest{};
    if (text.size() != kCharacters || text.back() != '=') {
        return std::nullopt;
    }
    text.remove_suffix(1);
    std::uint32_t bits = 0;
    unsigned held = 0;
    std::size_t filled = 0;
    for (const char c : text) {
        const std::size_t value = kAlphabet.find(c);
        if (value == std::string_view::npos) {
            return std::nullopt;
        }
        bits = bits << 6 | static_cast<std::uint32_t>(value);
        held += 6;
        if (held >= 8) {
            held -= 8;
            digest[filled++] = static_cast<std::uint8_t>(bits >> held);
        }
    }
    const bool has_more = (bits & ((1U << held) - 1)) != 0;  // bits beyond the 32 bytes
    return has_more ? std::nullopt : Parsed<Digest256>(digest);
}

Parsed<Digest256> parse_hex_digest(std::string_view text, HexCase hex_case) noexcept {
    Digest256 digest;
    return read_hex(text, digest, hex_case) ? std::optional(digest) : std::nullopt;
}

Digest256 sha256(std::string_view bytes) noexcept {
    SHA256_CTX context;
    SHA256_Init(&context);
    return finish(context, bytes.data(), bytes.size());
}

bool equal_constant_time(const Digest256& a, const Digest256& b) noexcept {
    return CRYPTO_memcmp(a.data(), b.data(), a.size()) == 0;
}

std::string to_hex(std::span<const std::uint8_t> bytes) {
    constexpr std::string_view kDigits = "0123456789abcdef";
    std::string text(2 * bytes.size(), '0');
    std::size_t at = 0;
    for (const std::uint8_t byte : bytes) {
        text[at++] = kDigits[byte >> 4];
        text[at++] = kDigits[byte & 0xf];
    }
    return text;
}

struct RunningSha256::State {
    SHA256_CTX context;
};

RunningSha256::RunningSha256() : state_(std::make_unique<State>()) {
    SHA256_Init(&state_->context);
}

RunningSha256::~RunningSha256() = default;
RunningSha256::RunningSha256(RunningSha256&&) noexcept = default;
RunningSha256& RunningSha256::operator=(RunningSha256&&) noexcept = default;

void RunningSha256::add(std::string_view piece) noexcept {
    SHA256_Update(&state_->context, piece.data(), piece.size());
}

Digest256 RunningSha256::digest() const noexcept {
    return finish(state_->context, nullptr, 0);
}

struct RunningHmac::State {
    SHA256_CTX inner;
    SHA256_CTX outer;
};

RunningHmac::RunningHmac(std::unique_ptr<State> state) noexcept : state_(std::move(state)) {}

RunningHmac::~RunningHmac() {
    if (state_ != nullptr) {
        OPENSSL_cleanse(state_.get(), sizeof(State));
    }
}

RunningHmac::RunningHmac(RunningHmac&&) noexcept = default;

RunningHmac& RunningHmac::operator=(RunningHmac&& other) noexcept {
    std::swap(state_, other.state_);
    return *this;
}

void RunningHmac::add(std::string_view piece) noexcept {
    SHA256_Update(&state_->inner, piece.data(), piece.size());
}

Digest256 RunningHmac::digest() const noexcept {
    const Digest256 inner = finish(state_->inner, nullptr, 0);
    return finish(state_->outer, inner.data(), inner.size());
}

SigningKey::SigningKey(std::string_view secret) : state_(std::make_unique<State>()) {
    SLUICE_ASSERT(!secret.empty());
    Block key{};
    if (secret.size() > key.size()) {
        Digest256 digest = sha256(secret);
        std::ranges::copy(digest, key.begin());
        OPENSSL_cleanse(digest.data(), digest.size());
    } else {
        std::ranges::copy(secret, key.begin());
    }
    state_->inner = state_after_key(key, kInnerPad);
    state_->outer = state_after_key(key, kOuterPad);
    OPENSSL_cleanse(key.data(), key.size());
}

SigningKey::~SigningKey() {
    OPENSSL_cleanse(state_.get(), sizeof(State));
}

Digest256 SigningKey::sign(std::string_view body) const noexcept {
    const Digest256 inner = finish(state_->inner, body.data(), body.size());
    return finish(state_->outer, inner.data(), inner.size());
}

RunningHmac SigningKey::begin() const {
    return RunningHmac(std::make_unique<State>(*state_));
}

const SigningKey& dummy_signing_key() {
    // Never destroyed, because threads of nginx's pools may still run while the process exits.
    static const SigningKey* const key = new SigningKey("stands for the keys of unknown shops");
    return *key;
}

}  // namespace sluice
