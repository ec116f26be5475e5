#include "lmdb_store/rows/row_value.hpp"

#include "lmdb_store/rows/order_value.hpp"

namespace sluice::store {
namespace {

// One list of fields for both directions: `fields` is a FieldWriter for a const row, or a
// FieldReader for a row to fill in.

template <class Given, class Row>
concept Is = std::is_same_v<std::remove_const_t<Given>, Row>;

/// Writes an id that the key had to cut.
void cut_id(FieldWriter& fields, const AnyTextId& id, std::size_t whole_max) {
    if (id_is_cut(id.view(), whole_max)) {
        fields.text(id.view());
    }
}
/// @param id  Empty if only the key is known, and the key cuts the id.
void cut_id(FieldReader& fields, AnyTextId& id, std::size_t whole_max) {
    if (!id.empty() && !id_is_cut(id.view(), whole_max)) {
        return;
    }
    const std::string_view whole = fields.text();
    if (!id_is_cut(whole, whole_max) || (!id.empty() && id.view() != whole)) {
        fields.fail();
    }
    id.assign(whole);
}

void row_fields(auto& fields, Is<JournalGroup> auto& group) {
    fields(group.event_seq, group.command_id, group.account, group.shop, group.order_id,
           group.program, group.creator, group.payout_id, group.recorded_at);
    fields.like(group.accounting_date, group.recorded_at);
    fields(group.note, group.actor);
    fields.each(group.entries, [&fields](auto& entry) {
        fields(entry.line, entry.currency, entry.amount, entry.reason, entry.refers_to);
    });
    fields(group.hash, group.last_change, group.order_change);
}

void row_fields(auto& fields, Is<Balance> auto& part) {
    fields(part.owed, part.in_payout, part.paid);
}

void row_fields(auto& fields, Is<CatalogRecord> auto& record) {
    cut_id(fields, record.key.product_id, kIdBytesWhole);
    fields(record.json, record.brand);
    for (auto* const texts : {&record.collections, &record.tags, &record.variant_skus}) {
        fields.each(*texts, [&fields](auto& text) { fields(text); });
    }
}

void row_fields(auto& fields, Is<ChainHead> auto& chain) {
    fields(chain.hash, chain.entries, chain.last_group);
}

void row_fields(auto& fields, Is<NodeHead> auto& row) {
    auto& head = row.head;
    fields(row.node, head.applied_seq, head.last_received, head.inputs_sha256, head.next_entry,
           head.next_work, head.programs_revision);
    auto& totals = head.totals;
    for (auto* count : {&totals.applied, &totals.stale, &totals.duplicate, &totals.catalog,
                        &totals.commands, &totals.dead, &totals.orders, &totals.journal_entries,
                        &totals.clicks, &totals.clicks_stored, &totals.clicks_known,
                        &totals.clicks_without_link, &totals.clicks_expired}) {
        fields(*count);
    }
    for (auto& count : totals.anomalies) {
        fields(count);
    }
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

template <class Row>
std::string_view RowValue::encode(std::string_view key, const Row& row) {
    fields_.clear();
    row_fields(fields_, row);
    return fields_.sealed(key);
}

template <class Row>
bool RowValue::decode(std::string_view key, std::string_view value, Row& row) {
    FieldReader fields(key, value);
    row_fields(fields, row);
    if constexpr (std::is_same_v<Row, JournalGroup>) {
        return fields.complete() && !row.entries.empty();
    } else if constexpr (std::is_same_v<Row, NodeHead>) {
        row.head.node = key;
        row.head.number = row.node;
        return fields.complete() && row.node != 0 && row.head.next_entry != 0;
    } else {
        return fields.complete();
    }
}

template std::string_view RowValue::encode(std::string_view, const JournalGroup&);
template std::string_view RowValue::encode(std::string_view, const Balance&);
template std::string_view RowValue::encode(std::string_view, const CatalogRecord&);
template std::string_view RowValue::encode(std::string_view, const ChainHead&);
template std::string_view RowValue::encode(std::string_view, const NodeHead&);
template bool RowValue::decode(std::string_view, std::string_view, JournalGroup&);
template bool RowValue::decode(std::string_view, std::string_view, Balance&);
template bool RowValue::decode(std::string_view, std::string_view, CatalogRecord&);
template bool RowValue::decode(std::string_view, std::string_view, ChainHead&);
template bool RowValue::decode(std::string_view, std::string_view, NodeHead&);

std::string_view RowValue::encode_event(std::string_view key, const OrderKey& order,
                                        const EventTrace& event) {
    fields_.clear();
    cut_id(fields_, order.order_id, kIdBytesWhole);
    event_fields(fields_, event);
    return fields_.sealed(key);
}

bool RowValue::decode_event(std::string_view key, std::string_view value, OrderKey& order,
                            EventTrace& event) {
    FieldReader fields(key, value);
    cut_id(fields, order.order_id, kIdBytesWhole);
    event_fields(fields, event);
    return fields.complete();
}

std::string_view RowValue::encode_variant(std::string_view key, const ProductId& product) {
    fields_.clear();
    cut_id(fields_, product, kIdBytesWholeVariant);
    return fields_.sealed(key);
}

bool RowValue::decode_variant(std::string_view key, std::string_view value, ProductId& product) {
    FieldReader fields(key, value);
    cut_id(fields, product, kIdBytesWholeVariant);
    return fields.complete();
}

}  // namespace sluice::store
