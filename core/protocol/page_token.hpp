// Page tokens: what a creator's page sends in place of a login.
//
// `scp1.<payload>.<signature>`, both in base64url. The payload has a line each for token, creator,
// times and random bytes; the signature is Ed25519 over `scp1.` and the payload's text. The key
// pair follows from the secret of an API token, so that a holder of the secret can sign, and the
// registry, which has the public key alone, can only check.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "core/values/ids.hpp"
#include "core/values/parsed.hpp"

namespace sluice {

using PageKey = std::array<std::uint8_t, 32>;  ///< An Ed25519 public key.

inline constexpr std::size_t kPageTokenBytesMax = 512;
inline constexpr std::int64_t kPageTokenSecondsMax = 3600;
/// How far the clock of the server that made a token may be ahead.
inline constexpr std::int64_t kPageClockSecondsMax = 60;
/// A shorter secret could be guessed from the public key.
inline constexpr std::size_t kPageSecretBytesMin = 32;

struct PageToken {
    TokenId token_id;                      ///< The API token whose secret signed it.
    CreatorId creator;                     ///< First id.
    std::int64_t issued = 0, expires = 0;  ///< Seconds since 1970.
    std::string random;                    ///< 16 hexadecimal digits, which name it in logs.

    /// Returns whether it counts at this time. One that was made for longer than an hour never
    /// does.
    [[nodiscard]] bool counts_at(std::int64_t second) const noexcept;
};

/// A page token as it was sent. Nothing in it is proven before verify().
struct SignedPageToken {
    PageToken token{};
    std::string signed_text;
    std::array<std::uint8_t, 64> signature{};

    [[nodiscard]] bool verify(const PageKey& key) const;
};

[[nodiscard]] Parsed<SignedPageToken> parse_page_token(std::string_view text);

/// The private key. Wiped when destroyed. One thread at a time.
class PageSigner {
public:
    /// @param secret  The bytes of the API token's secret as printed.
    explicit PageSigner(std::string_view secret);
    ~PageSigner();
    PageSigner(const PageSigner&) = delete;
    PageSigner& operator=(const PageSigner&) = delete;

    [[nodiscard]] PageKey public_key() const;
    /// Returns the text of the token.
    [[nodiscard]] std::string sign(const PageToken& token) const;

private:
    struct Key;
    std::unique_ptr<Key> key_;
};

}  // namespace sluice
