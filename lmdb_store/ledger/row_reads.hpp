// Reading the tables that core/ledger/tables.hpp describes. Internal to this room.
#pragma once

#include <algorithm>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "core/ledger/ledger.hpp"
#include "core/ledger/sort_key.hpp"
#include "lmdb_store/ledger/tables.hpp"
#include "lmdb_store/rows/order_value.hpp"
#include "lmdb_store/rows/row_keys.hpp"
#include "lmdb_store/rows/row_value.hpp"

namespace sluice::store {

/// What reading needs, and the reads of described tables. The class that derives from it owns the
/// transaction.
class RowReads : public virtual LedgerReader {
protected:
    explicit RowReads(const RowAccess& rows) : rows_(rows) {}
    /// Reads the heads; a queue that has none has number 0.
    void load_head(std::string_view node);

    template <class Row>
    [[nodiscard]] bool load_row(Row& row) {
        CutTexts cut;
        const LedgerKey key = row_key(row, cut, node_.node);
        const auto value = rows_.get(table_of<Row>(), key.view());
        if (value && !RowValue::decode(key.view(), cut, *value, row)) {
            rows_.damaged(row_name(row), order_of(row));
        }
        return value.has_value();
    }
    template <class Row>
    void scan_rows(const Row& first, KeyRange range, const Visitor<Row>& visit);
    template <class Row>
    [[nodiscard]] LedgerKey key_of(const Row& row, unsigned columns = ~0U) const {
        return row_key(row, node_.node, columns);
    }
    /// @return whether the key had to cut a text, which is then in the value.
    template <class Row>
    bool decode_row(std::string_view key, std::string_view value, Row& row);

    RowAccess rows_;
    NodeHead node_;
    std::map<std::uint32_t, std::string> nodes_;  ///< UUIDs of all queues, by number.
    OrderValue order_value_;
    RowValue row_value_;
};

template <class Row>
bool RowReads::decode_row(std::string_view key, std::string_view value, Row& row) {
    LedgerKeyParser parser(key);
    if constexpr (TableOf<Row>::kPerNode) {
        (void)parser.u32();
    }
    KeyFields fields{parser, key_plan<Row>()};
    TableOf<Row>::key(row, fields);
    rows_.check(parser.complete() && fields.sound, table_of<Row>(), key, order_of(row));
    if (!RowValue::decode(key, fields.cut, value, row)) {
        rows_.damaged(row_name(row), order_of(row));
    }
    return fields.cut.which != 0;
}

/// Rows whose ids the keys had to cut at the same place sort by digests: such a run, which shares
/// hundreds of bytes and so is short, is sorted before it is visited.
template <class Row>
void RowReads::scan_rows(const Row& first, KeyRange range, const Visitor<Row>& visit) {
    const LedgerKey same = key_of(first, range.same);
    const LedgerKey start = key_of(first, range.from);
    const std::string from = sort_key(first, range.from);
    std::vector<std::pair<std::string, Row>> run;
    std::string run_begins;
    const auto visit_run = [&] {
        std::sort(run.begin(), run.end(),
                  [](const auto& a, const auto& b) { return a.first < b.first; });
        const bool more = std::all_of(run.begin(), run.end(), [&](const auto& entry) {
            return entry.first < from || visit(entry.second);
        });
        run.clear();
        return more;
    };
    RowCursor cursor(rows_, table_of<Row>());
    Row row{};
    bool more = true;
    for (bool found = cursor.seek(start.uncut()); found && cursor.key().starts_with(same.uncut());
         found = cursor.next()) {
        if (!cursor.key().starts_with(same.view())) {
            continue;  // another id that was cut at the same place
        }
        if (!run.empty() && !cursor.key().starts_with(run_begins)) {
            more = visit_run();
        }
        if (!more) {
            return;
        }
        if (!decode_row(cursor.key(), cursor.value(), row)) {
            more = visit(row);
        } else {
            run_begins = key_of(row).uncut();
            run.emplace_back(sort_key(row), row);
        }
        if (!more) {
            return;
        }
    }
    (void)visit_run();
}

template <class Row, class Base>
class ReadsTable : public Base {
public:
    using Base::Base;
    using Base::load;
    using Base::scan;
    bool load(Row& row) override { return this->load_row(row); }
    void scan(const Row& first, KeyRange range, const Visitor<Row>& visit) override {
        this->scan_rows(first, range, visit);
    }
};

}  // namespace sluice::store
