// Flush: rows that were kept, written together, in the order of their keys.
#include <algorithm>

#include "pg_store/ledger/txn.hpp"
#include "pg_store/rows/order_row.hpp"

namespace sluice::pg {
namespace {

/// Fewer changed orders are written one by one, because two more statements cost more than they
/// save.
constexpr std::size_t kReplacedFrom = 64;

/// Returns a handler that throws unless the statement changed so many orders.
Connection::Handler expecting(std::size_t count) {
    return [count](const Rows& rows) {
        if (rows.affected() != count) {
            throw LedgerFailure(
                {ErrorCode::kBusy, "another node changed an order of this batch meanwhile"});
        }
    };
}

}  // namespace

void PgTxn::flush() {
    stage(true);
    send_staged();
    flush_orders();
    flush_journal();
    flush_tables();
    flush_balances();
    flush_variants();
}

// ---- Rows that are copied while the next inputs are applied -------------------------------------

namespace {

const std::string& copy_orders_statement() {
    static const std::string kCopy =
        copy_into("orders", "account, shop, order_id, revision, " + order_columns());
    return kCopy;
}

const std::string& copy_journal_statement() {
    static const std::string kCopy = copy_into("journal", kJournalColumns);
    return kCopy;
}

constexpr auto kByKey = [](const auto& a, const auto& b) { return *a.first < *b.first; };

}  // namespace

/// Encodes the rows that are new since the last call. send_staged() sends them.
/// @param is_last  No more inputs are expected.
void PgTxn::stage(bool is_last) {
    if (connection_.is_distributed()) {
        return;
    }
    std::vector<ChangedOrder> added;
    for (auto& [key, order] : orders_) {
        if (order.changed && !order.stored) {
            added.emplace_back(&key, &order);
            order.changed = order.only_allocated = false;
        }
    }
    std::ranges::sort(added, kByKey);
    if (!added.empty()) {
        staged_.push_back({&copy_orders_statement(), encode_new(added)});
    }
    if (!journal_.empty()) {
        staged_.push_back({&copy_journal_statement(), journal_.take()});
    }
    stage_tables(staged_, is_last);
}

void PgTxn::send_staged() {
    for (StagedRows& staged : staged_) {
        connection_.copy_behind(*staged.copy, std::move(staged.rows));
    }
    staged_.clear();
    drop_staged();
}

/// Sends further rows that are copied, after every fourth change.
void PgTxn::pump_now_and_then() {
    constexpr unsigned kEvery = 4;
    if (++changes_count_ % kEvery == 0) {
        connection_.pump();
    }
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
    std::ranges::sort(allocated, kByKey);
    update_allocations(allocated);
    std::ranges::sort(changed, kByKey);
    if (lock_ == WriterLock::kExclusive && changed.size() >= kReplacedFrom) {
        replace_orders(changed);
        added.insert(added.end(), changed.begin(), changed.end());
    } else {
        for (const auto& [key, order] : changed) {
            update_order(*key, *order);
        }
    }
    std::ranges::sort(added, kByKey);
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
    connection_.send({kText.c_str()}, parameters, expecting(1));
}

/// Deletes many rows in one statement; copy_orders() inserts them again with the new ones. Only
/// under the exclusive lock, because another batch that waits for such a row would find it gone.
void PgTxn::replace_orders(const std::vector<ChangedOrder>& changed) {
    static constexpr Statement kDelete{
        "DELETE FROM sluice_ledger.orders o USING unnest($1::integer[], $2::integer[], $3::text[], "
        "$4::bigint[]) AS k (account, shop, order_id, revision) WHERE o.account = k.account AND "
        "o.shop = k.shop AND o.order_id = k.order_id AND o.revision = k.revision"};
    RowArrays rows({Type::kInt4, Type::kInt4, Type::kText, Type::kInt8});
    for (const auto& [key, order] : changed) {
        rows.next().u4(key->account.value);
        rows.next().u4(key->shop.value);
        rows.next().text(key->order_id.view());
        rows.next().u8(order->revision);
    }
    connection_.send(kDelete, rows.parameters(), expecting(changed.size()));
}

std::string PgTxn::encode_new(const std::vector<ChangedOrder>& added) {
    RowWriter rows;
    for (const auto& [key, order] : added) {
        pump_now_and_then();
        order->stored = true;
        rows.begin_copy_row(static_cast<std::int16_t>(order_columns_count() + 4));
        rows.u4(key->account.value).u4(key->shop.value).text(key->order_id.view());
        rows.u8(++order->revision);
        encode_order(order->state, rows);
    }
    return rows.take();
}

void PgTxn::copy_orders(const std::vector<ChangedOrder>& added) {
    if (!added.empty()) {
        connection_.copy_in(copy_orders_statement(), encode_new(added));
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
    std::vector<Type> types{Type::kInt4, Type::kInt4, Type::kText, Type::kInt8};
    add_allocation_types(types);
    RowArrays rows(types);
    for (const auto& [key, order] : changed) {
        rows.next().u4(key->account.value);
        rows.next().u4(key->shop.value);
        rows.next().text(key->order_id.view());
        rows.next().u8(order->revision++);
        encode_allocations(order->state, rows);
    }
    connection_.send({kText.c_str()}, rows.parameters(), expecting(changed.size()));
}

void PgTxn::flush_journal() {
    if (!journal_.empty()) {
        connection_.copy_in(copy_journal_statement(), journal_.view());
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
    RowArrays rows({Type::kInt4, Type::kText, Type::kText, Type::kText, Type::kInt4, Type::kNumeric,
                    Type::kNumeric, Type::kNumeric});
    for (auto& [key, delta] : balances_) {
        if (!delta.changed) {
            continue;
        }
        rows.next().u4(key.account.value);
        rows.next().text(key.program.view());
        rows.next().text(key.creator.view());
        rows.next().text(key.currency.code());
        rows.next().u4(head_.number);
        rows.next().numeric(delta.unwritten.owed);
        rows.next().numeric(delta.unwritten.in_payout);
        rows.next().numeric(delta.unwritten.paid);
        delta.unwritten = {};
        delta.changed = false;
    }
    send_rows(kUpsert, rows);
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
    const std::vector<Type> types{Type::kInt4, Type::kInt4, Type::kText,
                                  Type::kText, Type::kText, Type::kText};
    RowArrays gone(types), put(types);
    for (const auto& [key, stays] : variant_rows_) {
        const auto& [account, shop, sku, language, country, product] = key;
        RowArrays& to = stays ? put : gone;
        to.next().u4(account.value);
        to.next().u4(shop.value);
        to.next().text(sku);
        to.next().text(language);
        to.next().text(country);
        to.next().text(product);
    }
    variant_rows_.clear();
    send_rows(kDelete, gone);
    send_rows(kInsert, put);
}

void PgTxn::flush_chains() {
    static constexpr Statement kUpsert{
        "INSERT INTO sluice_ledger.chains (account, node, hash, entries, last_group) "
        "SELECT * FROM unnest($1::integer[], $2::integer[], $3::bytea[], $4::bigint[], "
        "$5::bigint[]) "
        "ON CONFLICT (account, node) DO UPDATE SET hash = EXCLUDED.hash, "
        "entries = EXCLUDED.entries, last_group = EXCLUDED.last_group"};
    RowArrays rows({Type::kInt4, Type::kInt4, Type::kBytes, Type::kInt8, Type::kInt8});
    for (const auto& [account, chain] : chains_) {
        if (chain.entries != 0) {
            rows.next().u4(account);
            rows.next().u4(head_.number);
            rows.next().digest(chain.hash);
            rows.next().u8(chain.entries);
            rows.next().u8(chain.last_group);
        }
    }
    send_rows(kUpsert, rows);
}

void PgTxn::scan_chains(const Visitor<NodeChain>& visit) {
    flush_chains();
    KeptTables::scan_chains(visit);
}

}  // namespace sluice::pg
