// Writes: what is often is kept and written together, what is rare is sent at once.
#include <utility>

#include "pg_store/ledger/order_row.hpp"
#include "pg_store/ledger/txn.hpp"

namespace sluice::pg {
namespace {

/// Touches that are kept; an import of many is written in pieces.
constexpr std::size_t kTouchesKept = 5000;

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

void PgTxn::put_refund_owner(AccountNumber account, ShopNumber shop, std::string_view refund_id,
                             const RefundOwner& owner) {
    refunds_[{account, shop, std::string(refund_id)}] = {owner, true};
}

void PgTxn::put_anomaly(const Anomaly& anomaly) {
    anomalies_[{anomaly.order, anomaly.kind}] = {anomaly, true};
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

void PgTxn::put_open(const OpenAmount& row) {
    open_[{row.account, row.program, row.adjustment, row.ordered_at, row.shop, row.order_id,
           row.currency}] = row;
}

void PgTxn::delete_open(const OpenAmount& row) {
    open_[{row.account, row.program, row.adjustment, row.ordered_at, row.shop, row.order_id,
           row.currency}] = std::nullopt;
}

void PgTxn::put_waiting(const WaitKey& key, const OrderKey& order) {
    waiting_[{key, order}] = true;
}

void PgTxn::delete_waiting(const WaitKey& key, const OrderKey& order) {
    waiting_[{key, order}] = false;
}

/// `imported` counts within one node only: the ledger has numbers of its own for imports.
void PgTxn::put_touch(const Touch& touch) {
    pass_gate(Gate::kExclusive);
    const auto [import, added] = imports_.try_emplace(touch.imported.value);
    if (added) {
        import->second = ++shared_.imports;
    }
    touches_.erase({touch.account, touch.anon});
    Touch& row =
        touch_rows_[{touch.account, touch.anon, touch.program, touch.occurred_at, touch.creator}];
    row = touch;
    row.imported = {import->second};
    if (touch_rows_.size() >= kTouchesKept) {
        flush_touches();
    }
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

/// Two nodes may learn of a shop at the same time; they must mean the same one.
void PgTxn::put_shop(const ShopRow& row) {
    static constexpr Statement kInsert{
        "INSERT INTO sluice_ledger.shops (account, shop, account_id, shop_id) "
        "VALUES ($1, $2, $3, $4) ON CONFLICT DO NOTHING"};
    RowWriter parameters;
    write_shop(row, parameters);
    connection_.send(kInsert, parameters);
    const std::optional<ShopRow> stored = shop(row.shop);
    if (!stored || stored->account != row.account || stored->shop_id != row.shop_id) {
        throw LedgerFailure(other_registry(row));
    }
}

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

void PgTxn::put_code(const CodeRow& row) {
    static constexpr Statement kUpsert{
        "INSERT INTO sluice_ledger.codes (account, digest, program, code, creator) "
        "VALUES ($1, $2, $3, $4, $5) ON CONFLICT (account, digest, program) DO UPDATE SET "
        "code = EXCLUDED.code, creator = EXCLUDED.creator"};
    pass_gate(Gate::kExclusive);
    codes_.erase({row.account, row.digest});
    RowWriter parameters;
    write_code(row, parameters);
    connection_.send(kUpsert, parameters);
}

void PgTxn::delete_code(const CodeRow& row) {
    static constexpr Statement kDelete{
        "DELETE FROM sluice_ledger.codes WHERE account = $1 AND digest = $2 AND program = $3"};
    pass_gate(Gate::kExclusive);
    codes_.erase({row.account, row.digest});
    RowWriter parameters;
    parameters.u4(row.account.value).digest(row.digest).text(row.program.view());
    connection_.send(kDelete, parameters);
}

void PgTxn::put_membership(const Membership& row) {
    static constexpr Statement kUpsert{
        "INSERT INTO sluice_ledger.memberships (account, program, creator, removed, changed_by) "
        "VALUES ($1, $2, $3, $4, $5) ON CONFLICT (account, program, creator) DO UPDATE SET "
        "removed = EXCLUDED.removed, changed_by = EXCLUDED.changed_by"};
    pass_gate(Gate::kExclusive);
    members_[{row.account, row.program, row.creator}] = row;
    RowWriter parameters;
    write_membership(row, parameters);
    connection_.send(kUpsert, parameters);
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

void PgTxn::put_command(const CommandRow& row) {
    static constexpr Statement kInsert{
        "INSERT INTO sluice_ledger.commands (node, seq, topic, actor, received_s, received_ns, ok, "
        "result) VALUES ($1, $2, $3, $4, $5, $6, $7, $8) ON CONFLICT (node, seq) DO UPDATE SET "
        "ok = EXCLUDED.ok, result = EXCLUDED.result"};
    RowWriter parameters;
    parameters.u4(node_.number);
    write_command(row, parameters);
    connection_.send(kInsert, parameters);
}

void PgTxn::put_dead_letter(const DeadLetter& letter) {
    static constexpr Statement kUpsert{
        "INSERT INTO sluice_ledger.dead (node, seq, topic, account, shop, account_id, shop_id, "
        "received_s, received_ns, reason, attempts, record, bulk_body, body_sha256) "
        "VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14) "
        "ON CONFLICT (node, seq) DO UPDATE SET reason = EXCLUDED.reason, "
        "attempts = EXCLUDED.attempts, record = EXCLUDED.record, "
        "bulk_body = EXCLUDED.bulk_body, body_sha256 = EXCLUDED.body_sha256"};
    RowWriter parameters;
    parameters.u4(node_.number);
    write_dead(letter, parameters);
    connection_.send(kUpsert, parameters);
}

void PgTxn::delete_dead_letter(SequenceNumber seq) {
    static constexpr Statement kDelete{
        "DELETE FROM sluice_ledger.dead WHERE node = $1 AND seq = $2"};
    RowWriter parameters;
    parameters.u4(node_.number).u8(seq.value);
    connection_.send(kDelete, parameters);
}

void PgTxn::put_work(const Work& work) {
    static constexpr Statement kUpsert{
        "INSERT INTO sluice_ledger.work (node, number, whole_account, account, kind, digest, "
        "after_shop, after_order, cause, cause_topic, received_s, received_ns) "
        "VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12) "
        "ON CONFLICT (node, number) DO UPDATE SET kind = EXCLUDED.kind, "
        "digest = EXCLUDED.digest, after_shop = EXCLUDED.after_shop, "
        "after_order = EXCLUDED.after_order"};
    first_work_.reset();
    RowWriter parameters;
    parameters.u4(node_.number);
    write_work(work, parameters);
    connection_.send(kUpsert, parameters);
}

void PgTxn::delete_work(std::uint64_t number) {
    static constexpr Statement kDelete{
        "DELETE FROM sluice_ledger.work WHERE node = $1 AND number = $2"};
    first_work_.reset();
    RowWriter parameters;
    parameters.u4(node_.number).u8(number);
    connection_.send(kDelete, parameters);
}

}  // namespace sluice::pg
