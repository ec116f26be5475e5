// Point reads.
#include "lmdb_store/ledger/reads.hpp"

#include <algorithm>
#include <utility>

#include "lmdb_store/ledger/keys.hpp"

namespace sluice::store {

template <class Base>
void LedgerPointReads<Base>::load_head(std::string_view node) {
    node_.head.node = node;
    if (node.empty()) {
        return;  // asks for no queue: the tables that belong to one look empty
    }
    if (const auto value = rows_.get(Table::kHeads, node)) {
        rows_.check(row_value_.decode(*value, node_), Table::kHeads);
    }
}

template <class Base>
template <class Row>
std::optional<Row> LedgerPointReads<Base>::find(Table table, const LedgerKey& key, Row row) {
    const auto value = rows_.get(table, key.view());
    if (!value) {
        return std::nullopt;
    }
    rows_.check(row_value_.decode(*value, row), table);
    return row;
}

template <class Base>
bool LedgerPointReads<Base>::load_order(const OrderKey& key, OrderState& state) {
    const auto value = rows_.get(Table::kOrders, order_key(key).view());
    if (!value) {
        return false;
    }
    state.key = key;
    rows_.check(order_value_.decode(*value, state), Table::kOrders);
    return true;
}

template <class Base>
bool LedgerPointReads<Base>::has_event(const OrderKey& key, Topic topic,
                                       const EventDigest& digest) {
    return rows_.has(Table::kEventDigests, event_digest_key(key, topic, digest).view());
}

template <class Base>
std::optional<RefundOwner> LedgerPointReads<Base>::refund_owner(AccountNumber account,
                                                                ShopNumber shop,
                                                                std::string_view refund_id) {
    const auto value = rows_.get(Table::kRefunds, refund_key(account, shop, refund_id).view());
    if (!value) {
        return std::nullopt;
    }
    RefundOwner owner;
    rows_.check(row_value_.decode_refund_owner(*value, refund_id, owner), Table::kRefunds);
    return owner;
}

template <class Base>
std::optional<Anomaly> LedgerPointReads<Base>::anomaly(const OrderKey& key, AnomalyKind kind) {
    Anomaly row;
    row.order = key;
    row.kind = kind;
    return find(Table::kAnomalies, anomaly_key(key, kind), std::move(row));
}

template <class Base>
std::vector<CodeRow> LedgerPointReads<Base>::code_owners(AccountNumber account,
                                                         const Digest256& code) {
    std::vector<CodeRow> owners;
    const LedgerKey prefix = code_prefix(account, code);
    visit_prefix(rows_, Table::kCodes, prefix.view(),
                 [&](std::string_view key, std::string_view value) {
                     CodeRow& row = owners.emplace_back();
                     row.account = account;
                     row.digest = code;
                     row.program = ProgramId(key.substr(prefix.view().size()));
                     rows_.check(row_value_.decode(value, row), Table::kCodes);
                     return true;
                 });
    return owners;
}

template <class Base>
std::optional<Membership> LedgerPointReads<Base>::membership(AccountNumber account,
                                                             const ProgramId& program,
                                                             const CreatorId& creator) {
    return find(Table::kMemberships, membership_key(account, program, creator),
                Membership{account, program, creator, false, {}});
}

template <class Base>
void LedgerPointReads<Base>::visit_touches(AccountNumber account, const Digest256& anon,
                                           const ProgramId& program, Timestamp upto,
                                           const Visitor<Touch>& visit) {
    const LedgerKey prefix = touch_program_prefix(account, anon, program);
    LedgerKey behind = prefix;
    behind.instant(upto).u8(0xFF);  // no creator id begins with it
    RowCursor cursor(rows_, Table::kTouches);
    bool found = cursor.seek(behind.view()) ? cursor.previous() : cursor.last();
    Touch touch;
    for (; found && cursor.key().starts_with(prefix.view()); found = cursor.previous()) {
        LedgerKeyParser parser(cursor.key().substr(prefix.view().size()));
        touch.account = account;
        touch.anon = anon;
        touch.program = program;
        touch.occurred_at = parser.instant();
        const std::size_t taken = prefix.view().size() + 12;
        rows_.check(parser.ok(), Table::kTouches);
        touch.creator = CreatorId(cursor.key().substr(taken));
        rows_.check(row_value_.decode(cursor.value(), touch), Table::kTouches);
        if (!visit(touch)) {
            return;
        }
    }
}

template <class Base>
std::vector<ProgramRow> LedgerPointReads<Base>::programs(AccountNumber account) {
    std::vector<ProgramRow> programs;
    LedgerKey prefix;
    prefix.u32(account.value);
    visit_prefix(rows_, Table::kAccountPrograms, prefix.view(),
                 [&](std::string_view key, std::string_view) {
                     auto row = program(ProgramId(key.substr(prefix.view().size())));
                     rows_.check(row.has_value(), Table::kAccountPrograms);
                     programs.push_back(std::move(*row));
                     return true;
                 });
    return programs;
}

template <class Base>
std::optional<CatalogKey> LedgerPointReads<Base>::find_variant(AccountNumber account,
                                                               ShopNumber shop,
                                                               std::string_view variant_sku) {
    const LedgerKey prefix = variant_prefix(account, shop, variant_sku);
    RowCursor cursor(rows_, Table::kVariants);
    if (!cursor.seek(prefix.view()) || !cursor.key().starts_with(prefix.view())) {
        return std::nullopt;
    }
    LedgerKeyParser parser(cursor.key().substr(prefix.view().size()));
    CatalogKey found{account, shop, {}, std::string(parser.code2()), std::string(parser.code2())};
    const auto whole = parser.id(kIdBytesWholeVariant);
    rows_.check(parser.complete(), Table::kVariants);
    if (whole) {
        found.product_id = ProductId(*whole);
        return found;
    }
    return lowest_cut_product(cursor, std::move(found), prefix.view());
}

/// Ids that the key had to cut sort by their digests: among those that share the beginning, the
/// lowest is found by looking at each.
template <class Base>
std::optional<CatalogKey> LedgerPointReads<Base>::lowest_cut_product(RowCursor& cursor,
                                                                     CatalogKey found,
                                                                     std::string_view prefix) {
    const std::string shared(cursor.key().substr(0, prefix.size() + 4 + kIdBytesWholeVariant + 1));
    bool more = true;
    while (more && cursor.key().starts_with(shared)) {
        ProductId product;
        rows_.check(row_value_.decode_variant(cursor.value(), product), Table::kVariants);
        if (found.product_id.empty() || product < found.product_id) {
            found.product_id = std::move(product);
        }
        more = cursor.next();
    }
    return found;
}

template <class Base>
std::vector<CatalogKey> LedgerPointReads<Base>::product_copies(AccountNumber account,
                                                               ShopNumber shop,
                                                               const ProductId& product) {
    std::vector<CatalogKey> copies;
    const LedgerKey prefix = product_prefix(account, shop, product);
    visit_prefix(rows_, Table::kCatalog, prefix.view(),
                 [&](std::string_view key, std::string_view) {
                     LedgerKeyParser parser(key.substr(prefix.view().size()));
                     CatalogKey& copy = copies.emplace_back();
                     copy = {account, shop, product, std::string(parser.code2()),
                             std::string(parser.code2())};
                     rows_.check(parser.complete(), Table::kCatalog);
                     return true;
                 });
    return copies;
}

template <class Base>
std::optional<CatalogRecord> LedgerPointReads<Base>::catalog(const CatalogKey& key) {
    CatalogRecord record;
    record.key = key;
    return find(Table::kCatalog, catalog_key(key), std::move(record));
}

template <class Base>
ChainHead LedgerPointReads<Base>::chain(AccountNumber account) {
    LedgerKey key;
    key.u32(node_.node).u32(account.value);
    return find(Table::kChains, key, ChainHead{}).value_or(ChainHead{});
}

template <class Base>
std::optional<ShopRow> LedgerPointReads<Base>::shop(ShopNumber shop) {
    LedgerKey key;
    key.u32(shop.value);
    return find(Table::kShops, key, ShopRow{{}, shop, {}, {}});
}

template <class Base>
std::optional<ProgramRow> LedgerPointReads<Base>::program_row(Table table, const LedgerKey& key,
                                                              const ProgramId& program) {
    ProgramRow row;
    row.program.id = program;
    return find(table, key, std::move(row));
}

template <class Base>
std::optional<ProgramRow> LedgerPointReads<Base>::program(const ProgramId& program) {
    LedgerKey key;
    key.bytes(program.view());
    return program_row(Table::kPrograms, key, program);
}

template <class Base>
std::optional<ProgramRow> LedgerPointReads<Base>::program_version(const ProgramId& program,
                                                                  std::uint32_t version) {
    return program_row(Table::kProgramVersions, program_version_key(program, version), program);
}

template <class Base>
std::optional<CommandRow> LedgerPointReads<Base>::command(SequenceNumber seq) {
    CommandRow row;
    row.seq = seq;
    return find(Table::kCommands, node_key(node_.node, seq.value), std::move(row));
}

template <class Base>
std::optional<DeadLetter> LedgerPointReads<Base>::dead_letter(SequenceNumber seq) {
    DeadLetter letter;
    letter.seq = seq;
    return find(Table::kDead, node_key(node_.node, seq.value), std::move(letter));
}

template <class Base>
std::optional<Balance> LedgerPointReads<Base>::balance(const BalanceKey& key) {
    return find(Table::kBalances, balance_key(key), Balance{key, {}, {}});
}

template <class Base>
std::vector<JournalGroup> LedgerPointReads<Base>::order_journal(const OrderState& state) {
    std::vector<std::uint64_t> entries = state.other_groups;
    for (const EventTrace& event : state.events) {
        entries.push_back(event.first_entry);
    }
    if (state.events_count > state.events.size()) {
        this->scan_events(state.key, [&](const EventTrace& event) {
            entries.push_back(event.first_entry);
            return true;
        });
    }
    std::sort(entries.begin(), entries.end());
    entries.erase(std::unique(entries.begin(), entries.end()), entries.end());
    std::vector<JournalGroup> groups;
    for (const std::uint64_t entry : entries) {
        if (entry == 0) {
            continue;
        }
        const auto value = rows_.get(Table::kJournal, number_key(entry).view());
        StoredGroup stored;
        stored.group.first_entry = entry;
        rows_.check(value && row_value_.decode(*value, stored) && stored.group.order == state.key,
                    Table::kJournal);
        groups.push_back(std::move(stored.group));
    }
    return groups;
}

template <class Base>
std::vector<OrderKey> LedgerPointReads<Base>::waiting_orders(const WaitKey& key,
                                                             const std::optional<OrderKey>& after,
                                                             std::size_t max) {
    std::vector<OrderKey> orders;
    const LedgerKey prefix = wait_prefix(key);
    const LedgerKey start = after ? wait_key(key, *after) : prefix;
    RowCursor cursor(rows_, Table::kWaiting);
    bool found = cursor.seek(start.view());
    if (found && after && cursor.key() == start.view()) {
        found = cursor.next();
    }
    for (; found && orders.size() < max && cursor.key().starts_with(prefix.view());
         found = cursor.next()) {
        LedgerKeyParser parser(cursor.key().substr(prefix.view().size()));
        OrderKey& order = orders.emplace_back();
        order.account = key.account;
        order.shop = {parser.u32()};
        if (const auto whole = parser.id(kIdBytesWhole)) {
            order.order_id = OrderId(*whole);
        }
        rows_.check(parser.complete() && row_value_.decode_waiting(cursor.value(), order.order_id),
                    Table::kWaiting);
    }
    return orders;
}

template <class Base>
std::optional<WaitKey> LedgerPointReads<Base>::next_waiting(const WaitKey& from) {
    RowCursor cursor(rows_, Table::kWaiting);
    if (!cursor.seek(wait_prefix(from).view())) {
        return std::nullopt;
    }
    LedgerKeyParser parser(cursor.key());
    const AccountNumber account{parser.u32()};
    const auto kind = static_cast<WaitKind>(parser.u8());
    const Digest256 digest = parser.digest();
    rows_.check(parser.ok(), Table::kWaiting);
    if (account != from.account || kind != from.kind) {
        return std::nullopt;
    }
    return WaitKey{account, kind, digest};
}

template <class Base>
std::optional<WaitKey> LedgerPointReads<Base>::next_source(const WaitKey& from) {
    const Table table = from.kind == WaitKind::kAnon ? Table::kTouches : Table::kCodes;
    LedgerKey key;
    key.u32(from.account.value).digest(from.digest);
    RowCursor cursor(rows_, table);
    if (!cursor.seek(key.view())) {
        return std::nullopt;
    }
    LedgerKeyParser parser(cursor.key());
    const AccountNumber account{parser.u32()};
    const Digest256 digest = parser.digest();
    rows_.check(parser.ok(), table);
    if (account != from.account) {
        return std::nullopt;
    }
    return WaitKey{account, from.kind, digest};
}

template class LedgerPointReads<LedgerReader>;
template class LedgerPointReads<LedgerTxn>;

}  // namespace sluice::store
