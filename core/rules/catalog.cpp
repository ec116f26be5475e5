#include "core/rules/catalog.hpp"

#include <algorithm>
#include <unordered_map>
#include <utility>

#include "core/json/slices.hpp"
#include "core/json/writer.hpp"
#include "core/values/lookup.hpp"

namespace sluice {
namespace {

constexpr std::string_view kParentId = "parent_id";

std::vector<std::string> strings_in(std::string_view array) {
    return mapped(json_elements(array), json_string);
}

std::vector<std::string> variant_skus_in(std::string_view variants) {
    std::vector<std::string> skus;
    for (const std::string_view variant : json_elements(variants)) {
        for (const JsonMember& member : json_members(variant)) {
            if (member.key == "variant_sku") {
                skus.push_back(json_string(member.value));
            }
        }
    }
    std::ranges::sort(skus);
    skus.erase(std::unique(skus.begin(), skus.end()), skus.end());
    return skus;
}

/// Returns the members of both, in the stored order, followed by the new ones.
std::vector<JsonMember> merged_members(std::vector<JsonMember> stored,
                                       std::vector<JsonMember> sent) {
    std::unordered_map<std::string, std::size_t> index;
    for (std::size_t i = 0; i < stored.size(); ++i) {
        index.emplace(stored[i].key, i);
    }
    for (JsonMember& member : sent) {
        const auto [same, added] = index.emplace(member.key, stored.size());
        if (added) {
            stored.push_back(std::move(member));
        } else {
            stored[same->second].value = member.value;
        }
    }
    return stored;
}

/// `parent_id` is there always: the product's own id when the record is created without one. Null
/// on an optional field means absent here, because a record has a parent for as long as it lives.
void settle_parent(std::vector<JsonMember>& sent, bool created, std::string_view own_id) {
    std::erase_if(sent, [](const JsonMember& member) {
        return member.key == kParentId && !is_json_string(member.value);
    });
    const bool has_parent =
        std::ranges::any_of(sent, [](const JsonMember& member) { return member.key == kParentId; });
    if (created && !has_parent) {
        sent.push_back({std::string(kParentId), own_id});
    }
}

std::string object_of(const std::vector<JsonMember>& members) {
    std::string json;
    JsonWriter writer(json);
    writer.begin_object();
    for (const JsonMember& member : members) {
        writer.key(member.key).raw(member.value);
    }
    writer.end_object();
    return json;
}

/// The fields that rules match on.
void read_lookups(CatalogRecord& record, const std::vector<JsonMember>& members) {
    for (const JsonMember& member : members) {
        if (member.key == "brand" && is_json_string(member.value)) {
            record.brand = json_string(member.value);
        } else if (member.key == "collections") {
            record.collections = strings_in(member.value);
        } else if (member.key == "tags") {
            record.tags = strings_in(member.value);
        } else if (member.key == "variants") {
            record.variant_skus = variant_skus_in(member.value);
        }
    }
}

}  // namespace

ProductName product_name(std::string_view element) {
    ProductName name;
    for (const JsonMember& member : json_members(element)) {
        if (member.key == "platform_product_id") {
            name.product_id = ProductId(json_string(member.value));
        } else if (member.key == "language") {
            name.language = json_string(member.value);
        } else if (member.key == "country") {
            name.country = json_string(member.value);
        }
    }
    return name;
}

std::vector<std::string_view> product_elements(std::string_view body) {
    std::vector<std::string_view> elements;
    for (const JsonMember& member : json_members(body)) {
        if (member.key == "products") {
            const std::vector<std::string_view> listed = json_elements(member.value);
            elements.insert(elements.end(), listed.begin(), listed.end());
        }
    }
    return elements;
}

CatalogRecord merge_product(const CatalogKey& key, const CatalogRecord* stored,
                            std::string_view element) {
    std::vector<JsonMember> sent = json_members(element);
    std::string own_id;
    JsonWriter(own_id).value(key.product_id.view());
    settle_parent(sent, stored == nullptr, own_id);
    std::vector<JsonMember> before;
    if (stored != nullptr) {
        before = json_members(stored->json);
    }
    const std::vector<JsonMember> members = merged_members(std::move(before), std::move(sent));
    CatalogRecord record{.key = key, .json = object_of(members)};
    read_lookups(record, members);
    return record;
}

}  // namespace sluice
