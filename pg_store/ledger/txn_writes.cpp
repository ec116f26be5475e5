// Writes: what is often is kept and written together, what is rare is sent at once.
#include <utility>

#include "pg_store/ledger/order_row.hpp"
#include "pg_store/ledger/packed_rows.hpp"
#include "pg_store/ledger/txn.hpp"

namespace sluice::pg {
namespace {

Error other_registry(const ShopRow& wanted) {
    return {ErrorCode::kConflict,
            "shop " + wanted.shop_id.str() + " of account " + wanted.account_id.str() +
                " has another number in the ledger than in this store: its registry is not the "
                "one of this ledger. Nothing was applied"};
}

}  // namespace

// ---- Kept ---------------------------------------------------------------------------------------

void PgTxn::put_order(const OrderState& state) {
    CachedOrder& order = cached(state.key);
    order.state = state;
    order.exists = order.changed = true;
}

void PgTxn::append_journal(const JournalGroup& group) {
    journal_.begin_copy_row(kJournalColumnsCount);
    write_journal(group, node_.number, journal_);
    for (const JournalLine& line : group.lines) {
        Delta& delta =
            balances_[{group.order.account, group.program, group.creator, line.currency}];
        delta.unbalanced = delta.unbalanced + line.amount;
    }
}

void PgTxn::add_to_balance(const BalanceKey& key, const Decimal& total, const Decimal& paid) {
    Delta& delta = balances_[key];
    delta.total = delta.total + total;
    delta.paid = delta.paid + paid;
    delta.unbalanced = delta.unbalanced - total;
    delta.changed = true;
}

// ---- Described tables that other nodes must not miss
// ----------------------------------------------

/// Two nodes may learn of a shop at the same time; they must mean the same one.
void PgTxn::put(const ShopRow& row) {
    static const Statement kInsert =
        kept_statement(table_text<ShopRow>().insert_many(false) + " ON CONFLICT DO NOTHING");
    RowArrays arrays(all_columns<ShopRow>());
    add_row(row, node_.number, arrays);
    connection_.send(kInsert, arrays.parameters());
    ShopRow stored;
    stored.shop = row.shop;
    if (!Reads::load(stored) || stored.account != row.account || stored.shop_id != row.shop_id) {
        throw LedgerFailure(other_registry(row));
    }
    know(stored, true);
}

void PgTxn::put(const CodeRow& row) {
    pass_gate(Gate::kExclusive);
    codes_.erase({row.account, row.digest});
    TableKeeps::put(row);
}

void PgTxn::erase(const CodeRow& row) {
    pass_gate(Gate::kExclusive);
    codes_.erase({row.account, row.digest});
    TableKeeps::erase(row);
}

void PgTxn::put(const Membership& row) {
    pass_gate(Gate::kExclusive);
    TableKeeps::put(row);
}

/// `imported` counts within one node only: the ledger has numbers of its own for imports.
void PgTxn::put(const Touch& touch) {
    pass_gate(Gate::kExclusive);
    const auto [import, added] = imports_.try_emplace(touch.imported.value);
    if (added) {
        import->second = ++shared_.imports;
    }
    touches_.erase({touch.account, touch.anon});
    Touch row = touch;
    row.imported = {import->second};
    TableKeeps::put(row);
}

/// Bodies may be large: they are not held together.
void PgTxn::put(const DeadLetter& letter) {
    TableKeeps::put(letter);
    flush_table(&letter);
}

void PgTxn::put(const Work& work) {
    first_work_.reset();
    TableKeeps::put(work);
}

void PgTxn::erase(const Work& work) {
    first_work_.reset();
    TableKeeps::erase(work);
}

// ---- Products -----------------------------------------------------------------------------------

void PgTxn::put_catalog(const CatalogRecord& record, const CatalogRecord* old) {
    static constexpr Statement kUpsert{
        "INSERT INTO sluice_ledger.catalog (account, shop, product_id, language, country, full_id, "
        "record, brand, collections, tags, variant_skus) "
        "VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11) "
        "ON CONFLICT (account, shop, product_id, language, country) DO UPDATE SET "
        "record = EXCLUDED.record, brand = EXCLUDED.brand, collections = EXCLUDED.collections, "
        "tags = EXCLUDED.tags, variant_skus = EXCLUDED.variant_skus"};
    const CatalogKey& key = record.key;
    const auto variant = [&](const std::string& sku) {
        return VariantKey{key.account,  key.shop,    key_text(sku),
                          key.language, key.country, key_text(key.product_id.view())};
    };
    if (old != nullptr) {
        for (const std::string& sku : old->variant_skus) {
            variant_rows_[variant(sku)] = false;
        }
    }
    for (const std::string& sku : record.variant_skus) {
        variant_rows_[variant(sku)] = true;
    }
    variants_.clear();
    copies(key.account, key.shop, key.product_id)
        .insert_or_assign({key.language, key.country}, record);
    RowWriter parameters;
    write_catalog(record, parameters);
    connection_.send(kUpsert, parameters);
}

void PgTxn::delete_catalog(const CatalogRecord& old) {
    static constexpr Statement kDelete{
        "DELETE FROM sluice_ledger.catalog WHERE account = $1 AND shop = $2 AND product_id = $3 "
        "AND language = $4 AND country = $5"};
    const CatalogKey& key = old.key;
    for (const std::string& sku : old.variant_skus) {
        variant_rows_[{key.account, key.shop, key_text(sku), key.language, key.country,
                       key_text(key.product_id.view())}] = false;
    }
    variants_.clear();
    copies(key.account, key.shop, key.product_id).erase({key.language, key.country});
    RowWriter parameters;
    parameters.u4(key.account.value).u4(key.shop.value).text(key_text(key.product_id.view()));
    parameters.text(key.language).text(key.country);
    connection_.send(kDelete, parameters);
}

// ---- Sent at once -------------------------------------------------------------------------------

void PgTxn::put_event(const OrderKey& key, const EventTrace& event) {
    static constexpr Statement kInsert{
        "INSERT INTO sluice_ledger.events SELECT $1, $2, $3, coalesce(max(number), 0) + 1, $4, $5, "
        "$6 FROM sluice_ledger.events WHERE account = $1 AND shop = $2 AND order_id = $3"};
    RowWriter parameters;
    parameters.u4(key.account.value).u4(key.shop.value).text(key.order_id.view());
    parameters.i2(static_cast<std::int16_t>(event.topic)).digest(event.digest);
    parameters.bytes(pack_events(&event, 1));
    connection_.send(kInsert, parameters);
}

void PgTxn::put_program(const ProgramRow& row) {
    static constexpr Statement kRetire{
        "UPDATE sluice_ledger.programs SET current = false WHERE program = $1 AND current"};
    static constexpr Statement kInsert{
        "INSERT INTO sluice_ledger.programs (program, version, account, account_id, shops, "
        "window_days, base, precedence, hold_days, default_kind, default_value, default_currency, "
        "rule_matches, rule_texts, rule_kinds, rule_values, rule_currencies, applied_by, "
        "applied_s, applied_ns, current) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, "
        "$12, $13, $14, $15, $16, $17, $18, $19, $20, true)"};
    pass_gate(Gate::kExclusive);
    RowWriter program;
    program.text(row.program.id.view());
    connection_.send(kRetire, program);
    RowWriter parameters;
    write_program(row, parameters);
    connection_.send(kInsert, parameters);
}

void PgTxn::put_payout(const Payout& payout) {
    static constexpr Statement kInsert{
        "INSERT INTO sluice_ledger.payouts (account, payout_id, program, creator, currency, "
        "amount, until_s, until_ns, closed_s, closed_ns, orders_count, actor, number, node) "
        "VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14)"};
    pass_gate(Gate::kExclusive);
    RowWriter parameters;
    write_payout(payout, parameters);
    parameters.u8(++shared_.payouts).u4(node_.number);
    connection_.send(kInsert, parameters);
}

}  // namespace sluice::pg
