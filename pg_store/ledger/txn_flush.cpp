// Flush: rows that were kept, written together, in the order of their keys.
#include <algorithm>
#include <utility>

#include "pg_store/ledger/order_row.hpp"
#include "pg_store/ledger/txn.hpp"

namespace sluice::pg {
namespace {

template <std::size_t N>
RowWriter parameters_of(const std::array<Column, N>& columns) {
    RowWriter row;
    for (const Column& column : columns) {
        column.write_to(row);
    }
    return row;
}

}  // namespace

void PgTxn::flush() {
    flush_orders();
    flush_journal();
    flush_refunds();
    flush_anomalies();
    flush_balances();
    flush_open();
    flush_waiting();
    flush_touches();
    flush_variants();
}

// ---- Orders and the journal ---------------------------------------------------------------------

void PgTxn::flush_orders() {
    static const std::string kCopy =
        "COPY sluice_ledger.orders (account, shop, order_id, revision, " + order_columns() +
        ") FROM STDIN (FORMAT binary)";
    std::vector<std::pair<const OrderKey*, CachedOrder*>> changed;
    for (auto& [key, order] : orders_) {
        if (order.changed) {
            changed.emplace_back(&key, &order);
        }
    }
    std::sort(changed.begin(), changed.end(),
              [](const auto& a, const auto& b) { return *a.first < *b.first; });
    RowWriter added;
    for (const auto& [key, order] : changed) {
        order->changed = false;
        if (order->stored) {
            update_order(*key, *order);
            continue;
        }
        order->stored = true;
        order->revision = 1;
        added.begin_copy_row(static_cast<std::int16_t>(order_columns_count() + 4));
        added.u4(key->account.value).u4(key->shop.value).text(key->order_id.view()).u8(1);
        encode_order(order->state, added);
    }
    if (!added.empty()) {
        connection_.copy_in(kCopy, added.view());
    }
}

/// The comparison holds whatever locks the engine knows: the row is the one that was read, and no
/// older version of the order replaces a newer one.
void PgTxn::update_order(const OrderKey& key, CachedOrder& order) {
    static const std::string kText = [] {
        std::string values;
        for (std::size_t i = 0; i < order_columns_count(); ++i) {
            values += (i == 0 ? "$" : ", $") + std::to_string(i + 6);
        }
        return "UPDATE sluice_ledger.orders SET (revision, " + order_columns() + ") = ($5, " +
               values +
               ") WHERE account = $1 AND shop = $2 AND order_id = $3 AND revision = $4 "
               "AND (version_s, version_ns) <= ($6, $7)";
    }();
    RowWriter parameters;
    parameters.u4(key.account.value).u4(key.shop.value).text(key.order_id.view());
    parameters.u8(order.revision).u8(order.revision + 1);
    encode_order(order.state, parameters);
    ++order.revision;
    connection_.send({kText.c_str()}, parameters, [](Rows rows) {
        if (rows.affected() != 1) {
            throw LedgerFailure(
                {ErrorCode::kBusy, "another node changed an order of this batch meanwhile"});
        }
    });
}

void PgTxn::flush_journal() {
    static const std::string kCopy = "COPY sluice_ledger.journal (" + std::string(kJournalColumns) +
                                     ") FROM STDIN (FORMAT binary)";
    if (!journal_.empty()) {
        connection_.copy_in(kCopy, journal_.view());
        journal_.clear();
    }
}

void PgTxn::flush_refunds() {
    static constexpr Statement kInsert{
        "INSERT INTO sluice_ledger.refunds (account, shop, refund_id, order_id, line_id) "
        "SELECT * FROM unnest($1::integer[], $2::integer[], $3::text[], $4::text[], $5::text[])"};
    std::array<Column, 5> columns{Column(Type::kInt4), Column(Type::kInt4), Column(Type::kText),
                                  Column(Type::kText), Column(Type::kText)};
    for (auto& [key, refund] : refunds_) {
        if (!refund.changed) {
            continue;
        }
        refund.changed = false;
        const auto& [account, shop, id] = key;
        columns[0].add().u4(account.value);
        columns[1].add().u4(shop.value);
        columns[2].add().text(id);
        columns[3].add().text(refund.owner->order_id.view());
        columns[4].add().text(refund.owner->line.view());
    }
    if (columns[0].count() != 0) {
        connection_.send(kInsert, parameters_of(columns));
    }
}

void PgTxn::flush_anomalies() {
    static constexpr Statement kUpsert{
        "INSERT INTO sluice_ledger.anomalies (account, shop, order_id, kind, node, first_seq, "
        "recorded_s, recorded_ns, count, message) "
        "VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10) "
        "ON CONFLICT (account, shop, order_id, kind) DO UPDATE SET count = EXCLUDED.count"};
    for (auto& [key, anomaly] : anomalies_) {
        if (!anomaly.changed) {
            continue;
        }
        anomaly.changed = false;
        const Anomaly& row = anomaly.row;
        RowWriter parameters;
        parameters.u4(row.order.account.value).u4(row.order.shop.value);
        parameters.text(row.order.order_id.view()).i2(static_cast<std::int16_t>(row.kind));
        parameters.u4(node_.number).u8(row.first_seq.value).instant(row.recorded_at);
        parameters.u8(row.count).text(clean_text(row.message));
        connection_.send(kUpsert, parameters);
    }
}

// ---- Money --------------------------------------------------------------------------------------

void PgTxn::flush_balances() {
    static constexpr Statement kUpsert{
        "INSERT INTO sluice_ledger.balances AS b (account, program, creator, currency, node, "
        "total, paid) SELECT * FROM unnest($1::integer[], $2::text[], $3::text[], $4::text[], "
        "$5::integer[], $6::numeric[], $7::numeric[]) "
        "ON CONFLICT (account, program, creator, currency, node) DO UPDATE SET "
        "total = b.total + EXCLUDED.total, paid = b.paid + EXCLUDED.paid"};
    std::array<Column, 7> columns{
        Column(Type::kInt4), Column(Type::kText),    Column(Type::kText),   Column(Type::kText),
        Column(Type::kInt4), Column(Type::kNumeric), Column(Type::kNumeric)};
    for (auto& [key, delta] : balances_) {
        if (!delta.changed) {
            continue;
        }
        columns[0].add().u4(key.account.value);
        columns[1].add().text(key.program.view());
        columns[2].add().text(key.creator.view());
        columns[3].add().text(key.currency.code());
        columns[4].add().u4(node_.number);
        columns[5].add().numeric(delta.total);
        columns[6].add().numeric(delta.paid);
        delta.total = delta.paid = Decimal();
        delta.changed = false;
    }
    if (columns[0].count() != 0) {
        connection_.send(kUpsert, parameters_of(columns));
    }
}

void PgTxn::flush_open() {
    static constexpr Statement kDelete{
        "DELETE FROM sluice_ledger.open o USING unnest($1::integer[], $2::text[], $3::boolean[], "
        "$4::bigint[], $5::integer[], $6::integer[], $7::text[], $8::text[]) AS k (account, "
        "program, adjustment, ordered_s, ordered_ns, shop, order_id, currency) "
        "WHERE o.account = k.account AND o.program = k.program AND o.adjustment = k.adjustment "
        "AND o.ordered_s = k.ordered_s AND o.ordered_ns = k.ordered_ns AND o.shop = k.shop "
        "AND o.order_id = k.order_id AND o.currency = k.currency"};
    static constexpr Statement kUpsert{
        "INSERT INTO sluice_ledger.open (account, program, adjustment, ordered_s, ordered_ns, "
        "shop, order_id, currency, creator, amount) SELECT * FROM unnest($1::integer[], "
        "$2::text[], $3::boolean[], $4::bigint[], $5::integer[], $6::integer[], $7::text[], "
        "$8::text[], $9::text[], $10::numeric[]) ON CONFLICT (account, program, adjustment, "
        "ordered_s, ordered_ns, shop, order_id, currency) DO UPDATE SET "
        "creator = EXCLUDED.creator, amount = EXCLUDED.amount"};
    using Key = std::array<Column, 8>;
    const auto key_columns = [] {
        return Key{Column(Type::kInt4), Column(Type::kText), Column(Type::kBool),
                   Column(Type::kInt8), Column(Type::kInt4), Column(Type::kInt4),
                   Column(Type::kText), Column(Type::kText)};
    };
    Key gone = key_columns();
    Key put = key_columns();
    std::array<Column, 2> values{Column(Type::kText), Column(Type::kNumeric)};
    for (const auto& [key, row] : open_) {
        const auto& [account, program, adjustment, ordered_at, shop, order, currency] = key;
        Key& to = row ? put : gone;
        to[0].add().u4(account.value);
        to[1].add().text(program.view());
        to[2].add().boolean(adjustment);
        to[3].add().i8(ordered_at.seconds);
        to[4].add().u4(ordered_at.nanos);
        to[5].add().u4(shop.value);
        to[6].add().text(order.view());
        to[7].add().text(currency.code());
        if (row) {
            values[0].add().text(row->creator.view());
            values[1].add().numeric(row->amount);
        }
    }
    open_.clear();
    if (gone[0].count() != 0) {
        connection_.send(kDelete, parameters_of(gone));
    }
    if (put[0].count() != 0) {
        RowWriter parameters = parameters_of(put);
        values[0].write_to(parameters);
        values[1].write_to(parameters);
        connection_.send(kUpsert, parameters);
    }
}

void PgTxn::flush_waiting() {
    static constexpr Statement kDelete{
        "DELETE FROM sluice_ledger.waiting w USING unnest($1::integer[], $2::smallint[], "
        "$3::bytea[], $4::integer[], $5::text[]) AS k (account, kind, digest, shop, order_id) "
        "WHERE w.account = k.account AND w.kind = k.kind AND w.digest = k.digest "
        "AND w.shop = k.shop AND w.order_id = k.order_id"};
    static constexpr Statement kInsert{
        "INSERT INTO sluice_ledger.waiting (account, kind, digest, shop, order_id) "
        "SELECT * FROM unnest($1::integer[], $2::smallint[], $3::bytea[], $4::integer[], "
        "$5::text[]) ON CONFLICT DO NOTHING"};
    using Key = std::array<Column, 5>;
    const auto key_columns = [] {
        return Key{Column(Type::kInt4), Column(Type::kInt2), Column(Type::kBytes),
                   Column(Type::kInt4), Column(Type::kText)};
    };
    Key gone = key_columns();
    Key put = key_columns();
    for (const auto& [key, stays] : waiting_) {
        const auto& [wait, order] = key;
        Key& to = stays ? put : gone;
        to[0].add().u4(wait.account.value);
        to[1].add().i2(static_cast<std::int16_t>(wait.kind));
        to[2].add().digest(wait.digest);
        to[3].add().u4(order.shop.value);
        to[4].add().text(order.order_id.view());
    }
    waiting_.clear();
    if (gone[0].count() != 0) {
        connection_.send(kDelete, parameters_of(gone));
    }
    if (put[0].count() != 0) {
        connection_.send(kInsert, parameters_of(put));
    }
}

// ---- The rest -----------------------------------------------------------------------------------

void PgTxn::flush_touches() {
    static constexpr Statement kUpsert{
        "INSERT INTO sluice_ledger.touches (account, anon, program, occurred_s, occurred_ns, "
        "creator, import, import_row) SELECT * FROM unnest($1::integer[], $2::bytea[], "
        "$3::text[], $4::bigint[], $5::integer[], $6::text[], $7::bigint[], $8::integer[]) "
        "ON CONFLICT (account, anon, program, occurred_s, occurred_ns, creator) DO UPDATE SET "
        "import = EXCLUDED.import, import_row = EXCLUDED.import_row"};
    std::array<Column, 8> columns{Column(Type::kInt4), Column(Type::kBytes), Column(Type::kText),
                                  Column(Type::kInt8), Column(Type::kInt4),  Column(Type::kText),
                                  Column(Type::kInt8), Column(Type::kInt4)};
    for (const auto& [key, touch] : touch_rows_) {
        columns[0].add().u4(touch.account.value);
        columns[1].add().digest(touch.anon);
        columns[2].add().text(touch.program.view());
        columns[3].add().i8(touch.occurred_at.seconds);
        columns[4].add().u4(touch.occurred_at.nanos);
        columns[5].add().text(touch.creator.view());
        columns[6].add().u8(touch.imported.value);
        columns[7].add().u4(touch.imported_row);
    }
    touch_rows_.clear();
    if (columns[0].count() != 0) {
        connection_.send(kUpsert, parameters_of(columns));
    }
}

void PgTxn::flush_variants() {
    static constexpr Statement kDelete{
        "DELETE FROM sluice_ledger.variants v USING unnest($1::integer[], $2::integer[], "
        "$3::text[], $4::text[], $5::text[], $6::text[]) AS k (account, shop, variant_sku, "
        "language, country, product_id) WHERE v.account = k.account AND v.shop = k.shop "
        "AND v.variant_sku = k.variant_sku AND v.language = k.language "
        "AND v.country = k.country AND v.product_id = k.product_id"};
    static constexpr Statement kInsert{
        "INSERT INTO sluice_ledger.variants (account, shop, variant_sku, language, country, "
        "product_id) SELECT * FROM unnest($1::integer[], $2::integer[], $3::text[], $4::text[], "
        "$5::text[], $6::text[]) ON CONFLICT DO NOTHING"};
    using Key = std::array<Column, 6>;
    const auto key_columns = [] {
        return Key{Column(Type::kInt4), Column(Type::kInt4), Column(Type::kText),
                   Column(Type::kText), Column(Type::kText), Column(Type::kText)};
    };
    Key gone = key_columns();
    Key put = key_columns();
    for (const auto& [key, stays] : variant_rows_) {
        const auto& [account, shop, sku, language, country, product] = key;
        Key& to = stays ? put : gone;
        to[0].add().u4(account.value);
        to[1].add().u4(shop.value);
        to[2].add().text(sku);
        to[3].add().text(language);
        to[4].add().text(country);
        to[5].add().text(product);
    }
    variant_rows_.clear();
    if (gone[0].count() != 0) {
        connection_.send(kDelete, parameters_of(gone));
    }
    if (put[0].count() != 0) {
        connection_.send(kInsert, parameters_of(put));
    }
}

void PgTxn::flush_chains() {
    static constexpr Statement kUpsert{
        "INSERT INTO sluice_ledger.chains (account, node, hash, entries) "
        "SELECT * FROM unnest($1::integer[], $2::integer[], $3::bytea[], $4::bigint[]) "
        "ON CONFLICT (account, node) DO UPDATE SET hash = EXCLUDED.hash, "
        "entries = EXCLUDED.entries"};
    std::array<Column, 4> columns{Column(Type::kInt4), Column(Type::kInt4), Column(Type::kBytes),
                                  Column(Type::kInt8)};
    for (const auto& [account, chain] : chains_) {
        if (chain.entries != 0) {
            columns[0].add().u4(account);
            columns[1].add().u4(node_.number);
            columns[2].add().digest(chain.hash);
            columns[3].add().u8(chain.entries);
        }
    }
    if (columns[0].count() != 0) {
        connection_.send(kUpsert, parameters_of(columns));
    }
}

}  // namespace sluice::pg
