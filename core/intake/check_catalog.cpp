#include "core/intake/intake.hpp"
#include "core/json/fault.hpp"

namespace sluice {
namespace {

constexpr std::size_t kIdempotencyKeyBytesMax = 255;

Answer refusal(std::uint16_t status, Outcome outcome, Reason reason, std::string_view message) {
    return catalog_error(status, outcome, reason, message, std::nullopt);
}

Answer bad_header(std::string_view message) {
    return refusal(400, Outcome::kBadRequest, Reason::kHeader, message);
}

Answer unauthorized(Reason reason, std::string_view message) {
    return refusal(401, Outcome::kUnauthorized, reason, message);
}

/// Performs check 1 except for the method. Returns 400 or nothing.
std::optional<Answer> check_head(const RequestHead& head, const HeaderNames& names) {
    if (state_of(head.content_type) != HeaderState::kOnce ||
        !is_json_media_type(head.content_type.value)) {
        return bad_header("Content-Type must be application/json");
    }
    if (!is_identity_encoded(head.content_encoding)) {
        return bad_header("Content-Encoding must be absent or identity");
    }
    if (!topic_of(head.topic, is_catalog)) {
        return bad_header(names.topic + " must be PRODUCT_UPSERT or PRODUCT_DELETE, sent once");
    }
    if (state_of(head.shop) != HeaderState::kOnce) {
        return bad_header(names.shop + " is required, once");
    }
    if (state_of(head.idempotency_key) != HeaderState::kOnce ||
        head.idempotency_key.value.size() > kIdempotencyKeyBytesMax) {
        return bad_header("Idempotency-Key is required, once, of 1 to 255 bytes");
    }
    return std::nullopt;
}

/// Performs check 2. Returns 401, 403 or 404, or else sets shop and bearer of `sender`.
std::optional<Answer> check_sender(const RequestHead& head, RegistryView& registry, Timestamp now,
                                   Sender& sender) {
    const std::optional<std::string_view> secret =
        state_of(head.authorization) == HeaderState::kOnce ? bearer_token(head.authorization.value)
                                                           : std::nullopt;
    if (!secret) {
        return unauthorized(Reason::kTokenMissing, "Authorization must be Bearer <ACCESS_TOKEN>");
    }
    const BearerView bearer = registry.find_bearer(*secret);
    const bool known = bearer.token != nullptr && bearer.account != nullptr;
    if (!known || bearer.account->suspended || !bearer.token->active(now)) {
        const Reason reason = !known || bearer.account->suspended ? Reason::kTokenUnknown
                              : bearer.token->revoked             ? Reason::kTokenRevoked
                                                                  : Reason::kTokenExpired;
        return refusal(403, Outcome::kForbidden, reason,
                       "The access token is unknown, revoked or expired");
    }
    if ((bearer.token->scopes & kWriteProducts) == 0) {
        return unauthorized(Reason::kTokenScope, "The access token lacks the scope write_products");
    }
    if (is_admin_id(head.shop.value)) {
        sender.shop = registry.find_shop(head.shop.value);
    }
    if (sender.shop == nullptr || !sender.shop->active() ||
        sender.shop->account->number != bearer.account->number) {
        return refusal(404, Outcome::kNotFound,
                       sender.shop != nullptr && !sender.shop->active() ? Reason::kShopSuspended
                                                                        : Reason::kShopUnknown,
                       "The shop does not exist in the token's account");
    }
    sender.bearer = bearer.token;
    return std::nullopt;
}

Answer wrong_digest(Reason reason) {
    return unauthorized(reason,
                        "X-Signature must be the hexadecimal SHA-256 digest of the body as sent");
}

/// Describes a batch whose digest was right. Validation sets the number of its records.
Accepted accepted_of(const RequestHead& head, const Sender& sender) {
    const AccountView& account = *sender.shop->account;
    Accepted accepted;
    accepted.meta.topic = sender.topic;
    accepted.meta.account_number = account.number;
    accepted.meta.account_id = account.account_id.view();
    accepted.meta.shop_number = sender.shop->number;
    accepted.meta.shop_id = sender.shop->shop_id.view();
    accepted.meta.idempotency_key = head.idempotency_key.value;
    accepted.body_sha256 = sender.signature;
    return accepted;
}

}  // namespace

Opened open_catalog(const RequestHead& head, const HeaderNames& names, RegistryView& registry,
                    Timestamp now) {
    Opened opened;
    if (!head.is_post) {
        opened.answer = method_not_allowed(Endpoint::kCatalog);
        return opened;
    }
    opened.answer = check_head(head, names);
    if (!opened.answer) {
        opened.sender.topic = *topic_of(head.topic, is_catalog);
        opened.answer = check_sender(head, registry, now, opened.sender);
    }
    if (opened.answer) {
        return opened;
    }
    const HeaderState signature = state_of(head.signature);
    const std::optional<Digest256> digest =
        signature == HeaderState::kOnce ? parse_hex_digest(head.signature.value, HexCase::kEither)
                                        : std::nullopt;
    if (digest) {
        opened.sender.signature = *digest;
    } else {
        opened.answer =
            wrong_digest(signature == HeaderState::kMissing ? Reason::kSignatureMissing
                                                            : Reason::kSignatureMalformed);
    }
    return opened;
}

Accepting accept_catalog(const RequestHead& head, const Sender& sender, CheckedBody& body,
                         RateGate& gate, IntakeScratch& scratch) {
    Accepting result;
    result.token = sender.bearer.get();
    if (!equal_constant_time(body.sha256(), sender.signature)) {
        result.answer = wrong_digest(Reason::kSignatureMismatch);
        return result;
    }
    const AccountView& account = *sender.shop->account;
    result.rate = gate.count(account);
    if (result.rate && !result.rate->allowed) {
        result.answer = rate_limited(Endpoint::kCatalog, *result.rate);
        return result;
    }
    result.accepted = accepted_of(head, sender);
    std::string_view text;
    if (const Reason gone = body.read(text); gone != Reason::kNone) {
        result.answer = failed(Endpoint::kCatalog, 503, gone, result.rate);
        result.is_body_gone = true;
        return result;
    }
    switch (scratch.products.validate(text, sender.topic)) {
        case BatchVerdict::kNotABatch:
            result.answer = catalog_error(400, Outcome::kBadRequest, Reason::kBodyNotJson,
                                          explain_json_error(scratch.products.batch_error(), text),
                                          result.rate);
            return result;
        case BatchVerdict::kRecordErrors:
            result.answer = catalog_invalid_records(scratch.products.errors(), result.rate);
            return result;
        case BatchVerdict::kValid:
            break;
    }
    result.accepted.meta.records_count = scratch.products.products_count();
    return result;
}

}  // namespace sluice
