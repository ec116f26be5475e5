#include "core/intake/check_signature.hpp"
#include "core/intake/intake.hpp"
#include "core/json/fault.hpp"
#include "core/json/slices.hpp"

namespace sluice {
namespace {

Opened answered(Answer answer) {
    return {std::move(answer), {}};
}

/// Returns every error of the head, at most one for each header.
std::vector<FieldError> check_head(const RequestHead& head, const HeaderNames& names,
                                   std::optional<Topic> topic) {
    std::vector<FieldError> errors;
    const auto add = [&errors](std::string_view field, HeaderState state,
                               std::string_view expectation) {
        const bool missing = state == HeaderState::kMissing;
        errors.push_back({std::string(field),
                          missing ? FieldErrorCode::kRequired : FieldErrorCode::kInvalidFormat,
                          std::string(missing                           ? "is required"
                                      : state == HeaderState::kRepeated ? "must be sent only once"
                                                                        : expectation),
                          0});
    };
    if (!topic) {
        add(names.topic, state_of(head.topic),
            "must be ORDER_CREATE, ORDER_UPDATE or ORDER_CANCEL");
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

std::optional<Topic> order_topic(const HeaderValue& header) {
    if (state_of(header) != HeaderState::kOnce) {
        return std::nullopt;
    }
    const std::optional<Topic> topic = parse_topic(header.value);
    return topic && is_order(*topic) ? topic : std::nullopt;
}

/// Returns whether the order names the platform as its source, as those do that `sluice send
/// orders --source` translates.
bool comes_from(Platform platform, std::string_view order) {
    for (const JsonMember& member : json_members(order)) {
        if (member.key != "source") {
            continue;
        }
        for (const JsonMember& stated : json_members(member.value)) {
            if (stated.key == "platform") {
                return json_string(stated.value) == to_string(platform);
            }
        }
    }
    return false;
}

RecordMeta meta_of(const OrderEvent& event, const ShopView& shop) {
    RecordMeta meta;
    meta.topic = event.topic;
    meta.account_number = shop.account->number;
    meta.account_id = shop.account->account_id.view();
    meta.shop_number = shop.number;
    meta.shop_id = shop.shop_id.view();
    meta.anon_id = event.anon_id.value_or(std::string_view());
    return meta;
}

}  // namespace

Opened open_event(const RequestHead& head, RegistryView& registry) {
    if (!head.is_post) {
        return answered(method_not_allowed(Endpoint::kEvents));
    }
    const HeaderState shop = state_of(head.shop);
    if (shop != HeaderState::kOnce) {
        return answered(event_unauthorized(shop == HeaderState::kMissing ? Reason::kShopMissing
                                                                         : Reason::kShopMalformed));
    }
    const HeaderState signature = state_of(head.signature);
    if (signature == HeaderState::kMissing) {
        return answered(event_unauthorized(Reason::kSignatureMissing));
    }
    const std::optional<Digest256> digest =
        signature == HeaderState::kOnce
            ? parse_hex_digest(head.signature.value, HexCase::kLowerOnly)
            : std::nullopt;
    if (!digest) {
        return answered(event_unauthorized(Reason::kSignatureMalformed));
    }
    Opened opened;
    opened.sender.signature = *digest;
    if (is_admin_id(head.shop.value)) {
        opened.sender.shop = registry.find_shop(head.shop.value);
        opened.sender.is_key_outdated = registry.is_key_outdated();
    }
    opened.sender.signing_tokens_max = registry.signing_tokens_max();
    return opened;
}

Accepting accept_event(const RequestHead& head, const HeaderNames& names, const Sender& sender,
                       CheckedBody& body, RateGate& gate, Timestamp now, IntakeScratch& scratch) {
    Accepting result;
    const Reason refused = check_signature(
        sender, body, [now](const TokenView& token) { return token.may_sign_events(now); },
        result.token);
    if (refused != Reason::kNone) {
        result.answer = refused == Reason::kStoreUnavailable
                            ? failed(Endpoint::kEvents, 503, refused, std::nullopt)
                            : event_unauthorized(refused);
        return result;
    }
    result.rate = gate.count(*sender.shop->account);
    if (result.rate && !result.rate->allowed) {
        result.answer = rate_limited(Endpoint::kEvents, *result.rate);
        return result;
    }
    const std::optional<Topic> topic = order_topic(head.topic);
    const std::vector<FieldError> head_errors = check_head(head, names, topic);
    if (!head_errors.empty()) {
        result.answer = event_bad_request(Reason::kHeader, head_errors, result.rate);
        return result;
    }
    std::string_view text;
    if (const Reason gone = body.read(text); gone != Reason::kNone) {
        result.answer = failed(Endpoint::kEvents, 503, gone, result.rate);
        result.is_body_gone = true;
        return result;
    }
    const OrderEvent* event = scratch.orders.parse(text, *topic, names.anon_field);
    if (event == nullptr) {
        const std::span<const FieldError> errors = scratch.orders.errors();
        if (!errors.front().field.empty()) {
            result.answer = event_bad_request(Reason::kFields, errors, result.rate);
            return result;
        }
        // The sender is authenticated, so the answer may show where its bytes are wrong.
        FieldError placed = errors.front();
        placed.message = explain_json_error(placed.message, text);
        result.answer = event_bad_request(Reason::kBodyNotJson, {&placed, 1}, result.rate);
        return result;
    }
    const Platform platform = sender.shop->source.platform;
    if (platform != Platform::kNone && !comes_from(platform, text)) [[unlikely]] {
        const FieldError error{"source", FieldErrorCode::kRequired,
                               "is required: the orders of this shop come from its platform", 0};
        result.answer = event_bad_request(Reason::kFields, {&error, 1}, result.rate);
        return result;
    }
    result.accepted.meta = meta_of(*event, *sender.shop);
    if (platform != Platform::kNone) {
        result.accepted.meta.source = RecordSource{platform};
    }
    return result;
}

}  // namespace sluice
