// Signatures: HMAC-SHA256 of the raw body (events), plain SHA-256 of the raw body (catalog).
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "core/values/parsed.hpp"

namespace sluice {

using Digest256 = std::array<std::uint8_t, 32>;

enum class HexCase : std::uint8_t { kLowerOnly, kEither };

/// Reads two hex digits for each byte of `to`. Returns false if there are others or fewer digits.
[[nodiscard]] bool read_hex(std::string_view digits, std::span<std::uint8_t> to,
                            HexCase hex_case) noexcept;
/// Parses exactly 64 hex digits.
[[nodiscard]] Parsed<Digest256> parse_hex_digest(std::string_view text, HexCase hex_case) noexcept;
/// Parses exactly 44 characters of base64 (RFC 4648, section 4) that end with one `=`.
[[nodiscard]] Parsed<Digest256> parse_base64_digest(std::string_view text) noexcept;
[[nodiscard]] Digest256 sha256(std::string_view bytes) noexcept;
[[nodiscard]] inline std::string_view view_of(const Digest256& digest) noexcept {
    return {reinterpret_cast<const char*>(digest.data()), digest.size()};
}
/// Compares in constant time.
[[nodiscard]] bool equal_constant_time(const Digest256& a, const Digest256& b) noexcept;
[[nodiscard]] std::string to_hex(std::span<const std::uint8_t> bytes);
/// A digest as the text of a JSON member: lower-case digits.
struct HexDigest {
    std::optional<Digest256> operator()(std::string_view hex) const {
        return parse_hex_digest(hex, HexCase::kLowerOnly);
    }
    static std::string text(const Digest256& digest) { return to_hex(digest); }
};

/// SHA-256 of bytes that come in pieces. One thread at a time.
class RunningSha256 {
public:
    /// Throws std::bad_alloc.
    RunningSha256();
    ~RunningSha256();
    RunningSha256(RunningSha256&&) noexcept;
    RunningSha256& operator=(RunningSha256&&) noexcept;

    void add(std::string_view piece) noexcept;
    /// Returns the digest of the bytes added so far.
    [[nodiscard]] Digest256 digest() const noexcept;

private:
    struct State;
    std::unique_ptr<State> state_;
};

/// HMAC-SHA256 of bytes that come in pieces, see SigningKey::begin(). The key may be destroyed.
/// Wiped when destroyed. One thread at a time.
class RunningHmac {
public:
    ~RunningHmac();
    RunningHmac(RunningHmac&&) noexcept;
    RunningHmac& operator=(RunningHmac&&) noexcept;

    void add(std::string_view piece) noexcept;
    /// Returns the digest of the bytes added so far.
    [[nodiscard]] Digest256 digest() const noexcept;

private:
    friend class SigningKey;
    struct State;
    explicit RunningHmac(std::unique_ptr<State> state) noexcept;
    std::unique_ptr<State> state_;
};

/// A secret prepared for HMAC-SHA256: the states after the padded key, so that a check hashes the
/// body once and never reads the secret again. Immutable; any number of threads may use it.
/// Wiped when destroyed.
class SigningKey {
public:
    /// @param secret  The bytes of the token's secret as printed. At least 1 byte.
    explicit SigningKey(std::string_view secret);
    ~SigningKey();
    SigningKey(const SigningKey&) = delete;
    SigningKey& operator=(const SigningKey&) = delete;

    [[nodiscard]] Digest256 sign(std::string_view body) const noexcept;
    /// Begins sign() for bytes that come in pieces. Throws std::bad_alloc.
    [[nodiscard]] RunningHmac begin() const;
    [[nodiscard]] bool verify(std::string_view body, const Digest256& given) const noexcept {
        return equal_constant_time(sign(body), given);
    }

private:
    using State = RunningHmac::State;
    std::unique_ptr<State> state_;
};

/// Returns a key for senders without a key, whose check takes as long as a real one, so that a
/// sender cannot distinguish unknown shops by time. No signature under this key admits a request.
/// Any thread, at any time.
[[nodiscard]] const SigningKey& dummy_signing_key();

}  // namespace sluice
