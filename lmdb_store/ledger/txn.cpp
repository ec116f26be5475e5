#include "lmdb_store/ledger/txn.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include "core/journal/journal.hpp"
#include "core/ledger/list_rows.hpp"
#include "core/positions/open_amounts.hpp"

namespace sluice::store {
namespace {

template <Described Row>
constexpr Table kTableOf = static_cast<Table>(kOwnTables.size() + kTableNumber<Row>);

/// The indexes whose keys do not follow the order of receipt.
constexpr bool is_deferred(Table table) noexcept {
    return table == Table::kCreatorJournal || table == kTableOf<OrderByCreator> ||
           table == kTableOf<OrderByCode> || table == kTableOf<OrderByNumber>;
}

/// Two batches: rows that were written less long ago share pages.
constexpr std::uint64_t kInputsApart = 20'000;
/// Without the order's key. A longer change is written into the row of its order.
constexpr std::size_t kChangeBytesMax = 512;

}  // namespace

EmbeddedTxn::EmbeddedTxn(const LedgerTables& tables, WriteTxn txn, std::string_view node,
                         MapIsFull map_is_full)
    : WriteHolder{{std::move(txn)}},
      Reads(RowAccess(tables, txn_, &cursors_)),
      map_is_full_(std::move(map_is_full)) {
    load_head(node);
    adopt_node();
    next_entry_ = node_.head.next_entry;
}

/// Assigns the next number to a new queue. Heads are never removed, so no number is used twice.
void EmbeddedTxn::adopt_node() {
    if (node_.node == 0) {
        node_.node = nodes_.empty() ? 1 : nodes_.rbegin()->first + 1;
        node_.head.number = node_.node;
        nodes_.emplace(node_.node, node_.head.node);
    }
}

void EmbeddedTxn::failed(int rc, std::string_view doing, Table table) {
    if (rc == MDB_MAP_FULL) {
        map_is_full_();
    }
    rows_.fail(rc, doing, table);
}

void EmbeddedTxn::write(Table table, std::string_view key, std::string_view value) {
    const int rc = rows_.kept_cursor(table).put(to_val(key), to_val(value));
    if (rc != 0) {
        failed(rc, "write", table);
    }
}

void EmbeddedTxn::remove(Table table, std::string_view key) {
    if (key.empty()) {
        return;  // LMDB has no such keys, and returns an error
    }
    // The cursor may stand on the deleted row, or on its page.
    cursors_[static_cast<std::size_t>(table)].cursor().close();
    MDB_val key_val = to_val(key);
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
    const auto found = balances_.find(key);
    if (found == balances_.end()) {
        return stored;
    }
    if (!stored) {
        stored.emplace().key = key;
    }
    *stored += found->second.unwritten;
    return stored;
}

void EmbeddedTxn::settle(Table table) {
    if (table == Table::kBalances) {
        flush_balances();
    } else if (table == Table::kChains) {
        flush_chains();
    } else if (table == Table::kHeads) {
        flush_head();
    } else if (table == kOpenRows) {
        write_held();
    } else if (is_deferred(table)) {
        flush_deferred();
    }
}

std::vector<CodeRow> EmbeddedTxn::code_owners(AccountNumber account, const Digest256& code) {
    LedgerKey key;
    key.u32(account.value).digest(code);
    return code_owners_.get(key.view(), [&] { return Reads::code_owners(account, code); });
}

bool EmbeddedTxn::load_membership(Membership& row) {
    const LedgerKey key = row_key(row);
    const std::optional<Membership>& stored =
        memberships_.get(key.view(), [&]() -> std::optional<Membership> {
            return Reads::load_row(row) ? std::optional(row) : std::nullopt;
        });
    if (stored) {
        row = *stored;
    }
    return stored.has_value();
}

void EmbeddedTxn::put_deferred(Table table, const LedgerKey& key, std::string_view value) {
    deferred_.put(table, key.view(), value);
    if (deferred_.is_full()) {
        flush_deferred();
    }
}

void EmbeddedTxn::flush_deferred() {
    deferred_.take([this](Table table, std::string_view key,
                          std::string_view value) { write(table, key, value); },
                   [this](Table table, std::string_view key) { remove(table, key); });
}

bool EmbeddedTxn::load_row(RowRef row) {
    return row.is<Membership>() ? load_membership(row.as<Membership>()) : Reads::load_row(row);
}

/// Called when a row of `table` is written.
void EmbeddedTxn::forget_read(const DescribedTable& table) {
    if (table.number == kTableNumber<CodeRow>) {
        code_owners_.forget();
    } else if (table.number == kTableNumber<Membership>) {
        memberships_.forget();
    }
}

void EmbeddedTxn::put_row(RowView row) {
    forget_read(row.table());
    const Table table = stored_in(row.table());
    CutTexts cut;
    const LedgerKey key = row_key(row, cut, node_.node);
    const std::string_view value = row_value_.encode(key.view(), cut, row);
    if (is_deferred(table)) {
        put_deferred(table, key, value);
        return;
    }
    if (row.is<OpenAmount>() && row.as<OpenAmount>().shop.value != 0) {
        hold_open(row.as<OpenAmount>(), key.view(), value);
        return;
    }
    write(table, key, value);
    if (row.is<ShopRow>()) {
        write(Table::kShopIds, shop_id_key(row.as<ShopRow>()), {});
    }
}

void EmbeddedTxn::erase_row(RowView row) {
    forget_read(row.table());
    const Table table = stored_in(row.table());
    if (is_deferred(table)) {
        deferred_.erase(table, key_of(row).view());
        return;
    }
    const LedgerKey key = key_of(row);
    if (table == kOpenRows) {
        held_.forget(key.view());
    }
    remove(table, key);
    if (row.is<ShopRow>()) {
        remove(Table::kShopIds, shop_id_key(row.as<ShopRow>()));
    }
}

void EmbeddedTxn::hold_open(const OpenAmount& row, std::string_view key, std::string_view value) {
    const OrderKey order{row.account, row.shop, row.order_id};
    if (!held_.takes(order)) {
        write_held();
    }
    held_.hold(order, key, value);
}

void EmbeddedTxn::write_held() {
    held_.take(
        [this](std::string_view key, std::string_view value) { write(kOpenRows, key, value); });
}

/// Writes the rows of an order with a change that the table lacks. The others follow the order.
void EmbeddedTxn::leave_held(const OrderKey& order) {
    if (!held_.takes(order)) {
        write_held();
        return;
    }
    held_.take([this](std::string_view key, std::string_view value) {
        if (!rows_.has(kOpenRows, key)) {
            write(kOpenRows, key, value);
        }
    });
}

/// Writes the rows of an order that had a change and has none now.
void EmbeddedTxn::write_open(const OrderState& state) {
    for (const OpenAmount& row : open_amounts(state)) {
        put_row(row);
    }
}

void EmbeddedTxn::put_order(const OrderState& state) {
    const LedgerKey key = order_key(state.key);
    erase_change(key.view(), order_rows_.change_when_read(rows_, key.view(), state.key), state);
    write_held();
    write(Table::kOrders, key, order_value_.encode(key.view(), state));
}

void EmbeddedTxn::put_updated(const OrderState& state) {
    const LedgerKey key = order_key(state.key);
    const std::string_view value = order_value_.encode(key.view(), state);
    if (state.events_count > 1) {
        const auto change = order_rows_.change_when_read(rows_, key.view(), state.key);
        if (put_change(key.view(), change, value, state)) {
            leave_held(state.key);
            return;
        }
        erase_change(key.view(), change, state);
    }
    write_held();
    write(Table::kOrders, key, value);
}

/// Returns whether an order had no event for so long that its row shares no page with rows that
/// this batch writes. It depends on the log alone.
bool EmbeddedTxn::was_changed_long_ago(const OrderState& state) const {
    const std::uint64_t applied = node_.head.applied_seq.value;
    for (auto event = state.events.rbegin(); event != state.events.rend(); ++event) {
        if (event->node != node_.node) {
            return false;  // the numbers of two queues do not compare
        }
        if (event->seq.value <= applied) {
            return applied - event->seq.value >= kInputsApart;
        }
    }
    return false;
}

std::uint64_t EmbeddedTxn::next_change() {
    MDB_val key{};
    MDB_val value{};
    const int rc = rows_.kept_cursor(Table::kOrderChanges).cursor().read(key, value, MDB_LAST);
    if (rc != 0 && rc != MDB_NOTFOUND) {
        failed(rc, "read", Table::kOrderChanges);
    }
    return rc == 0 ? LedgerKeyParser(to_view(key)).u64() + 1 : 1;
}

namespace {

/// Returns whether two rows have the same personal data. A forget searches the present values of
/// orders: other personal data must not stay in a row.
bool same_person(const OrderState& a, const OrderState& b) {
    return a.customer == b.customer && a.device == b.device && a.numbers == b.numbers &&
           a.confirmation_number == b.confirmation_number;
}

}  // namespace

/// Returns false if the row has to be written again instead.
/// @param known  The change that there is.
bool EmbeddedTxn::put_change(std::string_view key, std::optional<std::uint64_t> known,
                             std::string_view next, const OrderState& state) {
    if (!known && !was_changed_long_ago(state)) {
        return false;
    }
    const auto stored = rows_.get(Table::kOrders, key);
    if (!stored || std::max(stored->size(), next.size()) > kDeltaOfBytesMax) {
        return false;
    }
    base_.key = state.key;
    rows_.check(order_value_.decode(key, *stored, base_), Table::kOrders, state.key);
    const ChangedKey changed = changed_key(key);
    if (!same_person(base_, state) ||
        (!known && rows_.has(Table::kChangedOrders, view_of(changed)))) {
        return false;
    }
    const std::uint64_t number = known ? *known : next_change();
    const ChangeKey place = change_key(number);
    const std::string_view change = change_value_.encode(place, key, *stored, next);
    if (change.size() > kChangeBytesMax + key.size()) {
        return false;
    }
    write(Table::kOrderChanges, view_of(place), change);
    if (!known) {
        order_rows_.forget_read();
        write(Table::kChangedOrders, view_of(changed), change_value_.encode_place(changed, number));
    }
    return true;
}

/// @param state  The order, which is then written into its row.
void EmbeddedTxn::erase_change(std::string_view key, std::optional<std::uint64_t> number,
                               const OrderState& state) {
    if (number) {
        order_rows_.forget_read();
        write_open(state);
        remove(Table::kOrderChanges, view_of(change_key(*number)));
        remove(Table::kChangedOrders, view_of(changed_key(key)));
    }
}

/// Deletes the stored event's duplicate-detection digest if the event changes.
void EmbeddedTxn::forget_digest(const OrderKey& order, const EventTrace& event) {
    const LedgerKey key = event_key(order, event);
    const auto value = rows_.get(Table::kEvents, key.view());
    if (!value) {
        return;
    }
    OrderKey stored_order = order;
    EventTrace stored;
    rows_.check(RowValue::decode_event(key.view(), *value, stored_order, stored), Table::kEvents,
                key.view(), order);
    if (stored.digest != event.digest || stored.topic != event.topic) {
        remove(Table::kEventDigests, event_digest_key(order, stored.topic, stored.digest));
    }
}

void EmbeddedTxn::put_event(const OrderKey& key, const EventTrace& event) {
    forget_digest(key, event);
    const LedgerKey place = event_key(key, event);
    write(Table::kEvents, place, row_value_.encode_event(place.view(), key, event));
    if (event.digest != EventDigest{}) {
        write(Table::kEventDigests, event_digest_key(key, event.topic, event.digest), {});
    }
}

void EmbeddedTxn::append_journal(const JournalGroup& group) {
    // An entry that exists must never be changed.
    if (group.node != node_.head.node || group.first_entry < next_entry_ || group.entries.empty()) {
        throw LedgerFailure(
            {ErrorCode::kInternal, "journal entry " + std::to_string(group.first_entry) +
                                       " is not the next one: nothing of this batch was stored"});
    }
    next_entry_ = group.first_entry + group.entries.size();
    const LedgerKey key = journal_key(node_.node, group.first_entry);
    write(Table::kJournal, key, row_value_.encode(key.view(), group));
    if (!group.creator.empty()) {
        put_deferred(Table::kCreatorJournal, dated_key(group, node_.node), {});
    }
    count_unbalanced(group);
}

/// Looks a balance up once for all postings of one currency, which follow one another.
void EmbeddedTxn::count_unbalanced(const JournalGroup& group) {
    BalanceKey key{group.account, group.program, group.creator, {}};
    Delta* delta = nullptr;
    for (const JournalEntry& entry : group.entries) {
        if (is_memo(entry.reason)) {
            continue;
        }
        if (delta == nullptr || key.currency != entry.currency) {
            key.currency = entry.currency;
            delta = &delta_of(key);
        }
        delta->unbalanced += change_by(entry);
    }
}

/// Mostly the last one again, because a group and its balance change come together.
EmbeddedTxn::Delta& EmbeddedTxn::delta_of(const BalanceKey& key) {
    if (last_balance_ == nullptr || last_balance_->first != key) {
        last_balance_ = &*balances_.try_emplace(key).first;
    }
    return last_balance_->second;
}

void EmbeddedTxn::add_to_balance(const Balance& change) {
    Delta& delta = delta_of(change.key);
    delta.unwritten += change;
    delta.unbalanced -= change;
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
            const LedgerKey key = variant_key(record.key, variant);
            write(Table::kVariants, key,
                  row_value_.encode_variant(key.view(), record.key.product_id));
        }
    }
    const LedgerKey key = catalog_key(record.key);
    write(Table::kCatalog, key, row_value_.encode(key.view(), record));
}

