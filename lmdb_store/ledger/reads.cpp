// Point reads.
#include "lmdb_store/ledger/reads.hpp"

#include <algorithm>
#include <utility>

#include "lmdb_store/ledger/keys.hpp"

namespace sluice::store {

void RowReads::load_head(std::string_view node) {
    node_.head.node = node;
    if (node.empty()) {
        return;  // asks for no queue: the tables that belong to one look empty
    }
    if (const auto value = rows_.get(Table::kHeads, node)) {
        rows_.check(row_value_.decode(*value, node_), Table::kHeads, node);
    }
}

/// What the order says of the row: whom, and how much.
void RowReads::complete(OpenAmount& row) {
    const auto value =
        rows_.get(Table::kOrders, order_key({row.account, row.shop, row.order_id}).view());
    check_row(value && order_value_.decode_open(*value, row), row);
}

template <class Row>
std::optional<Row> Reads::find(Table table, const LedgerKey& key, Row row) {
    const auto value = rows_.get(table, key.view());
    if (!value) {
        return std::nullopt;
    }
    rows_.check(row_value_.decode(*value, row), table, key.view());
    return row;
}

bool Reads::load_order(const OrderKey& key, OrderState& state) {
    const auto value = rows_.get(Table::kOrders, order_key(key).view());
    if (!value) {
        return false;
    }
    state.key = key;
    rows_.check(order_value_.decode(*value, state), Table::kOrders, key);
    return true;
}

bool Reads::has_event(const OrderKey& key, Topic topic, const EventDigest& digest) {
    return rows_.has(Table::kEventDigests, event_digest_key(key, topic, digest).view());
}

void Reads::visit_touches(AccountNumber account, const Digest256& anon, const ProgramId& program,
                          Timestamp upto, const Visitor<Touch>& visit) {
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
        rows_.check(parser.ok(), Table::kTouches, cursor.key());
        touch.creator = CreatorId(cursor.key().substr(taken));
        rows_.check(row_value_.decode(cursor.value(), touch), Table::kTouches, cursor.key());
        if (!visit(touch)) {
            return;
        }
    }
}

std::vector<ProgramRow> Reads::programs(AccountNumber account) {
    std::vector<ProgramRow> programs;
    LedgerKey prefix;
    prefix.u32(account.value);
    visit_prefix(rows_, Table::kAccountPrograms, prefix.view(),
                 [&](std::string_view key, std::string_view) {
                     auto row = program(ProgramId(key.substr(prefix.view().size())));
                     rows_.check(row.has_value(), Table::kAccountPrograms, key);
                     programs.push_back(std::move(*row));
                     return true;
                 });
    return programs;
}

std::optional<CatalogKey> Reads::find_variant(AccountNumber account, ShopNumber shop,
                                              std::string_view variant_sku) {
    const LedgerKey prefix = variant_prefix(account, shop, variant_sku);
    RowCursor cursor(rows_, Table::kVariants);
    if (!cursor.seek(prefix.view()) || !cursor.key().starts_with(prefix.view())) {
        return std::nullopt;
    }
    LedgerKeyParser parser(cursor.key().substr(prefix.view().size()));
    CatalogKey found{account, shop, {}, std::string(parser.code2()), std::string(parser.code2())};
    const auto whole = parser.id(kIdBytesWholeVariant);
    rows_.check(parser.complete(), Table::kVariants, cursor.key());
    if (whole) {
        found.product_id = ProductId(*whole);
        return found;
    }
    return lowest_cut_product(cursor, std::move(found), prefix.view());
}

/// Ids that the key had to cut sort by their digests: among those that share the beginning, the
/// lowest is found by looking at each.
std::optional<CatalogKey> Reads::lowest_cut_product(RowCursor& cursor, CatalogKey found,
                                                    std::string_view prefix) {
    const std::string shared(cursor.key().substr(0, prefix.size() + 4 + kIdBytesWholeVariant + 1));
    bool more = true;
    while (more && cursor.key().starts_with(shared)) {
        ProductId product;
        rows_.check(row_value_.decode_variant(cursor.value(), product), Table::kVariants,
                    cursor.key());
        if (found.product_id.empty() || product < found.product_id) {
            found.product_id = std::move(product);
        }
        more = cursor.next();
    }
    return found;
}

std::vector<CatalogKey> Reads::product_copies(AccountNumber account, ShopNumber shop,
                                              const ProductId& product) {
    std::vector<CatalogKey> copies;
    const LedgerKey prefix = product_prefix(account, shop, product);
    visit_prefix(rows_, Table::kCatalog, prefix.view(),
                 [&](std::string_view key, std::string_view) {
                     LedgerKeyParser parser(key.substr(prefix.view().size()));
                     CatalogKey& copy = copies.emplace_back();
                     copy = {account, shop, product, std::string(parser.code2()),
                             std::string(parser.code2())};
                     rows_.check(parser.complete(), Table::kCatalog, key);
                     return true;
                 });
    return copies;
}

std::optional<CatalogRecord> Reads::catalog(const CatalogKey& key) {
    CatalogRecord record;
    record.key = key;
    return find(Table::kCatalog, catalog_key(key), std::move(record));
}

ChainHead Reads::chain(AccountNumber account) {
    LedgerKey key;
    key.u32(node_.node).u32(account.value);
    return find(Table::kChains, key, ChainHead{}).value_or(ChainHead{});
}

std::optional<ProgramRow> Reads::program_row(Table table, const LedgerKey& key,
                                             const ProgramId& program) {
    ProgramRow row;
    row.program.id = program;
    return find(table, key, std::move(row));
}

std::optional<ProgramRow> Reads::program(const ProgramId& program) {
    LedgerKey key;
    key.bytes(program.view());
    return program_row(Table::kPrograms, key, program);
}

std::optional<ProgramRow> Reads::program_version(const ProgramId& program, std::uint32_t version) {
    return program_row(Table::kProgramVersions, program_version_key(program, version), program);
}

std::optional<Balance> Reads::balance(const BalanceKey& key) {
    return find(Table::kBalances, balance_key(key), Balance{key, {}, {}});
}

std::vector<JournalGroup> Reads::order_journal(const OrderState& state) {
    std::vector<std::uint64_t> entries = state.other_groups;
    for (const EventTrace& event : state.events) {
        entries.push_back(event.first_entry);
    }
    if (state.events_count > state.events.size()) {
        scan_events(state.key, [&](const EventTrace& event) {
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
                    Table::kJournal, number_key(entry).view(), state.key);
        groups.push_back(std::move(stored.group));
    }
    return groups;
}

}  // namespace sluice::store
