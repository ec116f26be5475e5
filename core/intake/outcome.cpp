// Names of outcomes and reasons: $sluice_result, $sluice_reason, labels of metrics.
#include <array>

#include "core/intake/intake.hpp"

namespace sluice {
namespace {

constexpr std::array<std::string_view, 14> kOutcomeNames{
    "accepted",  "replayed",           "dry_run",     "unauthorized", "forbidden",
    "not_found", "method_not_allowed", "bad_request", "invalid",      "conflict",
    "limited",   "too_large",          "unavailable", "error"};
static_assert(kOutcomeNames.size() == static_cast<std::size_t>(Outcome::kError) + 1);

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
                                                              "limited_before",
                                                              "refused_before"};
static_assert(!kReasonNames.back().empty());

}  // namespace

std::string_view to_string(Outcome outcome) noexcept {
    return kOutcomeNames[static_cast<std::size_t>(outcome)];
}

std::string_view to_string(Reason reason) noexcept {
    return kReasonNames[static_cast<std::size_t>(reason)];
}

}  // namespace sluice
