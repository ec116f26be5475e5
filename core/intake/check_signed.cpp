#include "core/intake/check_signed.hpp"

#include "core/intake/check_signature.hpp"
#include "core/json/fault.hpp"

namespace sluice {
namespace {

/// Returns every error of the head, at most one for each header.
std::vector<FieldError> check_head(const RequestHead& head, const HeaderNames& names,
                                   const std::optional<Topic>& topic, std::string_view topics) {
    std::vector<FieldError> errors;
    const auto add = [&errors](std::string_view field, HeaderState state,
                               const std::string& expectation) {
        const bool missing = state == HeaderState::kMissing;
        errors.push_back({std::string(field),
                          missing ? FieldErrorCode::kRequired : FieldErrorCode::kInvalidFormat,
                          missing                           ? "is required"
                          : state == HeaderState::kRepeated ? "must be sent only once"
                                                            : expectation,
                          0});
    };
    if (!topic) {
        add(names.topic, state_of(head.topic), "must be " + std::string(topics));
    }
    const HeaderState content_type = state_of(head.content_type);
    if (content_type != HeaderState::kOnce || !is_json_media_type(head.content_type.value)) {
        add("Content-Type", content_type, "must be application/json");
    }
    if (!is_identity_encoded(head.content_encoding)) {
        add("Content-Encoding", state_of(head.content_encoding),
            "must be absent or identity: the body is signed as it is sent");
    }
    return errors;
}

}  // namespace

bool accept_signed(const SignedEndpoint& of, const RequestHead& head, const HeaderNames& names,
                   const std::optional<Topic>& topic, const Sender& sender, CheckedBody& body,
                   RateGate& gate, Timestamp now, Accepting& result, std::string_view& text) {
    const Reason refused = check_signature(
        sender, body, [&](const TokenView& token) { return token.may_sign(of.scope, now); },
        result.token);
    if (refused != Reason::kNone) {
        result.answer = refused == Reason::kStoreUnavailable
                            ? failed(of.endpoint, 503, refused, std::nullopt)
                            : event_unauthorized(refused);
        return false;
    }
    result.rate = gate.count(*sender.shop->account);
    if (result.rate && !result.rate->allowed) {
        result.answer = rate_limited(of.endpoint, *result.rate);
        return false;
    }
    const std::vector<FieldError> head_errors = check_head(head, names, topic, of.topics);
    if (!head_errors.empty()) {
        result.answer = event_bad_request(Reason::kHeader, head_errors, result.rate);
        return false;
    }
    if (const Reason gone = body.read(text); gone != Reason::kNone) {
        result.answer = failed(of.endpoint, 503, gone, result.rate);
        result.is_body_gone = true;
        return false;
    }
    return true;
}

/// The sender is authenticated, so the answer may show where its bytes are wrong.
Answer invalid_body(std::span<const FieldError> errors, std::string_view text,
                    std::optional<RateVerdict> rate) {
    if (!errors.front().field.empty()) {
        return event_bad_request(Reason::kFields, errors, rate);
    }
    FieldError placed = errors.front();
    placed.message = explain_json_error(placed.message, text);
    return event_bad_request(Reason::kBodyNotJson, {&placed, 1}, rate);
}

}  // namespace sluice
