// Prints core/protocol/product_fields as JSON, for scripts/docs: the reference page and the OpenAPI
// document are made from the table that the validator walks.
#include <cstdio>
#include <string>

#include "core/json/writer.hpp"
#include "core/protocol/product_fields.hpp"

namespace {

using sluice::FieldType;
using sluice::OnTopic;

std::string_view type_name(FieldType type) {
    switch (type) {
        case FieldType::kId:
            return "id";
        case FieldType::kNonEmptyText:
            return "non_empty_text";
        case FieldType::kText:
            return "text";
        case FieldType::kBoolean:
            return "boolean";
        case FieldType::kInteger:
            return "integer";
        case FieldType::kNumber:
            return "number";
        case FieldType::kLanguage:
            return "language";
        case FieldType::kCountry:
            return "country";
        case FieldType::kCurrency:
            return "currency";
        case FieldType::kAvailability:
            return "availability";
        case FieldType::kTextList:
            return "text_list";
        case FieldType::kObject:
            return "object";
        case FieldType::kObjectList:
            return "object_list";
    }
    return {};
}

bool on_upsert(OnTopic topic) {
    return topic == OnTopic::kUpsert || topic == OnTopic::kBoth;
}

bool on_delete(OnTopic topic) {
    return topic == OnTopic::kDelete || topic == OnTopic::kBoth;
}

void write_field(sluice::JsonWriter& json, const sluice::ProductField& field) {
    json.begin_object();
    json.field("name", field.name).field("type", type_name(field.type));
    json.field("words", to_string(field.type)).field("nullable", field.nullable);
    json.field("required_on_upsert", on_upsert(field.required));
    json.field("required_on_delete", on_delete(field.required));
    json.field("checked_on_delete", on_delete(field.checked));
    json.field("limit", std::uint32_t{field.limit});
    json.field("table", field.table != nullptr ? field.table->name : std::string_view());
    json.field("note", field.note).end_object();
}

}  // namespace

int main() {
    std::string out;
    sluice::JsonWriter json(out);
    json.begin_array();
    for (const sluice::ProductTable* table : sluice::product_tables()) {
        json.begin_object().field("name", table->name).key("fields").begin_array();
        for (const sluice::ProductField& field : table->fields) {
            write_field(json, field);
        }
        json.end_array().end_object();
    }
    json.end_array();
    std::puts(out.c_str());
    return 0;
}
