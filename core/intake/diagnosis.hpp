// Diagnosis: why a signature of events or clicks did not verify, in a word for the operator
// ($sluice_reason).
//
// Never sent to the sender. Run it after the answer was sent, and not for every request: it costs
// about 40 hashes of the body. The number does not depend on the shop and its tokens, because the
// sender of the next request on the connection can measure the time. Pure; any thread.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string_view>

#include "core/intake/intake.hpp"

namespace sluice {

/// How many keys of tokens that may not sign are tried. All keys of tokens that may are tried.
inline constexpr std::size_t kDiagnosisBarredMax = 16;
inline constexpr std::size_t kDiagnosisUsableMax = 8;
/// Larger bodies are hashed only as sent, and without a key.
inline constexpr std::size_t kDiagnosisBodyBytesMax = 8 * 1024;

/// @param shop     As in Sender; null if unknown. An unknown or suspended shop takes as long as any
///                 other, and gets no result that depends on a shop.
/// @param scope    Of the tokens that may sign: kWriteOrders or kWriteClicks.
/// @param barred   RegistryView::find_barred_tokens() of the shop's account; may be empty. Those
///                 without a signing key are skipped.
/// @return the name of the likely mistake, or nothing if the Reason of the answer applies:
///   signature_prefix          `sha256=` (or the like) before the digest
///   signature_uppercase       hexadecimal in upper case
///   signature_base64          base64 instead of hexadecimal
///   signature_unkeyed_sha256  the plain SHA-256 digest of the body
///   body_trailing_newline     the body was signed without the newline that it ends with
///   body_missing_newline      a newline was signed that was not sent
///   body_reformatted          the compact form of the JSON was signed, another one was sent
///   token_revoked, token_expired   signed with a token that may not sign any more
///   token_scope               signed with a token that lacks the scope
[[nodiscard]] std::string_view diagnose_signature(
    const HeaderValue& signature, std::string_view body, const ShopView* shop,
    std::span<const std::shared_ptr<const TokenView>> barred, Scope scope, Timestamp now);

}  // namespace sluice
