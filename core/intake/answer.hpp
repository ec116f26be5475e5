// Answers: the bodies and statuses of all endpoints, and the names of their outcomes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "core/intake/rate_window.hpp"
#include "core/protocol/field_error.hpp"

namespace sluice {

/// $sluice_result.
enum class Outcome : std::uint8_t {
    kAccepted,
    kReplayed,
    kDryRun,
    kUnauthorized,
    kForbidden,
    kNotFound,
    kMethodNotAllowed,
    kBadRequest,
    kInvalid,
    kConflict,
    kLimited,
    kTooLarge,
    kUnavailable,
    kError,
    // Webhooks, answered 200:
    kIgnored,       ///< Nothing to store, on purpose.
    kPing,          ///< WooCommerce tries the address.
    kUntranslated,  ///< Stored as a dead letter.
};
inline constexpr std::size_t kOutcomes = static_cast<std::size_t>(Outcome::kUntranslated) + 1;
[[nodiscard]] std::string_view to_string(Outcome outcome) noexcept;

/// $sluice_reason, as far as it is known at once. core/intake/diagnosis works out the likely
/// mistake of a failed signature later.
enum class Reason : std::uint8_t {
    kNone,
    kShopMissing,
    kShopMalformed,
    kShopUnknown,
    kShopSuspended,
    kSignatureMissing,
    kSignatureMalformed,
    kSignatureMismatch,
    kNoUsableToken,
    kTokenMissing,
    kTokenUnknown,
    kTokenRevoked,
    kTokenExpired,
    kTokenScope,
    kRateLimited,
    kHeader,
    kBodyNotJson,
    kFields,
    kQueueFull,
    kDiskFull,
    kIoError,
    kStoreUnavailable,
    kMemory,
    kTooLarge,
    kIdempotencyConflict,
    kZoneTooSmall,  ///< The account is beyond the shared zone, so that its limit cannot be held.
    kNotServable,   ///< Another part of the configuration led the request here incomplete.
    kMethod,
    kAddressLimited,  ///< Its address failed to authenticate too often.
    kBodyRefused,     ///< nginx refused the body while it arrived: malformed or too slow.
    kKeysFull,        ///< No idempotency key can be kept until others expire.
    // Refused by nginx or another module before sluice was called.
    kLimitedBefore,  ///< 429 or 503: limit_req, limit_conn.
    kRefusedBefore,  ///< Another status: deny, auth_basic, client_max_body_size.
    // Webhooks.
    kSignatureHex,  ///< Hexadecimal instead of base64.
    kShopDiffers,   ///< URI, header or body name another shop.
    kOtherTopic,    ///< Ignored, as the next three.
    kTestOrder,
    kNotPlaced,
    kBeforeStart,
};
inline constexpr std::size_t kReasons = static_cast<std::size_t>(Reason::kBeforeStart) + 1;
/// Returns true for the reasons of webhooks that are ignored.
[[nodiscard]] constexpr bool is_ignored(Reason reason) noexcept {
    return reason >= Reason::kOtherTopic && reason <= Reason::kBeforeStart;
}
[[nodiscard]] std::string_view to_string(Reason reason) noexcept;

/// A complete answer. It owns `body`; common bodies are static, without allocation.
struct Answer {
    std::uint16_t status = 500;
    Outcome outcome = Outcome::kError;
    Reason reason = Reason::kNone;
    std::string_view content_type;  ///< Empty without a body.
    std::string_view static_body;   ///< Used if `body` is empty.
    std::string body;
    bool nginx_page = false;  ///< nginx sends its own page for `status`.
    bool allow_post = false;  ///< `Allow: POST`
    /// Seconds of Retry-After of a 429. That of a 503 is a directive of nginx.
    std::uint32_t retry_after = 0;
    std::optional<RateVerdict> rate;  ///< X-RateLimit-* when set

    [[nodiscard]] std::string_view text() const noexcept {
        return body.empty() ? static_body : std::string_view(body);
    }
};

// -- Events. Before the sender is authenticated, answers have no body and reveal nothing. ---------

[[nodiscard]] Answer event_unauthorized(Reason reason);
[[nodiscard]] Answer event_bad_request(Reason reason, std::span<const FieldError> errors,
                                       std::optional<RateVerdict> rate);
[[nodiscard]] Answer event_success(std::optional<RateVerdict> rate);
/// Returns `success` for a webhook of which nothing is stored.
[[nodiscard]] Answer webhook_success(Outcome outcome, Reason reason);

// -- Catalog. `message` is for the shop's developer. ----------------------------------------------

[[nodiscard]] Answer catalog_invalid_records(std::span<const FieldError> errors,
                                             std::optional<RateVerdict> rate);
[[nodiscard]] Answer catalog_success(std::uint32_t processed_count, bool replayed,
                                     std::optional<RateVerdict> rate);
[[nodiscard]] Answer catalog_conflict(std::optional<RateVerdict> rate);
[[nodiscard]] Answer catalog_error(std::uint16_t status, Outcome outcome, Reason reason,
                                   std::string_view message, std::optional<RateVerdict> rate);

// -- All endpoints --------------------------------------------------------------------------------

/// Webhooks and clicks are answered as events.
enum class Endpoint : std::uint8_t { kEvents, kCatalog, kShopify, kWooCommerce, kClicks };
inline constexpr std::size_t kEndpoints = 5;
/// Returns events, catalog, shopify, woocommerce or clicks.
[[nodiscard]] std::string_view to_string(Endpoint endpoint) noexcept;

[[nodiscard]] Answer method_not_allowed(Endpoint endpoint);
[[nodiscard]] Answer rate_limited(Endpoint endpoint, const RateVerdict& rate);
/// Returns an answer whose body follows from endpoint and status.
/// @param status  400 or above, but not 429: see rate_limited() and address_limited().
[[nodiscard]] Answer failed(Endpoint endpoint, std::uint16_t status, Reason reason,
                            std::optional<RateVerdict> rate);

/// Returns true if the sender was not authenticated.
[[nodiscard]] constexpr bool is_authentication_failure(Outcome outcome) noexcept {
    return outcome == Outcome::kUnauthorized || outcome == Outcome::kForbidden ||
           outcome == Outcome::kNotFound;
}
/// Replaces the answer to an authentication failure. Allocates nothing.
[[nodiscard]] Answer address_limited(Endpoint endpoint, std::uint32_t retry_after) noexcept;

/// Returns the outcome of a status that nginx or another module has set. Requires: 400 or above.
[[nodiscard]] Outcome outcome_of_status(std::uint64_t status) noexcept;
/// Returns the answer for a request that nginx or another module has refused, with the body that
/// the endpoint promises for the status.
/// @param reason       kBodyRefused, kLimitedBefore or kRefusedBefore.
/// @param retry_after  For 429.
[[nodiscard]] Answer refused_by_nginx(Endpoint endpoint, std::uint16_t status, Reason reason,
                                      std::uint32_t retry_after);

}  // namespace sluice
