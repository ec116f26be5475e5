#include "core/intake/answer.hpp"

#include <array>

#include "core/json/writer.hpp"

namespace sluice {
namespace {

// Names of outcomes and reasons: $sluice_result, $sluice_reason, labels of metrics.

constexpr std::array<std::string_view, kOutcomes> kOutcomeNames{
    "accepted",           "replayed",    "dry_run", "unauthorized", "forbidden",   "not_found",
    "method_not_allowed", "bad_request", "invalid", "conflict",     "limited",     "too_large",
    "unavailable",        "error",       "ignored", "ping",         "untranslated"};
static_assert(!kOutcomeNames.back().empty());

constexpr std::array<std::string_view, kReasons> kReasonNames{"",
                                                              "shop_missing",
                                                              "shop_malformed",
                                                              "shop_unknown",
                                                              "shop_suspended",
                                                              "signature_missing",
                                                              "signature_malformed",
                                                              "signature_mismatch",
                                                              "no_usable_token",
                                                              "token_missing",
                                                              "token_unknown",
                                                              "token_revoked",
                                                              "token_expired",
                                                              "token_scope",
                                                              "rate_limited",
                                                              "header",
                                                              "body_not_json",
                                                              "fields",
                                                              "queue_full",
                                                              "disk_full",
                                                              "io_error",
                                                              "store_unavailable",
                                                              "memory",
                                                              "too_large",
                                                              "idempotency_conflict",
                                                              "zone_too_small",
                                                              "not_servable",
                                                              "method",
                                                              "address_limited",
                                                              "body_refused",
                                                              "keys_full",
                                                              "limited_before",
                                                              "refused_before",
                                                              "signature_hex",
                                                              "shop_differs",
                                                              "topic",
                                                              "test_order",
                                                              "not_placed",
                                                              "before_start"};
static_assert(!kReasonNames.back().empty());

constexpr std::string_view kJson = "application/json";
constexpr std::string_view kText = "text/plain";
constexpr std::string_view kEventLimited = R"({"error":"Rate limit exceeded"})";
constexpr std::string_view kCatalogLimited = R"({"code":429,"message":"Rate limit exceeded"})";
constexpr std::size_t kBytesPerError = 160;  // An estimate, to reserve once.

Answer answer_of(std::uint16_t status, Outcome outcome, Reason reason,
                 std::optional<RateVerdict> rate, std::string_view content_type = {}) noexcept {
    Answer answer;
    answer.status = status;
    answer.outcome = outcome;
    answer.reason = reason;
    answer.content_type = content_type;
    answer.rate = rate;
    return answer;
}

std::string_view refusal_of(std::uint16_t status) noexcept {
    switch (status) {
        case 413:
            return "Request body is too large";
        case 503:
            return "Service is temporarily unavailable";
        default:
            return status < 500 ? "The server refused the request" : "Internal server error";
    }
}

/// Returns true for the statuses of events whose body docs/protocol.md promises: empty or JSON.
bool has_event_body(std::uint16_t status) noexcept {
    return status == 401 || status == 405 || status == 429 || status >= 500;
}

}  // namespace

std::string_view to_string(Outcome outcome) noexcept {
    return kOutcomeNames[static_cast<std::size_t>(outcome)];
}

std::string_view to_string(Reason reason) noexcept {
    return kReasonNames[static_cast<std::size_t>(reason)];
}

Answer event_success(std::optional<RateVerdict> rate) {
    Answer answer = answer_of(200, Outcome::kAccepted, Reason::kNone, rate, kText);
    answer.static_body = "success";
    return answer;
}

Answer webhook_success(Outcome outcome, Reason reason) {
    Answer answer = event_success(std::nullopt);
    answer.outcome = outcome;
    answer.reason = reason;
    return answer;
}

Answer event_unauthorized(Reason reason) {
    return answer_of(401, Outcome::kUnauthorized, reason, std::nullopt);
}

Answer event_bad_request(Reason reason, std::span<const FieldError> errors,
                         std::optional<RateVerdict> rate) {
    Answer answer = answer_of(400, Outcome::kBadRequest, reason, rate, kJson);
    answer.body.reserve(kBytesPerError * (errors.size() + 1));
    JsonWriter json(answer.body);
    json.begin_object().field("error", "Invalid request data").key("details").begin_array();
    for (const FieldError& error : errors) {
        json.begin_object();
        if (!error.field.empty()) {
            json.field("field", std::string_view(error.field));
        }
        json.field("code", to_string(error.code));
        json.field("message", std::string_view(error.message)).end_object();
    }
    json.end_array().end_object();
    return answer;
}

Answer catalog_error(std::uint16_t status, Outcome outcome, Reason reason, std::string_view message,
                     std::optional<RateVerdict> rate) {
    Answer answer = answer_of(status, outcome, reason, rate, kJson);
    JsonWriter json(answer.body);
    json.begin_object().field("code", std::uint32_t{status}).field("message", message).end_object();
    return answer;
}

Answer catalog_conflict(std::optional<RateVerdict> rate) {
    return catalog_error(400, Outcome::kConflict, Reason::kIdempotencyConflict,
                         "Idempotency-Key was already used with a different request", rate);
}

Answer catalog_invalid_records(std::span<const FieldError> errors,
                               std::optional<RateVerdict> rate) {
    Answer answer = answer_of(422, Outcome::kInvalid, Reason::kFields, rate, kJson);
    answer.body.reserve(kBytesPerError * (errors.size() + 1));
    JsonWriter json(answer.body);
    json.begin_object().field("code", std::uint32_t{422});
    json.field("message", "Some records are invalid; nothing of the request was stored");
    json.key("recordErrors").begin_array();
    for (const FieldError& error : errors) {
        json.begin_object().field("index", error.index);
        json.field("field", std::string_view(error.field)).field("code", to_string(error.code));
        json.field("message", std::string_view(error.message)).end_object();
    }
    json.end_array().end_object();
    return answer;
}

/// A replay returns the first answer, so that only $sluice_result differs.
Answer catalog_success(std::uint32_t processed_count, bool replayed,
                       std::optional<RateVerdict> rate) {
    Answer answer = answer_of(200, replayed ? Outcome::kReplayed : Outcome::kAccepted,
                              Reason::kNone, rate, kJson);
    JsonWriter json(answer.body);
    json.begin_object().field("success", true).field("message", "Accepted for processing");
    json.field("processedCount", processed_count).end_object();
    return answer;
}

// -- All endpoints --------------------------------------------------------------------------------

std::string_view to_string(Endpoint endpoint) noexcept {
    constexpr std::array<std::string_view, kEndpoints> kNames{"events", "catalog", "shopify",
                                                              "woocommerce", "clicks"};
    return kNames[static_cast<std::size_t>(endpoint)];
}

Answer method_not_allowed(Endpoint endpoint) {
    constexpr auto kOutcome = Outcome::kMethodNotAllowed;
    Answer answer = endpoint != Endpoint::kCatalog
                        ? answer_of(405, kOutcome, Reason::kMethod, std::nullopt)
                        : catalog_error(405, kOutcome, Reason::kMethod,
                                        "Method not allowed: use POST", std::nullopt);
    answer.allow_post = true;
    return answer;
}

Answer rate_limited(Endpoint endpoint, const RateVerdict& rate) {
    Answer answer = address_limited(endpoint, rate.retry_after);
    answer.reason = Reason::kRateLimited;
    answer.rate = rate;
    return answer;
}

Answer address_limited(Endpoint endpoint, std::uint32_t retry_after) noexcept {
    Answer answer = answer_of(429, Outcome::kLimited, Reason::kAddressLimited, std::nullopt, kJson);
    answer.static_body = endpoint != Endpoint::kCatalog ? kEventLimited : kCatalogLimited;
    answer.retry_after = retry_after;
    return answer;
}

Outcome outcome_of_status(std::uint64_t status) noexcept {
    switch (status) {
        case 401:
            return Outcome::kUnauthorized;
        case 403:
            return Outcome::kForbidden;
        case 404:
            return Outcome::kNotFound;
        case 405:
            return Outcome::kMethodNotAllowed;
        case 413:
            return Outcome::kTooLarge;
        case 429:
            return Outcome::kLimited;
        case 503:
            return Outcome::kUnavailable;
        default:
            return status < 500 ? Outcome::kBadRequest : Outcome::kError;
    }
}

Answer failed(Endpoint endpoint, std::uint16_t status, Reason reason,
              std::optional<RateVerdict> rate) {
    const Outcome outcome = outcome_of_status(status);
    if (endpoint == Endpoint::kCatalog) {
        return catalog_error(status, outcome, reason, refusal_of(status), rate);
    }
    Answer answer = answer_of(status, outcome, reason, rate);
    answer.nginx_page = !has_event_body(status);
    return answer;
}

Answer refused_by_nginx(Endpoint endpoint, std::uint16_t status, Reason reason,
                        std::uint32_t retry_after) {
    if (status != 429) {
        return failed(endpoint, status, status == 413 ? Reason::kTooLarge : reason, std::nullopt);
    }
    Answer answer = address_limited(endpoint, retry_after);
    answer.reason = reason;
    return answer;
}

}  // namespace sluice
