#include <algorithm>

#include "core/intake/check_signature.hpp"
#include "core/intake/intake.hpp"
#include "core/protocol/record_limits.hpp"

namespace sluice {
namespace {

Opened refused(Reason reason) {
    Opened opened;
    opened.answer = event_unauthorized(reason);
    return opened;
}

Endpoint endpoint_of(Platform platform) noexcept {
    return platform == Platform::kShopify ? Endpoint::kShopify : Endpoint::kWooCommerce;
}

/// WooCommerce activates a webhook if an unsigned form is answered 200.
bool may_be_ping(const RequestHead& head, Platform platform) noexcept {
    constexpr std::string_view kForm = "application/x-www-form-urlencoded";
    const std::string_view type =
        trimmed(head.content_type.value.substr(0, head.content_type.value.find(';')));
    return platform == Platform::kWooCommerce && head.signature.count == 0 &&
           state_of(head.content_type) == HeaderState::kOnce && type == kForm;
}

bool is_ping(std::string_view body) noexcept {
    constexpr std::string_view kField = "webhook_id=";
    constexpr std::size_t kDigitsMax = 20;
    if (!body.starts_with(kField)) {
        return false;
    }
    const std::string_view id = body.substr(kField.size());
    return !id.empty() && id.size() <= kDigitsMax &&
           id.find_first_not_of("0123456789") == std::string_view::npos;
}

/// Looks the shop up by the address, or else by the header. Leaves it null if they do not agree.
void find_sender(const RequestHead& head, Platform platform, RegistryView& registry,
                 Sender& sender) {
    const std::string domain = platform_domain(head.shop.value);
    sender.shop = head.shop_of_address.empty() ? registry.find_platform_shop(platform, domain)
                                               : registry.find_shop(head.shop_of_address);
    if (sender.shop != nullptr && sender.shop->source.platform != platform) {
        sender.shop = nullptr;
    }
    const bool may_differ = sender.shop != nullptr && !head.shop_of_address.empty() &&
                            !domain.empty() && !sender.shop->source.domain.empty();
    if (may_differ && sender.shop->source.domain != domain) {
        sender.shop = nullptr;
        sender.shop_differs = true;
    }
    sender.is_key_outdated = registry.is_key_outdated();
}

/// Returns what is wrong with the set-up of the whole webhook, or nothing.
std::vector<FieldError> check_format(const RequestHead& head, Platform platform) {
    std::vector<FieldError> errors;
    // An order that is ignored for its topic, with 200, does not come again.
    if (state_of(head.topic) == HeaderState::kRepeated) {
        errors.push_back({platform == Platform::kShopify ? "X-Shopify-Topic" : "X-WC-Webhook-Topic",
                          FieldErrorCode::kInvalidFormat, "must be sent only once", 0});
    }
    if (state_of(head.content_type) != HeaderState::kOnce ||
        !is_json_media_type(head.content_type.value)) {
        errors.push_back({"Content-Type", FieldErrorCode::kInvalidFormat,
                          "must be application/json: choose JSON as the format of the webhook", 0});
    }
    if (!is_identity_encoded(head.content_encoding)) {
        errors.push_back({"Content-Encoding", FieldErrorCode::kInvalidFormat,
                          "must be absent or identity: the body is signed as it is sent", 0});
    }
    return errors;
}

Reason reason_of(IgnoredReason ignored) noexcept {
    switch (ignored) {
        case IgnoredReason::kTopic:
            return Reason::kOtherTopic;
        case IgnoredReason::kTestOrder:
            return Reason::kTestOrder;
        case IgnoredReason::kNotPlaced:
            return Reason::kNotPlaced;
        case IgnoredReason::kBeforeStart:
            break;
    }
    return Reason::kBeforeStart;
}

/// Returns what is stored of a header: printable ASCII of bounded length, or nothing.
std::string_view kept_text(const HeaderValue& header) noexcept {
    if (state_of(header) != HeaderState::kOnce) {
        return {};
    }
    const std::string_view text = trimmed(header.value).substr(0, kSourceTextBytesMax);
    const bool is_printable =
        std::all_of(text.begin(), text.end(), [](char c) { return c >= ' ' && c <= '~'; });
    return is_printable ? text : std::string_view();
}

RecordSource source_of(const RequestHead& head, Platform platform, const Digest256& signature) {
    return {platform,
            kept_text(head.topic),
            kept_text(head.delivery),
            kept_text(head.event),
            kept_text(head.triggered_at),
            kept_text(head.api_version),
            signature};
}

Topic topic_of(TranslationKind kind) noexcept {
    return kind == TranslationKind::kDeletion  ? Topic::kOrderDelete
           : kind == TranslationKind::kPrivacy ? Topic::kPrivacyRequest
                                               : Topic::kOrderUpdate;
}

/// Turns a translation into the record to store, or into the answer.
void accept(const Translation& translation, const Sender& sender, const RecordSource& source,
            Accepting& result) {
    switch (translation.kind) {
        case TranslationKind::kIgnored:
            result.answer = webhook_success(Outcome::kIgnored, reason_of(translation.ignored));
            return;
        case TranslationKind::kOtherShop:
            result.answer = event_unauthorized(Reason::kShopDiffers);
            return;
        case TranslationKind::kUnreadable: {
            const FieldError error{
                {}, FieldErrorCode::kInvalidFormat, std::string(translation.error), 0};
            result.answer = event_bad_request(Reason::kBodyNotJson, {&error, 1}, std::nullopt);
            return;
        }
        case TranslationKind::kFaults:
            result.accepted.outcome = Outcome::kUntranslated;
            break;
        case TranslationKind::kDeletion:
        case TranslationKind::kPrivacy:
        case TranslationKind::kOrder:
            break;
    }
    const ShopView& shop = *sender.shop;
    RecordMeta& meta = result.accepted.meta;
    meta.topic = topic_of(translation.kind);
    meta.account_number = shop.account->number;
    meta.account_id = shop.account->account_id.view();
    meta.shop_number = shop.number;
    meta.shop_id = shop.shop_id.view();
    meta.anon_id = translation.anon_id;
    meta.source = source;
    result.accepted.translated = translation.body;
    result.accepted.notes = translation.notes;
}

}  // namespace

Opened open_webhook(const RequestHead& head, Platform platform, RegistryView& registry) {
    Opened opened;
    if (!head.is_post) {
        opened.answer = method_not_allowed(endpoint_of(platform));
        return opened;
    }
    Sender& sender = opened.sender;
    if (may_be_ping(head, platform)) {
        sender.may_be_ping = true;
        return opened;
    }
    if (state_of(head.signature) == HeaderState::kMissing) {
        return refused(Reason::kSignatureMissing);
    }
    const auto digest = state_of(head.signature) == HeaderState::kOnce
                            ? parse_base64_digest(head.signature.value)
                            : std::nullopt;
    if (!digest) {
        const bool is_hex = head.signature.count == 1 &&
                            parse_hex_digest(head.signature.value, HexCase::kEither).has_value();
        return refused(is_hex ? Reason::kSignatureHex : Reason::kSignatureMalformed);
    }
    if (state_of(head.shop) == HeaderState::kRepeated) {
        return refused(Reason::kShopMalformed);
    }
    if (state_of(head.shop) == HeaderState::kMissing && head.shop_of_address.empty()) {
        return refused(Reason::kShopMissing);
    }
    sender.signature = *digest;
    find_sender(head, platform, registry, sender);
    sender.signing_tokens_max = registry.signing_tokens_max();
    return opened;
}

Accepting accept_webhook(const RequestHead& head, Platform platform, std::string_view anon_field,
                         const Sender& sender, CheckedBody& body, RateGate& gate, Timestamp now,
                         IntakeScratch& scratch) {
    Accepting result;
    std::string_view text;
    if (sender.may_be_ping) {
        result.answer = body.read(text) == Reason::kNone && is_ping(text)
                            ? webhook_success(Outcome::kPing, Reason::kNone)
                            : event_unauthorized(Reason::kSignatureMissing);
        return result;
    }
    const auto may_sign = [&](const TokenView& token) {
        return token.may_sign_webhooks(platform, sender.shop->shop_id, now);
    };
    const Reason wrong = check_signature(sender, body, may_sign, result.token);
    if (wrong != Reason::kNone) {
        result.answer =
            wrong == Reason::kStoreUnavailable
                ? failed(endpoint_of(platform), 503, wrong, std::nullopt)
                : event_unauthorized(sender.shop_differs ? Reason::kShopDiffers : wrong);
        return result;
    }
    gate.recognize(*sender.shop->account);
    const std::vector<FieldError> errors = check_format(head, platform);
    if (!errors.empty()) {
        result.answer = event_bad_request(Reason::kHeader, errors, std::nullopt);
        return result;
    }
    if (const Reason gone = body.read(text); gone != Reason::kNone) {
        result.answer = failed(endpoint_of(platform), 503, gone, std::nullopt);
        result.is_body_gone = true;
        return result;
    }
    SourceRequest request;
    request.platform = platform;
    request.topic = state_of(head.topic) == HeaderState::kOnce ? head.topic.value : "";
    request.body = text;
    request.anon_field = anon_field;
    request.triggered_at = Timestamp::parse(head.triggered_at.value);
    accept(scratch.translator.translate(request, sender.shop->source.settings), sender,
           source_of(head, platform, sender.signature), result);
    return result;
}

}  // namespace sluice
