#include "core/shops/translator.hpp"

#include <algorithm>
#include <array>

#include "core/json/document.hpp"
#include "core/json/numbers.hpp"
#include "core/json/tree.hpp"
#include "core/shops/platforms.hpp"

namespace sluice {
namespace {

constexpr std::uint32_t kShopifyMapping = 1;
constexpr std::uint32_t kWooCommerceMapping = 1;

enum class TopicKind : std::uint8_t { kOfOrder, kOfPerson, kOther };

TopicKind kind_of(Platform platform, std::string_view topic) noexcept {
    constexpr std::array<std::string_view, 7> kShopifyTopics{
        "orders/create", "orders/updated",   "orders/cancelled",
        "orders/paid",   "orders/fulfilled", "orders/partially_fulfilled",
        "orders/delete"};
    constexpr std::array<std::string_view, 3> kPrivacyTopics{
        "customers/redact", "customers/data_request", "shop/redact"};
    constexpr std::array<std::string_view, 4> kWooCommerceTopics{"order.created", "order.updated",
                                                                 "order.restored", "order.deleted"};
    const auto has = [topic](const auto& topics) {
        return std::ranges::find(topics, topic) != topics.end();
    };
    if (platform == Platform::kWooCommerce) {
        return has(kWooCommerceTopics) ? TopicKind::kOfOrder : TopicKind::kOther;
    }
    if (has(kPrivacyTopics)) {
        return TopicKind::kOfPerson;
    }
    return has(kShopifyTopics) ? TopicKind::kOfOrder : TopicKind::kOther;
}

}  // namespace

std::string_view to_string(IgnoredReason reason) noexcept {
    constexpr std::array<std::string_view, 4> kNames{"topic", "test_order", "not_placed",
                                                     "before_start"};
    return kNames[static_cast<std::size_t>(reason)];
}

std::uint32_t mapping_number(Platform platform) noexcept {
    return platform == Platform::kWooCommerce ? kWooCommerceMapping : kShopifyMapping;
}

struct Translator::State {
    JsonDocument json;
    JsonTree tree;
    OrderDraft draft;
    std::string seen;
    std::string body;
    std::vector<FieldError> faults;
    ParsedNumbers numbers = ParsedNumbers::kNone;

    SourceReading begin_reading();
    Translation translate(const ReadArguments& arguments);
    Translation read_person(const ReadArguments& arguments);
    Translation read_order(const ReadArguments& arguments);
    void write_body(TranslationKind kind, const SourceRequest& request);
    void write_source(JsonWriter& out, Platform platform);
};

SourceReading Translator::State::begin_reading() {
    SourceReading reading(seen, faults, json.nul_count() > 0);
    reading.has_wide_numbers = numbers == ParsedNumbers::kWide;
    return reading;
}

Translation Translator::State::translate(const ReadArguments& arguments) {
    const SourceRequest& request = arguments.request;
    body.clear();
    seen.clear();
    faults.clear();
    draft.clear();
    // Numbers are read from their digits, so they may have any size.
    numbers = parse_any_numbers(json, request.body);
    if (numbers == ParsedNumbers::kNone) {
        return {.kind = TranslationKind::kUnreadable, .error = json.error()};
    }
    tree.read(json, request.body);
    if (!tree.root().is_object()) {
        return {.kind = TranslationKind::kUnreadable, .error = "the body must be a JSON object"};
    }
    const TopicKind topic = kind_of(request.platform, request.topic);
    if (topic == TopicKind::kOther) {
        return {.kind = TranslationKind::kIgnored, .ignored = IgnoredReason::kTopic};
    }
    return topic == TopicKind::kOfOrder ? read_order(arguments) : read_person(arguments);
}

Translation Translator::State::read_person(const ReadArguments& arguments) {
    SourceReading reading = begin_reading();
    reading.seen.begin_object();
    JsonWriter out(body);
    out.begin_object();
    if (!write_privacy_request(tree.root(), arguments, out, reading)) {
        return {.kind = TranslationKind::kOtherShop};
    }
    out.end_object();
    reading.seen.end_object();
    if (faults.empty()) {
        return {.kind = TranslationKind::kPrivacy, .body = body};
    }
    body.clear();
    write_body(TranslationKind::kFaults, arguments.request);
    return {.kind = TranslationKind::kFaults, .body = body, .faults = faults};
}

Translation Translator::State::read_order(const ReadArguments& arguments) {
    const SourceRequest& request = arguments.request;
    SourceReading reading = begin_reading();
    reading.seen.begin_object();
    const auto read = request.platform == Platform::kWooCommerce ? read_woocommerce : read_shopify;
    const ReadResult result = read(tree.root(), arguments, draft, reading);
    reading.seen.end_object();
    if (result.kind == TranslationKind::kIgnored || result.kind == TranslationKind::kOtherShop) {
        return {.kind = result.kind, .ignored = result.ignored};
    }
    if (faults.empty()) {
        check_draft(draft, faults);
    }
    const TranslationKind kind = faults.empty() ? result.kind : TranslationKind::kFaults;
    write_body(kind, request);
    return {.kind = kind,
            .body = body,
            .anon_id = kind == TranslationKind::kOrder ? draft.anon_id : std::string_view(),
            .notes = draft.notes,
            .faults = faults};
}

void Translator::State::write_body(TranslationKind kind, const SourceRequest& request) {
    JsonWriter out(body);
    out.begin_object();
    if (kind == TranslationKind::kOrder) {
        write_draft(out, draft, request.anon_field);
    } else if (kind == TranslationKind::kDeletion) {
        out.field("platform_order_id", draft.order_id);
        if (draft.updated_at) {
            out.field("platform_updated_at", draft.updated_at->to_string());
        }
    } else {
        write_draft_head(out, draft);
    }
    out.key("source");
    write_source(out, request.platform);
    out.end_object();
}

void Translator::State::write_source(JsonWriter& out, Platform platform) {
    out.begin_object()
        .field("platform", to_string(platform))
        .field("mapping", mapping_number(platform));
    if (!draft.notes.empty()) {
        out.key("notes").begin_array();
        for (const SourceNote note : kSourceNotes) {
            if (draft.notes.has(note)) {
                out.value(to_string(note));
            }
        }
        out.end_array();
    }
    if (!faults.empty()) {
        out.key("faults").begin_array();
        for (const FieldError& fault : faults) {
            out.begin_object()
                .field("field", fault.field)
                .field("code", to_string(fault.code))
                .field("message", fault.message)
                .end_object();
        }
        out.end_array();
    }
    if (seen.size() <= kSeenBytesMax) {
        out.key("seen").raw(seen);
    } else {
        out.field("seen_bytes", static_cast<std::uint64_t>(seen.size()));
    }
    out.end_object();
}

Translator::Translator() : state_(std::make_unique<State>()) {}
Translator::~Translator() = default;
Translator::Translator(Translator&&) noexcept = default;
Translator& Translator::operator=(Translator&&) noexcept = default;

Translation Translator::translate(const SourceRequest& request, const SourceSettings& settings) {
    return state_->translate({request, settings});
}

void Translator::trim() noexcept {
    state_->json.trim();
    state_->tree.trim();
}

}  // namespace sluice
