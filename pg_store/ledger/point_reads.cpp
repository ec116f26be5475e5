// Point reads.
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "pg_store/ledger/keyed.hpp"
#include "pg_store/ledger/reads.hpp"
#include "pg_store/rows/order_row.hpp"

namespace sluice::pg {
namespace {

std::int16_t small(auto value) {
    return static_cast<std::int16_t>(value);
}

RowWriter order_parameters(const OrderKey& key) {
    RowWriter row;
    row.u4(key.account.value).u4(key.shop.value).text(key.order_id.view());
    return row;
}

CatalogKey catalog_key(RowReader& row, AccountNumber account, ShopNumber shop) {
    CatalogKey key{account, shop, ProductId(row.text()), row.string(), row.string()};
    if (const Field full_id = row.next()) {
        key.product_id = ProductId(*full_id);
    }
    return key;
}

}  // namespace

Statement kept_statement(const std::string& text) {
    static std::mutex mutex;
    static std::set<std::string> texts;  // a set's elements stay where they are
    const std::lock_guard lock(mutex);
    return {texts.insert(text).first->c_str()};
}

bool Reads::load_row(RowRef row) {
    begin_reading();
    const Rows found = connection_.query({sql_of(row.table()).select_one().c_str()},
                                         key_parameters(row, head_.number));
    if (found.empty()) {
        return false;
    }
    RowReader from = found.row(0);
    read_row(from, row);
    return true;
}

bool Reads::load_rows(std::span<const RowRef> rows, std::vector<bool>& found) {
    found.assign(rows.size(), false);
    if (rows.empty()) {
        return true;
    }
    begin_reading();
    const TableSql& sql = sql_of(rows.front().table());
    RowArrays keys(sql.key());
    std::multimap<std::string, std::size_t> places;
    for (std::size_t i = 0; i < rows.size(); ++i) {
        if (const auto key = sort_key(rows[i]); !places.contains(key)) {
            keys.add_key(rows[i], head_.number);
        }
        places.emplace(sort_key(rows[i]), i);
    }
    const Rows stored = connection_.query(kept_statement(sql.select_many()), keys.parameters());
    for (RowReader reader : stored) {
        AnyRow row(rows.front().table());
        read_row(reader, row.ref());
        const auto [first, last] = places.equal_range(sort_key(row.view()));
        for (auto place = first; place != last; ++place) {
            rows[place->second].assign(row.view());
            found[place->second] = true;
        }
    }
    return true;
}

Statement select_statement(const std::string& columns, const std::string& rest) {
    return kept_statement("SELECT " + columns + " FROM sluice_ledger." + rest);
}

bool Reads::load_order(const OrderKey& key, OrderState& state) {
    static const Statement kSelect = select_statement(order_columns(),
                                                      "orders WHERE account = $1 AND shop = $2 AND "
                                                      "order_id = $3");
    const Rows found = rows(kSelect, order_parameters(key));
    if (found.empty()) {
        return false;
    }
    RowReader row = found.row(0);
    state.key = key;
    decode_order(row, state);
    return true;
}

/// Each key looks up its order, which LIMIT ensures: a planner without statistics (a restored or
/// just rebuilt ledger) believes that there are few orders, and compares each of them with each
/// key. Sorts the keys, so that workers lock rows in the same order.
void Reads::fetch_orders(std::span<const OrderKey> keys, bool locks, CachedOrders& orders) {
    static const std::string kText =
        "SELECT o.account, o.shop, o.order_id, o.revision, " + order_columns() +
        " FROM (SELECT k.* FROM {keys} ORDER BY {account}, k.shop, k.text COLLATE \"C\") k "
        "CROSS JOIN LATERAL (SELECT * FROM sluice_ledger.orders t "
        "WHERE t.account = {account} AND t.shop = k.shop AND t.order_id = k.text LIMIT 1) o";
    static const Keyed kLock(shop_text_key(), kText + " FOR UPDATE OF o");
    static const Keyed kSelect(shop_text_key(), kText);
    KeyList list(shop_text_key(), connection_);
    for (const OrderKey& key : keys) {
        if (orders.try_emplace(key).second) {
            list.add(key.account, key.shop, key.order_id.view());
        }
    }
    (locks ? kLock : kSelect).send(connection_, list, [&orders](Rows rows) {
        for (RowReader row : rows) {
            OrderKey key{
                .account = {row.u4()}, .shop = {row.u4()}, .order_id = OrderId(row.text())};
            CachedOrder& order = orders[key];
            order.state.key = std::move(key);
            order.stored = order.exists = true;
            order.is_new = false;
            try {
                order.revision = row.u8();
                decode_order(row, order.state);
            } catch (const LedgerFailure&) {
                order.damage = std::current_exception();  // thrown to the caller that loads it
            }
        }
    });
}

bool Reads::has_event(const OrderKey& key, Topic topic, const EventDigest& digest) {
    static const Statement kSelect =
        select_statement("1",
                         "events WHERE account = $1 AND shop = $2 AND order_id = $3 "
                         "AND digest = $4 AND topic = $5 LIMIT 1");
    RowWriter parameters = order_parameters(key);
    parameters.digest(digest).i2(small(topic));
    return !rows(kSelect, parameters).empty();
}

void Reads::visit_clicks(AccountNumber account, const Digest256& anon, const ProgramId& program,
                         Timestamp upto, const Visitor<Click>& visit) {
    static const Statement kSelect = select_statement(
        sql_of<Click>().columns(),
        "clicks WHERE account = $1 AND anon = $2 AND program = $3 AND "
        "(occurred_s, occurred_ns) <= ($4, $5) ORDER BY occurred_s DESC, occurred_ns DESC");
    RowWriter parameters;
    parameters.u4(account.value).digest(anon).text(program.view()).instant(upto);
    for (const Click& click : all(rows(kSelect, parameters), read_row<Click>)) {
        if (!visit(click)) {
            return;
        }
    }
}

std::optional<CatalogKey> Reads::find_variant(AccountNumber account, ShopNumber shop,
                                              std::string_view variant_sku) {
    static const Statement kSelect = select_statement(
        "v.product_id, v.language, v.country, c.full_id",
        "variants v JOIN sluice_ledger.catalog c USING (account, shop, product_id, language, "
        "country) WHERE v.account = $1 AND v.shop = $2 AND v.variant_sku = $3 "
        "ORDER BY v.language, v.country, v.product_id LIMIT 1");
    RowWriter parameters;
    parameters.u4(account.value).u4(shop.value).text(key_text(variant_sku));
    return first(rows(kSelect, parameters),
                 [&](RowReader& row) { return catalog_key(row, account, shop); });
}

std::vector<CatalogKey> Reads::product_copies(AccountNumber account, ShopNumber shop,
                                              const ProductId& product) {
    static const Statement kSelect =
        select_statement("product_id, language, country, full_id",
                         "catalog WHERE account = $1 AND shop = $2 AND product_id = $3 "
                         "ORDER BY language, country");
    RowWriter parameters;
    parameters.u4(account.value).u4(shop.value).text(key_text(product.view()));
    return all(rows(kSelect, parameters),
               [&](RowReader& row) { return catalog_key(row, account, shop); });
}

std::optional<CatalogRecord> Reads::catalog(const CatalogKey& key) {
    static const Statement kSelect =
        select_statement(kCatalogColumns,
                         "catalog WHERE account = $1 AND shop = $2 AND "
                         "product_id = $3 AND language = $4 AND country = $5");
    RowWriter parameters;
    parameters.u4(key.account.value).u4(key.shop.value).text(key_text(key.product_id.view()));
    parameters.text(key.language).text(key.country);
    return first(rows(kSelect, parameters), read_catalog);
}

void Reads::send_head_reads(std::string_view node) {
    static const Statement kHead = select_statement(kHeadColumns, "heads WHERE node = $1");
    static const Statement kShared = select_statement("programs_revision", "state");
    head_ = {};
    head_.node = node;
    RowWriter which;
    which.text(node);
    connection_.send(kHead, which,
                     [this](Rows rows) { head_ = first(rows, read_head).value_or(head_); });
    connection_.send(kShared, {}, [this](Rows rows) {
        if (!rows.empty()) {
            read_named("table state", std::nullopt,
                       [&] { head_.programs_revision = rows.row(0).u8(); });
        }
    });
}

ChainHead Reads::chain(AccountNumber account) {
    static const Statement kSelect =
        select_statement("hash, entries, last_group", "chains WHERE account = $1 AND node = $2");
    RowWriter parameters;
    parameters.u4(account.value).u4(head_.number);
    const Rows found = rows(kSelect, parameters);
    return read_named("table chains, account " + std::to_string(account.value), std::nullopt,
                      [&] { return first(found, read_chain).value_or(ChainHead()); });
}

std::optional<Balance> Reads::balance(const BalanceKey& key) {
    static const Statement kSelect = select_statement(
        "sum(owed), sum(in_payout), sum(paid)",
        "balances WHERE account = $1 AND program = $2 AND creator = $3 AND currency = $4 "
        "HAVING count(*) > 0");
    RowWriter parameters;
    parameters.u4(key.account.value).text(key.program.view()).text(key.creator.view());
    parameters.text(key.currency.code());
    const Rows found = rows(kSelect, parameters);
    return read_named("table balances, creator " + key.creator.str(), std::nullopt, [&] {
        return first(found, [&](RowReader& row) {
            Balance balance{{}, key};
            read_sums(row, balance);
            return balance;
        });
    });
}

void Reads::expect_journals(std::span<const OrderKey> keys) {
    static const Keyed kSelect(shop_text_key(),
                               "SELECT " + std::string(kJournalRead) +
                                   " FROM sluice_ledger.journal JOIN {keys} ON "
                                   "journal.account = {account} AND journal.shop = k.shop AND "
                                   "order_id = k.text ORDER BY uuid, first_entry");
    journals_.clear();
    KeyList list(shop_text_key(), connection_);
    for (const OrderKey& key : keys) {
        if (journals_.try_emplace(key).second) {
            list.add(key.account, key.shop, key.order_id.view());
        }
    }
    if (list.empty()) {
        return;
    }
    settle();
    kSelect.send(connection_, list, [this](Rows rows) {
        for (JournalGroup& group : all(rows, read_journal)) {
            journals_[{group.account, group.shop, group.order_id}].push_back(std::move(group));
        }
    });
    connection_.sync();
}

std::optional<JournalGroup> Reads::journal_group(std::string_view node, std::uint64_t first_entry) {
    static const Statement kSelect = select_statement(
        kJournalRead,
        "journal WHERE journal.node = (SELECT number FROM sluice_ledger.heads h WHERE h.node = $1) "
        "AND first_entry = $2");
    RowWriter parameters;
    parameters.text(node).u8(first_entry);
    return first(rows(kSelect, parameters), read_journal);
}

std::vector<JournalGroup> Reads::order_journal(const OrderState& state) {
    static const Statement kSelect =
        select_statement(kJournalRead,
                         "journal WHERE account = $1 AND shop = $2 AND "
                         "order_id = $3 ORDER BY uuid, first_entry");
    const auto expected = journals_.find(state.key);
    std::vector<JournalGroup> groups =
        expected != journals_.end() ? expected->second
                                    : all(rows(kSelect, order_parameters(state.key)), read_journal);
    std::erase_if(groups, [this](const JournalGroup& group) { return is_of_credit(group); });
    return groups;
}

}  // namespace sluice::pg
