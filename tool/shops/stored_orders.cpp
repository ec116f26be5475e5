#include "tool/shops/stored_orders.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include "core/json/document.hpp"
#include "core/json/slices.hpp"
#include "core/json/writer.hpp"
#include "lmdb_store/archive/archive.hpp"

namespace sluice::cli {
namespace {

constexpr std::string_view kCustomer = "platform_customer_id";

bool is_device(const std::string& member) {
    return member.ends_with("_anon_id");
}

/// Returns `order` with the customer and the device of `stored`, where a translation writes them.
std::string with_person(std::string_view order, const std::vector<JsonMember>& stored) {
    std::string text;
    JsonWriter out(text);
    out.begin_object();
    const auto copy = [&out](const JsonMember& member) { out.key(member.key).raw(member.value); };
    for (const JsonMember& member : json_members(order)) {
        for (const JsonMember& kept : stored) {
            if (member.key == "source" && is_device(kept.key)) {
                copy(kept);
            }
        }
        copy(member);
        const std::string_view customer = member_of(stored, kCustomer);
        if (member.key == "platform_order_id" && !customer.empty()) {
            out.key(kCustomer).raw(customer);
        }
    }
    out.end_object();
    return text;
}

/// A stored version of an order.
struct Version {
    std::string order_id;
    Timestamp version;
};

std::optional<Version> version_of(std::string_view body) {
    JsonDocument json;
    std::string_view id, time;
    if (!json.parse(body) ||
        json.root()["platform_order_id"].get_string().get(id) != simdjson::SUCCESS ||
        json.root()["platform_updated_at"].get_string().get(time) != simdjson::SUCCESS) {
        return std::nullopt;
    }
    const auto version = Timestamp::parse(time);
    return version ? std::optional(Version{std::string(id), *version}) : std::nullopt;
}

/// Collects the newest version of each order.
class FixFinder {
public:
    explicit FixFinder(const SourceSettings& settings) : settings_(settings) {}

    void add(const RecordSource& source, std::string_view body) {
        const auto stored = version_of(body);
        if (!stored) {
            return;
        }
        Newest& newest = orders_[stored->order_id];
        if (newest.version && stored->version < *newest.version) {
            return;
        }
        const AgainKind kind = translator_.translate(source, body, settings_);
        newest = {stored->version, kind, {}};
        if (kind == AgainKind::kOrder && differ(body, translator_.body())) {
            newest.fix = translator_.body();
        }
    }

    [[nodiscard]] StoredFixes take() && {
        StoredFixes fixes;
        for (auto& [order_id, newest] : orders_) {
            ++fixes.read;
            fixes.without_values += newest.kind == AgainKind::kNoValues ? 1U : 0U;
            fixes.with_faults += newest.kind == AgainKind::kFaults ? 1U : 0U;
            fixes.otherwise += newest.kind == AgainKind::kOtherwise ? 1U : 0U;
            if (!newest.fix.empty()) {
                fixes.orders.emplace(order_id, std::move(newest.fix));
            }
        }
        return fixes;
    }

private:
    struct Newest {
        std::optional<Timestamp> version;
        AgainKind kind = AgainKind::kOrder;
        std::string fix;  ///< Empty if the order is read as it was stored.
    };

    SourceSettings settings_;
    StoredTranslator translator_;
    std::map<std::string, Newest> orders_;
};

}  // namespace

AgainKind StoredTranslator::translate(const RecordSource& source, std::string_view stored,
                                      const SourceSettings& settings) {
    JsonDocument document;
    if (!document.parse(stored)) {
        return AgainKind::kNoValues;
    }
    const std::vector<JsonMember> members = json_members(stored);
    const std::vector<JsonMember> stated = json_members(member_of(members, "source"));
    const std::string_view seen = member_of(stated, "seen");
    if (!seen.starts_with('{')) {
        return AgainKind::kNoValues;
    }
    SourceSettings as_stored = settings;
    as_stored.from.reset();
    as_stored.platform_shop = 0;  // the link is not among the values
    as_stored.counts_test_orders = true;
    as_stored.presentment_money = !member_of(json_members(seen), "presentment_currency").empty();
    SourceRequest request;
    request.platform = source.platform;
    request.topic = source.platform == Platform::kWooCommerce ? "order.updated" : "orders/updated";
    request.body = seen;
    request.triggered_at = Timestamp::parse(source.triggered_at);
    request.is_from_file = !source.signature;
    translation_ = translator_.translate(request, as_stored);
    const bool has_faults = translation_.kind == TranslationKind::kFaults;
    if (!has_faults && translation_.kind != TranslationKind::kOrder) {
        return AgainKind::kOtherwise;
    }
    body_ = with_person(translation_.body, members);
    return has_faults ? AgainKind::kFaults : AgainKind::kOrder;
}

bool differ(std::string_view order, std::string_view other) {
    const auto compared = [](std::string_view text) {
        std::map<std::string, std::string_view> values;
        for (const JsonMember& member : json_members(text)) {
            if (member.key != "source") {
                values.emplace(member.key, member.value);
            }
        }
        return values;
    };
    if (compared(order) != compared(other)) {
        return true;
    }
    const SourceNotes notes = read_source_notes(order);
    const SourceNotes others = read_source_notes(other);
    return std::ranges::any_of(
        kSourceNotes, [&](SourceNote note) { return notes.has(note) != others.has(note); });
}

Result<StoredFixes> find_fixes(const store::StorePaths& paths, const ShopId& shop,
                               const SourceSettings& settings, std::optional<Timestamp> since) {
    auto archive = store::ArchiveReader::open(paths.archive);
    if (!archive.ok()) {
        return archive.error();
    }
    FixFinder finder(settings);
    for (;;) {
        auto place = archive.value()->next();
        if (!place.ok()) {
            return place.error();
        }
        if (!*place) {
            return std::move(finder).take();
        }
        const store::ArchivedInput& input = (*place)->input;
        const auto record = decode_record(input.record);
        if (!record.ok() || !input.dead_reason.empty()) {
            continue;
        }
        const RecordMeta& meta = record->meta;
        if (meta.source && meta.topic == Topic::kOrderUpdate && meta.shop_id == shop.view() &&
            (!since || *since <= meta.received_at)) {
            finder.add(*meta.source, meta.bulk ? input.bulk_body : record->body);
        }
    }
}

}  // namespace sluice::cli
