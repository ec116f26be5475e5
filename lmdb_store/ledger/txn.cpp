#include "lmdb_store/ledger/txn.hpp"

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <string>
#include <system_error>
#include <utility>

namespace sluice::store {

EmbeddedTxn::EmbeddedTxn(const Environment& env, const LedgerHandles& handles, WriteTxn txn,
                         std::string_view node, MapIsFull map_is_full)
    : TableWrites(env, handles, std::move(txn), std::move(map_is_full)) {
    load_head(node);
    adopt_node(node);
}

/// Entry numbers and the programs' revision go on over a change of the queue, so that a number
/// names one journal entry of the whole ledger.
void EmbeddedTxn::adopt_node(std::string_view node) {
    std::uint32_t nodes_count = 0;
    visit_prefix(rows_, Table::kHeads, {}, [&](std::string_view key, std::string_view value) {
        ++nodes_count;
        if (key == node) {
            return true;
        }
        NodeHead other;
        rows_.check(row_value_.decode(value, other), Table::kHeads, key);
        LedgerHead& head = node_.head;
        head.next_entry = std::max(head.next_entry, other.head.next_entry);
        head.programs_revision = std::max(head.programs_revision, other.head.programs_revision);
        return true;
    });
    if (node_.node == 0) {
        node_.node = nodes_count + 1;
    }
}

/// LMDB reports a write that the disk took only in part as an I/O error.
bool RowWrites::disk_is_full() const {
    constexpr std::uintmax_t kNextToNothing = 4U << 20;
    std::error_code unknown;
    const auto room = std::filesystem::space(rows_.folder(), unknown);
    return !unknown && room.available < kNextToNothing;
}

void RowWrites::failed(int rc, std::string_view doing, Table table) {
    if (rc == EIO && disk_is_full()) {
        rc = ENOSPC;
    }
    if (rc == MDB_MAP_FULL) {
        map_is_full_();
    }
    rows_.fail(rc, doing, table);
}

void RowWrites::write(Table table, std::string_view key, std::string_view value, unsigned flags) {
    MDB_val key_val = to_val(key);
    MDB_val value_val = to_val(value);
    const int rc = mdb_put(txn_.get(), rows_.handle(table), &key_val, &value_val, flags);
    const bool stays = rc == MDB_KEYEXIST && (flags & MDB_NOOVERWRITE) != 0;
    if (rc != 0 && !stays) {
        failed(rc, "write", table);
    }
}

void RowWrites::remove(Table table, const LedgerKey& key) {
    MDB_val key_val = to_val(key.view());
    const int rc = mdb_del(txn_.get(), rows_.handle(table), &key_val, nullptr);
    if (rc != 0 && rc != MDB_NOTFOUND) {
        failed(rc, "write", table);
    }
}

ChainHead& EmbeddedTxn::mutable_chain(AccountNumber account) {
    const auto known = chains_.find(account.value);
    if (known != chains_.end()) {
        return known->second;
    }
    return chains_.emplace(account.value, Reads::chain(account)).first->second;
}

ChainHead EmbeddedTxn::chain(AccountNumber account) {
    const auto known = chains_.find(account.value);
    return known != chains_.end() ? known->second : Reads::chain(account);
}

std::optional<Balance> EmbeddedTxn::balance(const BalanceKey& key) {
    std::optional<Balance> stored = Reads::balance(key);
    const auto delta = balances_.find(key);
    if (delta == balances_.end()) {
        return stored;
    }
    if (!stored) {
        stored.emplace().key = key;
    }
    stored->total = stored->total + delta->second.total;
    stored->paid = stored->paid + delta->second.paid;
    return stored;
}

void EmbeddedTxn::scan_balances(const Visitor<Balance>& visit) {
    flush_balances();
    Reads::scan_balances(visit);
}

void EmbeddedTxn::put(const ShopRow& row) {
    put_row(row);
    LedgerKey by_id;
    by_id.bytes(row.shop_id.view()).end().u32(row.shop.value);
    write(Table::kShopIds, by_id, {});
}

void EmbeddedTxn::put_order(const OrderState& state) {
    write(Table::kOrders, order_key(state.key), order_value_.encode(state));
}

void EmbeddedTxn::put_event(const OrderKey& key, const EventTrace& event) {
    write(Table::kEvents, event_key(key, event.seq), row_value_.encode_event(key, event));
    write(Table::kEventDigests, event_digest_key(key, event.topic, event.digest), {});
}

void EmbeddedTxn::append_journal(const JournalGroup& group) {
    // An entry that is there already, or one behind the last, must never be changed.
    write(Table::kJournal, number_key(group.first_entry).view(),
          row_value_.encode(group, node_.node), MDB_APPEND);
    for (const JournalLine& line : group.lines) {
        const BalanceKey key{group.order.account, group.program, group.creator, line.currency};
        Delta& delta = balances_[key];
        delta.unbalanced = delta.unbalanced + line.amount;
    }
}

void EmbeddedTxn::add_to_balance(const BalanceKey& key, const Decimal& total, const Decimal& paid) {
    Delta& delta = balances_[key];
    delta.total = delta.total + total;
    delta.paid = delta.paid + paid;
    delta.unbalanced = delta.unbalanced - total;
}

/// How much is open stands in the order: a row that is there stays as it is.
void EmbeddedTxn::put(const OpenAmount& row) {
    write(Table::kOpen, key_of(row).view(), row_value_.encode(row), MDB_NOOVERWRITE);
}

void EmbeddedTxn::put_program(const ProgramRow& row) {
    const std::string value(row_value_.encode(row));
    write(Table::kPrograms, row.program.id.view(), value);
    write(Table::kProgramVersions, program_version_key(row.program.id, row.version), value);
    LedgerKey by_account;
    by_account.u32(row.program.account.value).bytes(row.program.id.view());
    write(Table::kAccountPrograms, by_account, {});
}

void EmbeddedTxn::delete_variants(const CatalogRecord& old,
                                  const std::set<std::string_view>& kept) {
    for (const std::string& variant : old.variant_skus) {
        if (kept.count(variant) == 0) {
            remove(Table::kVariants, variant_key(old.key, variant));
        }
    }
}

void EmbeddedTxn::put_catalog(const CatalogRecord& record, const CatalogRecord* old) {
    std::set<std::string_view> before;
    if (old != nullptr) {
        delete_variants(*old, {record.variant_skus.begin(), record.variant_skus.end()});
        before.insert(old->variant_skus.begin(), old->variant_skus.end());
    }
    for (const std::string& variant : record.variant_skus) {
        if (before.count(variant) == 0) {
            write(Table::kVariants, variant_key(record.key, variant),
                  row_value_.encode_variant(record.key.product_id));
        }
    }
    write(Table::kCatalog, catalog_key(record.key), row_value_.encode(record));
}

void EmbeddedTxn::delete_catalog(const CatalogRecord& old) {
    delete_variants(old, {});
    remove(Table::kCatalog, catalog_key(old.key));
}

void EmbeddedTxn::put_payout(const Payout& payout) {
    RowCursor cursor(rows_, Table::kPayouts);
    const std::uint64_t last = cursor.last() ? LedgerKeyParser(cursor.key()).u64() : 0;
    write(Table::kPayouts, number_key(last + 1), row_value_.encode(payout));
}

void RowWrites::commit_rows() {
    if (const int rc = txn_.commit(); rc != 0) {
        failed(rc, "commit", Table::kHeads);
    }
}

void EmbeddedTxn::check_sums() const {
    for (const auto& [key, delta] : balances_) {
        if (!delta.unbalanced.is_zero()) {
            throw LedgerFailure(
                {ErrorCode::kInternal, "the journal and the balance of creator " +
                                           key.creator.str() + " in program " + key.program.str() +
                                           " do not agree: nothing of this batch was stored"});
        }
    }
}

void EmbeddedTxn::flush_balances() {
    for (auto& [key, delta] : balances_) {
        Balance row = Reads::balance(key).value_or(Balance{key, {}, {}});
        row.total = row.total + delta.total;
        row.paid = row.paid + delta.paid;
        write(Table::kBalances, balance_key(key), row_value_.encode(row));
        delta.total = delta.paid = Decimal();
    }
}

void EmbeddedTxn::flush_chains() {
    for (const auto& [account, chain] : chains_) {
        LedgerKey key;
        key.u32(node_.node).u32(account);
        write(Table::kChains, key, row_value_.encode(chain));
    }
}

void EmbeddedTxn::flush_head() {
    write(Table::kHeads, node_.head.node, row_value_.encode(node_));
}

void EmbeddedTxn::commit() {
    check_sums();
    flush_balances();
    flush_chains();
    flush_head();
    commit_rows();
}

}  // namespace sluice::store
