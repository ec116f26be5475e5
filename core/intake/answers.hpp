// Answers: the bodies and statuses of both endpoints, in one place. core/intake/intake.hpp declares
// the answers that the caller gives after it has stored a record.
#pragma once

#include <optional>
#include <span>
#include <string_view>

#include "core/intake/intake.hpp"
#include "core/protocol/field_error.hpp"

namespace sluice {

// Events. Before a sender has proved itself, answers have no body and say nothing.
[[nodiscard]] Answer event_method_not_allowed();
[[nodiscard]] Answer event_unauthorized(Reason reason);
[[nodiscard]] Answer event_limited(const RateVerdict& rate);
[[nodiscard]] Answer event_bad_request(Reason reason, std::span<const FieldError> errors,
                                       std::optional<RateVerdict> rate);

// Catalog. `message` is for the shop's developer.
[[nodiscard]] Answer catalog_method_not_allowed();
[[nodiscard]] Answer catalog_limited(const RateVerdict& rate);
[[nodiscard]] Answer catalog_invalid_records(std::span<const FieldError> errors,
                                             std::optional<RateVerdict> rate);

}  // namespace sluice
