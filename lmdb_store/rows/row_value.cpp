#include "lmdb_store/rows/row_value.hpp"

#include "lmdb_store/rows/order_value.hpp"

namespace sluice::store {
namespace {

// One list of fields for both directions.

void group_fields(auto& fields, auto& group) {
    fields(group.event_seq);
    fields(group.command_id);
    fields(group.account);
    fields(group.shop);
    fields(group.order_id);
    fields(group.program);
    fields(group.creator);
    fields(group.payout_id);
    fields(group.recorded_at);
    fields.like(group.accounting_date, group.recorded_at);
    fields(group.note);
    fields(group.actor);
    fields.each(group.entries, [&fields](auto& entry) {
        fields(entry.line);
        fields(entry.currency);
        fields(entry.amount);
        fields(entry.reason);
        fields(entry.refers_to);
    });
    fields(group.hash);
    fields(group.last_change);
    fields(group.order_change);
}

void part_fields(auto& fields, auto& part) {
    fields(part.owed);
    fields(part.in_payout);
    fields(part.paid);
}

void texts(auto& fields, auto& rows) {
    fields.each(rows, [&fields](auto& text) { fields(text); });
}

void record_fields(auto& fields, auto& record) {
    fields(record.json);
    fields(record.brand);
    texts(fields, record.collections);
    texts(fields, record.tags);
    texts(fields, record.variant_skus);
}

void chain_fields(auto& fields, auto& chain) {
    fields(chain.hash);
    fields(chain.entries);
    fields(chain.last_group);
}

void head_fields(auto& fields, auto& row) {
    auto& head = row.head;
    fields(row.node);
    fields(head.applied_seq);
    fields(head.last_received);
    fields(head.next_entry);
    fields(head.next_work);
    fields(head.programs_revision);
    auto& totals = head.totals;
    for (auto* count : {&totals.applied, &totals.stale, &totals.duplicate, &totals.catalog,
                        &totals.commands, &totals.dead, &totals.orders, &totals.journal_entries}) {
        fields(*count);
    }
    for (auto& count : totals.anomalies) {
        fields(count);
    }
}

/// Writes an id that the key had to cut.
void write_cut(FieldWriter& fields, std::string_view id, std::size_t whole_max) {
    if (id_is_cut(id, whole_max)) {
        fields.text(id);
    }
}
/// @param id  Empty if only the key is known, and the key cuts the id.
template <class Tag>
void read_cut(FieldReader& fields, TextId<Tag>& id, std::size_t whole_max) {
    if (!id.empty() && !id_is_cut(id.view(), whole_max)) {
        return;
    }
    const std::string_view whole = fields.text();
    if (!id_is_cut(whole, whole_max) || (!id.empty() && id.view() != whole)) {
        fields.fail();
    }
    id.assign(whole);
}

void write_columns(FieldWriter& fields, RowView row) {
    for (const Column& column : row.table().rest) {
        const void* const value = column.find(row.get());
        if (column.optional != nullptr) {
            fields(value != nullptr);
        }
        if (value != nullptr) {
            with_value(column.kind, value, fields);
        }
    }
}

void read_columns(FieldReader& fields, RowRef row) {
    for (const Column& column : row.table().rest) {
        bool is_present = true;
        if (column.optional != nullptr) {
            fields(is_present);
        }
        if (!is_present) {
            column.reset(row.get());
            continue;
        }
        with_value(column.kind, column.make(row.get()), [&](auto& value) {
            if constexpr (std::is_same_v<decltype(value), std::uint8_t&>) {
                fields.one_of(value, column.is_valid);
            } else {
                fields(value);
            }
        });
    }
}

}  // namespace

std::string_view RowValue::encode(std::string_view key, const CutTexts& cut, RowView row) {
    fields_.clear();
    for (std::size_t i = 0; cut.which != 0 && i < kKeyTextsMax; ++i) {
        if (cut.has(i)) {
            fields_.text(cut.texts[i]);
        }
    }
    write_columns(fields_, row);
    return fields_.sealed(key);
}

bool RowValue::decode(std::string_view key, const CutTexts& cut, std::string_view value,
                      RowRef row) {
    FieldReader fields(key, value);
    if (cut.which != 0) {
        read_cut_texts(cut, fields, row);
    }
    read_columns(fields, row);
    return fields.complete();
}

std::string_view RowValue::encode_event(std::string_view key, const OrderKey& order,
                                        const EventTrace& event) {
    fields_.clear();
    write_cut(fields_, order.order_id.view(), kIdBytesWhole);
    event_fields(fields_, event);
    return fields_.sealed(key);
}

bool RowValue::decode_event(std::string_view key, std::string_view value, OrderKey& order,
                            EventTrace& event) {
    FieldReader fields(key, value);
    read_cut(fields, order.order_id, kIdBytesWhole);
    event_fields(fields, event);
    return fields.complete();
}

std::string_view RowValue::encode(std::string_view key, const JournalGroup& group) {
    fields_.clear();
    group_fields(fields_, group);
    return fields_.sealed(key);
}

bool RowValue::decode(std::string_view key, std::string_view value, JournalGroup& group) {
    FieldReader fields(key, value);
    group_fields(fields, group);
    return fields.complete() && !group.entries.empty();
}

std::string_view RowValue::encode(std::string_view key, const Balance& part) {
    fields_.clear();
    part_fields(fields_, part);
    return fields_.sealed(key);
}

bool RowValue::decode(std::string_view key, std::string_view value, Balance& part) {
    FieldReader fields(key, value);
    part_fields(fields, part);
    return fields.complete();
}

std::string_view RowValue::encode_variant(std::string_view key, const ProductId& product) {
    fields_.clear();
    write_cut(fields_, product.view(), kIdBytesWholeVariant);
    return fields_.sealed(key);
}

bool RowValue::decode_variant(std::string_view key, std::string_view value, ProductId& product) {
    FieldReader fields(key, value);
    read_cut(fields, product, kIdBytesWholeVariant);
    return fields.complete();
}

std::string_view RowValue::encode(std::string_view key, const CatalogRecord& record) {
    fields_.clear();
    write_cut(fields_, record.key.product_id.view(), kIdBytesWhole);
    record_fields(fields_, record);
    return fields_.sealed(key);
}

bool RowValue::decode(std::string_view key, std::string_view value, CatalogRecord& record) {
    FieldReader fields(key, value);
    read_cut(fields, record.key.product_id, kIdBytesWhole);
    record_fields(fields, record);
    return fields.complete();
}

std::string_view RowValue::encode(std::string_view key, const ChainHead& chain) {
    fields_.clear();
    chain_fields(fields_, chain);
    return fields_.sealed(key);
}

bool RowValue::decode(std::string_view key, std::string_view value, ChainHead& chain) {
    FieldReader fields(key, value);
    chain_fields(fields, chain);
    return fields.complete();
}

std::string_view RowValue::encode(std::string_view key, const NodeHead& head) {
    fields_.clear();
    head_fields(fields_, head);
    return fields_.sealed(key);
}

bool RowValue::decode(std::string_view key, std::string_view value, NodeHead& head) {
    head.head.node = key;
    FieldReader fields(key, value);
    head_fields(fields, head);
    head.head.number = head.node;
    return fields.complete() && head.node != 0 && head.head.next_entry != 0;
}

}  // namespace sluice::store
