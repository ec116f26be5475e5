// Point reads.
#include "lmdb_store/ledger/reads.hpp"

#include <algorithm>
#include <utility>

#include "lmdb_store/rows/keys.hpp"

namespace sluice::store {

/// All nodes share the programs' revision: it is the highest of all.
void Reads::load_head(std::string_view node) {
    node_.head.node = node;
    std::uint64_t revision = 0;
    NodeHead other;
    visit_prefix(rows_, Table::kHeads, {}, [&](std::string_view key, std::string_view value) {
        rows_.check(
            RowValue::decode(key, value, other) && nodes_.try_emplace(other.node, key).second,
            Table::kHeads, key);
        revision = std::max(revision, other.head.programs_revision);
        if (key == node) {
            node_ = other;
        }
    });
    node_.head.programs_revision = revision;
}

// ---- Described rows -----------------------------------------------------------------------------

bool Reads::load_row(RowRef row) {
    settle(stored_in(row.table()));
    CutTexts cut;
    const LedgerKey key = row_key(row, cut, node_.node);
    const auto value = rows_.get(stored_in(row.table()), key.view());
    if (value && !RowValue::decode(key.view(), cut, *value, row)) {
        rows_.damaged(row_name(row), order_of(row));
    }
    if (value) {
        follow_order(row);
    }
    return value.has_value();
}

bool Reads::decode_row(std::string_view key, std::string_view value, RowRef row) {
    CutTexts cut;
    rows_.check(read_row_key(key, row, cut), stored_in(row.table()), key, order_of(row));
    if (!RowValue::decode(key, cut, value, row)) {
        rows_.damaged(row_name(row), order_of(row));
    }
    return cut.which != 0;
}

void Reads::follow_order(RowRef row) {
    if (row.is<OpenAmount>()) {
        open_rows_.follow(rows_, row.as<OpenAmount>());
    }
}

// ---- Other rows -------------------------------------------------------------------------------

template <class Row>
std::optional<Row> Reads::find(Table table, const LedgerKey& key, Row row) {
    const auto value = rows_.get(table, key.view());
    if (!value) {
        return std::nullopt;
    }
    rows_.check(RowValue::decode(key.view(), *value, row), table, key.view());
    return row;
}

bool Reads::load_order(const OrderKey& key, OrderState& state) {
    const LedgerKey place = order_key(key);
    const auto value = order_rows_.get(rows_, place.view(), key);
    if (!value) {
        return false;
    }
    state.key = key;
    rows_.check(order_value_.decode(place.view(), *value, state), Table::kOrders, key);
    return true;
}

bool Reads::has_event(const OrderKey& key, Topic topic, const EventDigest& digest) {
    return rows_.has(Table::kEventDigests, event_digest_key(key, topic, digest).view());
}

void Reads::visit_clicks(AccountNumber account, const Digest256& anon, const ProgramId& program,
                         Timestamp upto, const Visitor<Click>& visit) {
    const LedgerKey prefix = account_prefix(account).digest(anon).bytes(program.view()).end();
    LedgerKey behind = prefix;
    behind.instant(upto).u8(0xFF);  // no creator id begins with it
    RowCursor cursor(rows_, stored_in(table_of<Click>()));
    bool found = cursor.seek(behind.view()) ? cursor.previous() : cursor.last();
    Click click;
    for (; found && cursor.key().starts_with(prefix.view()); found = cursor.previous()) {
        (void)decode_row(cursor.key(), cursor.value(), click);
        if (!visit(click)) {
            return;
        }
    }
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
        rows_.check(RowValue::decode_variant(cursor.key(), cursor.value(), product),
                    Table::kVariants, cursor.key());
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
                 });
    return copies;
}

std::optional<CatalogRecord> Reads::catalog(const CatalogKey& key) {
    CatalogRecord record{.key = key};
    return find(Table::kCatalog, catalog_key(key), std::move(record));
}

ChainHead Reads::chain(AccountNumber account) {
    LedgerKey key;
    key.u32(node_.node).u32(account.value);
    return find(Table::kChains, key, ChainHead{}).value_or(ChainHead{});
}

std::optional<Balance> Reads::balance(const BalanceKey& key) {
    std::optional<Balance> sum;
    Balance part;
    const LedgerKey prefix = balance_prefix(key);
    visit_prefix(rows_, Table::kBalances, prefix.view(),
                 [&](std::string_view place, std::string_view value) {
                     rows_.check(RowValue::decode(place, value, part), Table::kBalances, place);
                     if (!sum) {
                         sum.emplace().key = key;
                     }
                     *sum += part;
                 });
    return sum;
}

Balance Reads::balance_part(const BalanceKey& key) {
    Balance part;
    part.key = key;
    return find(Table::kBalances, balance_prefix(key).u32(node_.node), part).value_or(part);
}

void Reads::scan_balances_from(const BalanceKey& from, const Visitor<Balance>& visit) {
    settle(Table::kBalances);
    std::optional<Balance> sum;
    Balance part;
    bool more = true;
    RowCursor cursor(rows_, Table::kBalances);
    // A scan of all rows begins at the first one, because a damaged key may be shorter than any.
    bool found =
        from.account.value == 0 ? cursor.first() : cursor.seek(balance_prefix(from).view());
    for (; found && more; found = cursor.next()) {
        const std::string_view place = cursor.key();
        LedgerKeyParser parser(place);
        part.key.account = {parser.u32()};
        part.key.program.assign(parser.text());
        part.key.creator.assign(parser.text());
        const auto currency = Currency::parse(parser.bytes(3));
        (void)parser.u32();
        rows_.check(parser.complete() && currency && RowValue::decode(place, cursor.value(), part),
                    Table::kBalances, place);
        part.key.currency = *currency;
        if (sum && sum->key == part.key) {
            *sum += part;
            continue;
        }
        more = !sum || visit(*sum);
        sum = part;
    }
    if (more && sum) {
        (void)visit(*sum);
    }
}

}  // namespace sluice::store
