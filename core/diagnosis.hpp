// Diagnosis: why an events signature did not verify, in a word for the operator ($sluice_reason).
//
// Never told to the sender. Run it after the answer was sent, and not for every request: it costs
// up to five hashes of the body for each key. Pure; any thread.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string_view>

#include "core/intake.hpp"

namespace sluice {

/// Tokens of an account are at most 8 active ones for a scope, and retired ones without end: only
/// the first of these many keys are tried.
inline constexpr std::size_t kDiagnosisKeysMax = 16;
/// Bodies above this are hashed as sent only, without variants.
inline constexpr std::size_t kDiagnosisBodyBytesMax = 256 * 1024;

/// @param shop     As in Sender; null if unknown. Unknown and suspended ones take as long as one
///                 with a token, and get nothing.
/// @param retired  Revoked tokens of the shop's account, if the registry can give them; may be
///                 empty. Those without a signing key are passed over.
/// @return the name of the likely mistake, or nothing, and then the Reason of the answer stands:
///   signature_prefix          `sha256=` (or the like) before the digest
///   signature_uppercase       hexadecimal in upper case
///   signature_base64          base64 instead of hexadecimal
///   signature_unkeyed_sha256  the plain SHA-256 digest of the body
///   body_trailing_newline     the body was signed without the newline that it ends with
///   body_missing_newline      a newline was signed that was not sent
///   body_reformatted          the compact form of the JSON was signed, another one was sent
///   token_revoked, token_expired   signed with a token that may not sign any more
[[nodiscard]] std::string_view diagnose_signature(
    const HeaderValue& signature, std::string_view body, const ShopView* shop,
    std::span<const std::shared_ptr<const TokenView>> retired, Timestamp now);

}  // namespace sluice