void EmbeddedTxn::delete_catalog(const CatalogRecord& old) {
    delete_variants(old, {});
    remove(Table::kCatalog, catalog_key(old.key));
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
    for (auto& [balance, delta] : balances_) {
        Balance part = balance_part(balance);
        part += delta.unwritten;
        const LedgerKey key = balance_prefix(balance).u32(node_.node);
        write(Table::kBalances, key, row_value_.encode(key.view(), part));
        delta.unwritten = {};
    }
}

void EmbeddedTxn::flush_sums() {
    sums_.take([this](RowView sum) { LedgerTxn::add_row(sum); });
}

void EmbeddedTxn::flush_chains() {
    for (const auto& [account, chain] : chains_) {
        if (chain.entries == 0) {
            continue;
        }
        LedgerKey key;
        key.u32(node_.node).u32(account);
        write(Table::kChains, key, row_value_.encode(key.view(), chain));
    }
}

void EmbeddedTxn::flush_head() {
    const std::string& key = node_.head.node;
    write(Table::kHeads, key, row_value_.encode(key, node_));
}

void EmbeddedTxn::commit() {
    check_sums();
    write_held();
    flush_deferred();
    flush_balances();
    flush_sums();
    flush_chains();
    flush_head();
    cursors_ = {};
    if (const int rc = txn_.commit(); rc != 0) {
        failed(rc, "commit", Table::kHeads);
    }
}

}  // namespace sluice::store
