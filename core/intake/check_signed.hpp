// Signed requests: what events and clicks have in common. Internal to intake.
#pragma once

#include "core/intake/intake.hpp"

namespace sluice {

/// An endpoint whose requests a token signs.
struct SignedEndpoint {
    Endpoint endpoint;
    Scope scope;
    std::string_view topics;  ///< As a sentence lists them.
};

/// Checks signature, rate and head, and reads the body. Returns false if one of these ends the
/// request; `result` then has the answer.
/// @param topic  Nothing if the header names none of the endpoint's topics.
[[nodiscard]] bool accept_signed(const SignedEndpoint& of, const RequestHead& head,
                                 const HeaderNames& names, const std::optional<Topic>& topic,
                                 const Sender& sender, CheckedBody& body, RateGate& gate,
                                 Timestamp now, Accepting& result, std::string_view& text);

/// Returns 400 for a body that breaks the endpoint's rules. Requires: `errors` is not empty.
[[nodiscard]] Answer invalid_body(std::span<const FieldError> errors, std::string_view text,
                                  std::optional<RateVerdict> rate);

}  // namespace sluice
