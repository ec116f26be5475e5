#include "core/intake/check_signed.hpp"
#include "core/intake/intake.hpp"
#include "core/json/slices.hpp"

namespace sluice {
namespace {

constexpr SignedEndpoint kEventEndpoint{Endpoint::kEvents, kWriteOrders,
                                        "ORDER_CREATE, ORDER_UPDATE or ORDER_CANCEL"};

Opened answered(Answer answer) {
    return {std::move(answer), {}};
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
    std::string_view text;
    const std::optional<Topic> topic = topic_of(head.topic, is_order);
    if (!accept_signed(kEventEndpoint, head, names, topic, sender, body, gate, now, result, text)) {
        return result;
    }
    const OrderEvent* event = scratch.orders.parse(text, *topic, names.anon_field);
    if (event == nullptr) {
        result.answer = invalid_body(scratch.orders.errors(), text, result.rate);
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
