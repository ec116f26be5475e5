// Flush: rows that were kept, written together, in the order of their keys.
#include <algorithm>

#include "pg_store/ledger/txn.hpp"
#include "pg_store/rows/order_row.hpp"

namespace sluice::pg {
namespace {

/// Fewer changed orders are written one by one, because two more statements cost more than they
/// save.
constexpr std::size_t kReplacedFrom = 64;

[[noreturn]] void throw_changed_meanwhile() {
    throw LedgerFailure(
        {ErrorCode::kBusy, "another node changed an order of this batch meanwhile"});
}

template <std::size_t N>
RowWriter parameters_of(const std::array<ColumnArray, N>& columns) {
    RowWriter row;
    for (const ColumnArray& column : columns) {
        column.write_to(row);
    }
    return row;
}

}  // namespace

void PgTxn::flush() {
    flush_orders();
    flush_journal();
    flush_tables();
    flush_balances();
    flush_variants();
}

// ---- Orders and the journal ---------------------------------------------------------------------

void PgTxn::flush_orders() {
    std::vector<ChangedOrder> added;
    std::vector<ChangedOrder> changed;
    std::vector<ChangedOrder> allocated;
    for (auto& [key, order] : orders_) {
        if (order.changed) {
            // Citus updates no rows from texts of arrays.
            const bool only_allocated = order.only_allocated && lock_ == WriterLock::kExclusive &&
                                        !connection_.is_distributed();
            (!order.stored    ? added
             : only_allocated ? allocated
                              : changed)
                .emplace_back(&key, &order);
            order.changed = order.only_allocated = false;
        }
    }
    const auto by_key = [](const ChangedOrder& a, const ChangedOrder& b) {
        return *a.first < *b.first;
    };
    std::sort(allocated.begin(), allocated.end(), by_key);
    update_allocations(allocated);
    std::sort(changed.begin(), changed.end(), by_key);
    if (lock_ == WriterLock::kExclusive && changed.size() >= kReplacedFrom) {
        replace_orders(changed);
        added.insert(added.end(), changed.begin(), changed.end());
    } else {
        for (const auto& [key, order] : changed) {
            update_order(*key, *order);
        }
    }
    std::sort(added.begin(), added.end(), by_key);
    copy_orders(added);
}

/// Updates an order if its row is unchanged since it was read, and if no older version replaces a
/// newer one, unless a command requires it (O5). The comparison does not depend on the locks of the
/// engine.
void PgTxn::update_order(const OrderKey& key, CachedOrder& order) {
    static const std::string kText = [] {
        std::string values;
        for (std::size_t i = 0; i < order_columns_count(); ++i) {
            values += (i == 0 ? "$" : ", $") + std::to_string(i + 7);
        }
        return "UPDATE sluice_ledger.orders SET (revision, " + order_columns() + ") = ($5, " +
               values +
               ") WHERE account = $1 AND shop = $2 AND order_id = $3 AND revision = $4 "
               "AND ($6 OR (version_s, version_ns) <= ($7, $8))";
    }();
    RowWriter parameters;
    parameters.u4(key.account.value).u4(key.shop.value).text(key.order_id.view());
    parameters.u8(order.revision).u8(order.revision + 1).boolean(lock_ == WriterLock::kExclusive);
    encode_order(order.state, parameters);
    ++order.revision;
    connection_.send({kText.c_str()}, parameters, [](Rows rows) {
        if (rows.affected() != 1) {
            throw_changed_meanwhile();
        }
    });
}

/// Deletes many rows in one statement; copy_orders() inserts them again with the new ones. Only
/// under the exclusive lock, because another batch that waits for such a row would find it gone.
void PgTxn::replace_orders(const std::vector<ChangedOrder>& changed) {
    static constexpr Statement kDelete{
        "DELETE FROM sluice_ledger.orders o USING unnest($1::integer[], $2::integer[], $3::text[], "
        "$4::bigint[]) AS k (account, shop, order_id, revision) WHERE o.account = k.account AND "
        "o.shop = k.shop AND o.order_id = k.order_id AND o.revision = k.revision"};
    std::array<ColumnArray, 4> columns{ColumnArray(Type::kInt4), ColumnArray(Type::kInt4),
                                       ColumnArray(Type::kText), ColumnArray(Type::kInt8)};
    for (const auto& [key, order] : changed) {
        columns[0].add().u4(key->account.value);
        columns[1].add().u4(key->shop.value);
        columns[2].add().text(key->order_id.view());
        columns[3].add().u8(order->revision);
    }
    connection_.send(kDelete, parameters_of(columns), [count = changed.size()](Rows rows) {
        if (rows.affected() != count) {
            throw_changed_meanwhile();
        }
    });
}

void PgTxn::copy_orders(const std::vector<ChangedOrder>& added) {
    static const std::string kCopy =
        "COPY sluice_ledger.orders (account, shop, order_id, revision, " + order_columns() +
        ") FROM STDIN (FORMAT binary)";
    RowWriter rows;
    for (const auto& [key, order] : added) {
        order->stored = true;
        rows.begin_copy_row(static_cast<std::int16_t>(order_columns_count() + 4));
        rows.u4(key->account.value).u4(key->shop.value).text(key->order_id.view());
        rows.u8(++order->revision);
        encode_order(order->state, rows);
    }
    if (!rows.empty()) {
        connection_.copy_in(kCopy, rows.view());
    }
}

/// Sends only the columns that a payout close changes, because the row of an order is long. Lists
/// of many rows go as the texts of arrays.
void PgTxn::update_allocations(const std::vector<ChangedOrder>& changed) {
    static const std::string kText =
        "UPDATE sluice_ledger.orders o SET revision = o.revision + 1, " +
        allocation_assignments("k.") +
        " FROM unnest($1::integer[], $2::integer[], $3::text[], $4::bigint[], " +
        allocation_parameters(5) + ") AS k (account, shop, order_id, revision, " +
        allocation_columns() +
        ") WHERE o.account = k.account AND o.shop = k.shop AND o.order_id = k.order_id AND "
        "o.revision = k.revision";
    if (changed.empty()) {
        return;
    }
    std::vector<ColumnArray> columns{ColumnArray(Type::kInt4), ColumnArray(Type::kInt4),
                                     ColumnArray(Type::kText), ColumnArray(Type::kInt8)};
    add_allocation_columns(columns);
    for (const auto& [key, order] : changed) {
        columns[0].add().u4(key->account.value);
        columns[1].add().u4(key->shop.value);
        columns[2].add().text(key->order_id.view());
        columns[3].add().u8(order->revision++);
        encode_allocations(order->state, std::span(columns).subspan(4));
    }
    RowWriter row;
    for (const ColumnArray& column : columns) {
        column.write_to(row);
    }
    connection_.send({kText.c_str()}, row, [count = changed.size()](Rows rows) {
        if (rows.affected() != count) {
            throw_changed_meanwhile();
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

// ---- Money --------------------------------------------------------------------------------------

void PgTxn::flush_balances() {
    static constexpr Statement kUpsert{
        "INSERT INTO sluice_ledger.balances AS b (account, program, creator, currency, node, "
        "owed, in_payout, paid) SELECT * FROM unnest($1::integer[], $2::text[], $3::text[], "
        "$4::text[], $5::integer[], $6::numeric[], $7::numeric[], $8::numeric[]) "
        "ON CONFLICT (account, program, creator, currency, node) DO UPDATE SET "
        "owed = b.owed + EXCLUDED.owed, in_payout = b.in_payout + EXCLUDED.in_payout, "
        "paid = b.paid + EXCLUDED.paid"};
    std::array<ColumnArray, 8> columns{ColumnArray(Type::kInt4),    ColumnArray(Type::kText),
                                       ColumnArray(Type::kText),    ColumnArray(Type::kText),
                                       ColumnArray(Type::kInt4),    ColumnArray(Type::kNumeric),
                                       ColumnArray(Type::kNumeric), ColumnArray(Type::kNumeric)};
    for (auto& [key, delta] : balances_) {
        if (!delta.changed) {
            continue;
        }
        columns[0].add().u4(key.account.value);
        columns[1].add().text(key.program.view());
        columns[2].add().text(key.creator.view());
        columns[3].add().text(key.currency.code());
        columns[4].add().u4(node_.number);
        columns[5].add().numeric(delta.unwritten.owed);
        columns[6].add().numeric(delta.unwritten.in_payout);
        columns[7].add().numeric(delta.unwritten.paid);
        delta.unwritten = {};
        delta.changed = false;
    }
    if (columns[0].count() != 0) {
        connection_.send(kUpsert, parameters_of(columns));
    }
}

// ---- The rest -----------------------------------------------------------------------------------

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
    using Key = std::array<ColumnArray, 6>;
    const auto key_columns = [] {
        return Key{ColumnArray(Type::kInt4), ColumnArray(Type::kInt4), ColumnArray(Type::kText),
                   ColumnArray(Type::kText), ColumnArray(Type::kText), ColumnArray(Type::kText)};
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
        "INSERT INTO sluice_ledger.chains (account, node, hash, entries, last_group) "
        "SELECT * FROM unnest($1::integer[], $2::integer[], $3::bytea[], $4::bigint[], "
        "$5::bigint[]) "
        "ON CONFLICT (account, node) DO UPDATE SET hash = EXCLUDED.hash, "
        "entries = EXCLUDED.entries, last_group = EXCLUDED.last_group"};
    std::array<ColumnArray, 5> columns{ColumnArray(Type::kInt4), ColumnArray(Type::kInt4),
                                       ColumnArray(Type::kBytes), ColumnArray(Type::kInt8),
                                       ColumnArray(Type::kInt8)};
    for (const auto& [account, chain] : chains_) {
        if (chain.entries != 0) {
            columns[0].add().u4(account);
            columns[1].add().u4(node_.number);
            columns[2].add().digest(chain.hash);
            columns[3].add().u8(chain.entries);
            columns[4].add().u8(chain.last_group);
        }
    }
    if (columns[0].count() != 0) {
        connection_.send(kUpsert, parameters_of(columns));
    }
}

void PgTxn::scan_chains(const Visitor<NodeChain>& visit) {
    flush_chains();
    KeptTables::scan_chains(visit);
}

}  // namespace sluice::pg
