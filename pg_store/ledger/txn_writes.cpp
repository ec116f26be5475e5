// Writes: frequent ones are kept and written together, rare ones are sent at once.

#include <algorithm>

#include "core/journal/journal.hpp"
#include "core/ledger/account_rows.hpp"
#include "pg_store/ledger/txn.hpp"

namespace sluice::pg {
namespace {

/// A longer journal is written before the rest of its transaction.
constexpr std::size_t kJournalBytesMax = 16U << 20;

Error other_registry(const ShopRow& wanted) {
    return {ErrorCode::kConflict,
            "shop " + wanted.shop_id.str() + " of account " + wanted.account_id.str() +
                " has another number in the ledger than in this store: its registry is not the "
                "one of this ledger. Nothing was applied"};
}

}  // namespace

// ---- Kept ---------------------------------------------------------------------------------------

void PgTxn::put_order(const OrderState& state) {
    pump_now_and_then();
    CachedOrder& order = cached(state.key);
    order.state = state;
    order.exists = order.changed = true;
    order.only_allocated = false;
}

void PgTxn::put_allocated(const OrderState& state) {
    CachedOrder& order = cached(state.key);
    order.state = state;
    order.only_allocated = order.stored && (order.only_allocated || !order.changed);
    order.changed = true;
}

/// Adds up the entries separately, so that commit() detects a wrong balance.
void PgTxn::append_journal(const JournalGroup& group) {
    forget_journal(group);
    if (journal_.view().size() > kJournalBytesMax) {
        flush_journal();
    }
    journal_.begin_copy_row(kJournalColumnsCount);
    write_journal(group, head_.number, journal_);
    for (const JournalEntry& entry : group.entries) {
        if (!is_memo(entry.reason)) {
            balances_[{group.account, group.program, group.creator, entry.currency}].journal +=
                change_by(entry);
        }
    }
}

void PgTxn::add_to_balance(const Balance& change) {
    Delta& delta = balances_[change.key];
    delta.unwritten += change;
    delta.added += change;
    delta.changed = true;
}

// ---- Described tables --------------------------------------------

/// Two nodes may insert a shop at the same time. Both must have the same ids for its number.
void PgTxn::put_shop(const ShopRow& row) {
    static const Statement kInsert =
        kept_statement(sql_of<ShopRow>().insert_new() + " ON CONFLICT DO NOTHING");
    RowArrays arrays(sql_of<ShopRow>().all());
    arrays.add_row(row, head_.number);
    connection_.send(kInsert, arrays.parameters());
    ShopRow stored{.shop = row.shop};
    if (!Reads::load_row(stored) || stored.account != row.account ||
        stored.shop_id != row.shop_id) {
        throw LedgerFailure(other_registry(row));
    }
    know(stored, true);
}

/// The exclusive lock keeps other nodes' batches from missing a row that attributes, or one that
/// every batch keeps in memory as of the shared revision.
void PgTxn::put_row(RowView row) {
    if (row.is<ShopRow>()) {
        return put_shop(row.as<ShopRow>());
    }
    if (row.is<Membership>() || row.is<ProgramHead>() || row.is<AccountRow>()) {
        take_lock(WriterLock::kExclusive);
    }
    forget_cached(row, true);
    KeptTables::put_row(row);
    if (row.is<DeadLetter>()) {
        flush_table(row.table());  // bodies may be large: they are not held together
    }
}

bool PgTxn::is_of_new_order(RowView row) const {
    const auto is_new = [this](const OrderKey& key) {
        const auto known = orders_.find(key);
        return known != orders_.end() && known->second.is_new;
    };
    const auto is_row_of_new = [&](const auto& of) {
        return is_new({of.account, of.shop, of.order_id});
    };
    if (row.is<OpenAmount>()) {
        return is_row_of_new(row.as<OpenAmount>());
    }
    if (row.is<OrderByCode>()) {
        return is_row_of_new(row.as<OrderByCode>());
    }
    if (row.is<OrderByNumber>()) {
        return is_row_of_new(row.as<OrderByNumber>());
    }
    if (row.is<WaitingOrder>()) {
        const WaitingOrder& waiting = row.as<WaitingOrder>();
        return is_new({waiting.key.account, waiting.shop, waiting.order_id});
    }
    return false;
}

void PgTxn::erase_row(RowView row) {
    forget_cached(row, false);
    KeptTables::erase_row(row);
}

/// Keeps the clicks of an id that were read as they are now.
void PgTxn::keep_click(const Click& click, bool exists) {
    constexpr std::size_t kClicksKept = 512;
    const auto known = clicks_.find({click.account, click.anon});
    if (known == clicks_.end()) {
        return;
    }
    std::vector<Click>& clicks = known->second;
    std::erase_if(clicks, [&click](const Click& other) {
        return other.program == click.program && other.occurred_at == click.occurred_at &&
               other.creator == click.creator;
    });
    if (exists) {
        const auto earlier = std::ranges::find_if(
            clicks, [&](const Click& other) { return other.occurred_at < click.occurred_at; });
        clicks.insert(earlier, click);
    }
    if (clicks.size() > kClicksKept) {
        crowded_.insert(known->first);
        clicks_.erase(known);
    }
}

void PgTxn::keep_first_click(const ClickByReceipt& click, bool exists) {
    const auto known = first_clicks_.find(click.account);
    if (known == first_clicks_.end()) {
        return;
    }
    if (!exists) {
        first_clicks_.erase(known);
    } else if (!known->second || sort_key(click) < sort_key(*known->second)) {
        known->second = click;
    }
}

/// @param exists  The row is put, not erased.
void PgTxn::forget_cached(RowView row, bool exists) {
    if (row.is<CodeRow>()) {
        take_lock(WriterLock::kExclusive);
        codes_.erase({row.as<CodeRow>().account, row.as<CodeRow>().digest});
    } else if (row.is<Click>()) {
        take_lock(WriterLock::kExclusive);
        keep_click(row.as<Click>(), exists);
    } else if (row.is<ClickByReceipt>()) {
        keep_first_click(row.as<ClickByReceipt>(), exists);
    } else if (row.is<WaitingOrder>()) {
        quiet_.erase(row.as<WaitingOrder>().key);
    } else if (row.is<Work>()) {
        first_work_.reset();
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

/// Replaces an event that is stored already (O5).
void PgTxn::put_event(const OrderKey& key, const EventTrace& event) {
    static constexpr Statement kUpsert{
        "INSERT INTO sluice_ledger.events (account, shop, order_id, seq, received_s, received_ns, "
        "topic, digest, event) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9) "
        "ON CONFLICT (account, shop, order_id, seq, received_s, received_ns, topic) "
        "DO UPDATE SET digest = EXCLUDED.digest, event = EXCLUDED.event"};
    RowWriter parameters;
    parameters.u4(key.account.value).u4(key.shop.value).text(key.order_id.view());
    parameters.u8(event.seq.value).instant(event.received_at);
    parameters.i2(static_cast<std::int16_t>(event.topic)).digest(event.digest);
    parameters.bytes(pack_events(&event, 1));
    connection_.send(kUpsert, parameters);
}

}  // namespace sluice::pg
