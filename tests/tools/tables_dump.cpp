// Prints the tables of core/protocol/product_fields and of core/ledger/table.hpp as JSON, for
// scripts/docs: pages and the OpenAPI document are made from the tables that the program walks.
#include <cstdio>
#include <string>

#include "core/json/writer.hpp"
#include "core/ledger/table.hpp"
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

using sluice::Column;
using sluice::ColumnKind;

/// The form of a column in a key or in a value, in the words of docs/record-format.md.
std::string_view form_of(ColumnKind kind, bool in_key) {
    switch (kind) {
        case ColumnKind::kNumber32:
            return in_key ? "u32" : "number";
        case ColumnKind::kNumber64:
            return in_key ? "u64" : "number";
        case ColumnKind::kBool:
        case ColumnKind::kEnum:
            return in_key ? "u8" : "number";
        case ColumnKind::kId:
        case ColumnKind::kText:
        case ColumnKind::kBytes:
            return "text";
        case ColumnKind::kCurrency:
            return in_key ? "3 bytes" : "currency";
        case ColumnKind::kDecimal:
            return "decimal";
        case ColumnKind::kInstant:
            return "instant";
        case ColumnKind::kDigest:
            return "32 bytes";
    }
    return {};
}

void write_columns(sluice::JsonWriter& json, const std::vector<Column>& columns, bool in_key) {
    json.begin_array();
    for (const Column& column : columns) {
        json.begin_object().field("name", column.name).field("form", form_of(column.kind, in_key));
        json.field("optional", column.optional != nullptr).end_object();
    }
    json.end_array();
}

void write_ledger_tables(sluice::JsonWriter& json) {
    json.begin_array();
    for (const sluice::DescribedTable& table : sluice::described_tables()) {
        json.begin_object().field("name", table.name).field("per_node", table.per_node);
        json.key("key");
        write_columns(json, table.key, true);
        json.key("rest");
        write_columns(json, table.rest, false);
        json.end_object();
    }
    json.end_array();
}

}  // namespace

int main() {
    std::string out;
    sluice::JsonWriter json(out);
    json.begin_object().key("ledger");
    write_ledger_tables(json);
    json.key("products").begin_array();
    for (const sluice::ProductTable* table : sluice::product_tables()) {
        json.begin_object().field("name", table->name).key("fields").begin_array();
        for (const sluice::ProductField& field : table->fields) {
            write_field(json, field);
        }
        json.end_array().end_object();
    }
    json.end_array().end_object();
    std::puts(out.c_str());
    return 0;
}
