// Point reads.
#include <limits>
#include <set>
#include <utility>

#include "pg_store/ledger/order_row.hpp"
#include "pg_store/ledger/reads.hpp"

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

template <class Row>
std::optional<Row> first(const Rows& rows, Row (*read)(RowReader&)) {
    if (rows.empty()) {
        return std::nullopt;
    }
    RowReader row = rows.row(0);
    return read(row);
}

template <class Row>
std::vector<Row> all(const Rows& rows, Row (*read)(RowReader&)) {
    std::vector<Row> result;
    for (int i = 0; i < rows.count(); ++i) {
        RowReader row = rows.row(i);
        result.push_back(read(row));
    }
    return result;
}

CatalogKey catalog_key(RowReader& row, AccountNumber account, ShopNumber shop) {
    CatalogKey key{account, shop, ProductId(row.text()), row.string(), row.string()};
    if (const Field full_id = row.next()) {
        key.product_id = ProductId(*full_id);
    }
    return key;
}

}  // namespace

Statement select_statement(const std::string& columns, const std::string& rest) {
    static std::set<std::string> texts;  // a set's elements stay where they are
    return {texts.insert("SELECT " + columns + " FROM sluice_ledger." + rest).first->c_str()};
}

template <class Base>
bool PointReads<Base>::load_order(const OrderKey& key, OrderState& state) {
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

template <class Base>
bool PointReads<Base>::has_event(const OrderKey& key, Topic topic, const EventDigest& digest) {
    static const Statement kSelect =
        select_statement("1",
                         "events WHERE account = $1 AND shop = $2 AND order_id = $3 "
                         "AND digest = $4 AND topic = $5 LIMIT 1");
    RowWriter parameters = order_parameters(key);
    parameters.digest(digest).i2(small(topic));
    return !rows(kSelect, parameters).empty();
}

template <class Base>
std::optional<RefundOwner> PointReads<Base>::refund_owner(AccountNumber account, ShopNumber shop,
                                                          std::string_view refund_id) {
    static const Statement kSelect = select_statement(
        "order_id, line_id", "refunds WHERE account = $1 AND shop = $2 AND refund_id = $3");
    RowWriter parameters;
    parameters.u4(account.value).u4(shop.value).text(refund_id);
    return first<RefundOwner>(rows(kSelect, parameters), [](RowReader& row) {
        OrderId order(row.text());
        return RefundOwner{std::move(order), LineItemId(row.text())};
    });
}

template <class Base>
std::optional<Anomaly> PointReads<Base>::anomaly(const OrderKey& key, AnomalyKind kind) {
    static const Statement kSelect =
        select_statement(kAnomalyColumns,
                         "anomalies WHERE account = $1 AND shop = $2 AND "
                         "order_id = $3 AND kind = $4");
    RowWriter parameters = order_parameters(key);
    parameters.i2(small(kind));
    return first(rows(kSelect, parameters), read_anomaly);
}

template <class Base>
std::vector<CodeRow> PointReads<Base>::code_owners(AccountNumber account, const Digest256& code) {
    static const Statement kSelect =
        select_statement(kCodeColumns, "codes WHERE account = $1 AND digest = $2 ORDER BY program");
    RowWriter parameters;
    parameters.u4(account.value).digest(code);
    return all(rows(kSelect, parameters), read_code);
}

template <class Base>
std::optional<Membership> PointReads<Base>::membership(AccountNumber account,
                                                       const ProgramId& program,
                                                       const CreatorId& creator) {
    static const Statement kSelect = select_statement(
        kMembershipColumns, "memberships WHERE account = $1 AND program = $2 AND creator = $3");
    RowWriter parameters;
    parameters.u4(account.value).text(program.view()).text(creator.view());
    return first(rows(kSelect, parameters), read_membership);
}

template <class Base>
void PointReads<Base>::visit_touches(AccountNumber account, const Digest256& anon,
                                     const ProgramId& program, Timestamp upto,
                                     const Visitor<Touch>& visit) {
    static const Statement kSelect = select_statement(
        kTouchColumns,
        "touches WHERE account = $1 AND anon = $2 AND program = $3 AND "
        "(occurred_s, occurred_ns) <= ($4, $5) ORDER BY occurred_s DESC, occurred_ns DESC");
    RowWriter parameters;
    parameters.u4(account.value).digest(anon).text(program.view()).instant(upto);
    for (const Touch& touch : all(rows(kSelect, parameters), read_touch)) {
        if (!visit(touch)) {
            return;
        }
    }
}

template <class Base>
std::vector<ProgramRow> PointReads<Base>::programs(AccountNumber account) {
    static const Statement kSelect = select_statement(
        kProgramColumns, "programs WHERE account = $1 AND current ORDER BY program");
    RowWriter parameters;
    parameters.u4(account.value);
    return all(rows(kSelect, parameters), read_program);
}

template <class Base>
std::optional<CatalogKey> PointReads<Base>::find_variant(AccountNumber account, ShopNumber shop,
                                                         std::string_view variant_sku) {
    static const Statement kSelect = select_statement(
        "v.product_id, v.language, v.country, c.full_id",
        "variants v JOIN sluice_ledger.catalog c USING (account, shop, product_id, language, "
        "country) WHERE v.account = $1 AND v.shop = $2 AND v.variant_sku = $3 "
        "ORDER BY v.language, v.country, v.product_id LIMIT 1");
    RowWriter parameters;
    parameters.u4(account.value).u4(shop.value).text(key_text(variant_sku));
    const Rows found = rows(kSelect, parameters);
    if (found.empty()) {
        return std::nullopt;
    }
    RowReader row = found.row(0);
    return catalog_key(row, account, shop);
}

template <class Base>
std::vector<CatalogKey> PointReads<Base>::product_copies(AccountNumber account, ShopNumber shop,
                                                         const ProductId& product) {
    static const Statement kSelect =
        select_statement("product_id, language, country, full_id",
                         "catalog WHERE account = $1 AND shop = $2 AND product_id = $3 "
                         "ORDER BY language, country");
    RowWriter parameters;
    parameters.u4(account.value).u4(shop.value).text(key_text(product.view()));
    const Rows found = rows(kSelect, parameters);
    std::vector<CatalogKey> keys;
    for (int i = 0; i < found.count(); ++i) {
        RowReader row = found.row(i);
        keys.push_back(catalog_key(row, account, shop));
    }
    return keys;
}

template <class Base>
std::optional<CatalogRecord> PointReads<Base>::catalog(const CatalogKey& key) {
    static const Statement kSelect =
        select_statement(kCatalogColumns,
                         "catalog WHERE account = $1 AND shop = $2 AND "
                         "product_id = $3 AND language = $4 AND country = $5");
    RowWriter parameters;
    parameters.u4(key.account.value).u4(key.shop.value).text(key_text(key.product_id.view()));
    parameters.text(key.language).text(key.country);
    return first(rows(kSelect, parameters), read_catalog);
}

template <class Base>
ChainHead PointReads<Base>::chain(AccountNumber account) {
    static const Statement kSelect =
        select_statement("hash, entries", "chains WHERE account = $1 AND node = $2");
    RowWriter parameters;
    parameters.u4(account.value).u4(node_.number);
    return first<ChainHead>(rows(kSelect, parameters),
                            [](RowReader& row) {
                                const auto hash = to_digest<Digest256>(row.next());
                                return ChainHead{hash, row.u8()};
                            })
        .value_or(ChainHead{});
}

template <class Base>
std::optional<ShopRow> PointReads<Base>::shop(ShopNumber shop) {
    static const Statement kSelect = select_statement(kShopColumns, "shops WHERE shop = $1");
    RowWriter parameters;
    parameters.u4(shop.value);
    return first(rows(kSelect, parameters), read_shop);
}

template <class Base>
std::optional<ProgramRow> PointReads<Base>::program(const ProgramId& program) {
    static const Statement kSelect =
        select_statement(kProgramColumns, "programs WHERE program = $1 AND current");
    RowWriter parameters;
    parameters.text(program.view());
    return first(rows(kSelect, parameters), read_program);
}

template <class Base>
std::optional<ProgramRow> PointReads<Base>::program_version(const ProgramId& program,
                                                            std::uint32_t version) {
    static const Statement kSelect =
        select_statement(kProgramColumns, "programs WHERE program = $1 AND version = $2");
    RowWriter parameters;
    parameters.text(program.view()).u4(version);
    return first(rows(kSelect, parameters), read_program);
}

template <class Base>
std::optional<CommandRow> PointReads<Base>::command(SequenceNumber seq) {
    static const Statement kSelect =
        select_statement(kCommandColumns, "commands WHERE node = $1 AND seq = $2");
    RowWriter parameters;
    parameters.u4(node_.number).u8(seq.value);
    return first(rows(kSelect, parameters), read_command);
}

template <class Base>
std::optional<DeadLetter> PointReads<Base>::dead_letter(SequenceNumber seq) {
    static const Statement kSelect =
        select_statement(kDeadColumns, "dead WHERE node = $1 AND seq = $2");
    RowWriter parameters;
    parameters.u4(node_.number).u8(seq.value);
    return first(rows(kSelect, parameters), read_dead);
}

template <class Base>
std::optional<Balance> PointReads<Base>::balance(const BalanceKey& key) {
    static const Statement kSelect = select_statement(
        "sum(total), sum(paid)",
        "balances WHERE account = $1 AND program = $2 AND creator = $3 AND currency = $4 "
        "HAVING count(*) > 0");
    RowWriter parameters;
    parameters.u4(key.account.value).text(key.program.view()).text(key.creator.view());
    parameters.text(key.currency.code());
    const Rows found = rows(kSelect, parameters);
    if (found.empty()) {
        return std::nullopt;
    }
    RowReader row = found.row(0);
    const Decimal total = row.numeric();
    return Balance{key, total, row.numeric()};
}

template <class Base>
std::vector<JournalGroup> PointReads<Base>::order_journal(const OrderState& state) {
    static const Statement kSelect =
        select_statement(kJournalColumns,
                         "journal WHERE account = $1 AND shop = $2 AND "
                         "order_id = $3 ORDER BY node, first_entry");
    return all(rows(kSelect, order_parameters(state.key)), read_journal);
}

template <class Base>
std::vector<OrderKey> PointReads<Base>::waiting_orders(const WaitKey& key,
                                                       const std::optional<OrderKey>& after,
                                                       std::size_t max) {
    static const Statement kSelect = select_statement(
        "shop, order_id",
        "waiting WHERE account = $1 AND kind = $2 AND digest = $3 AND (shop, order_id) > ($4, $5) "
        "ORDER BY shop, order_id LIMIT $6");
    RowWriter parameters;
    parameters.u4(key.account.value).i2(small(key.kind)).digest(key.digest);
    parameters.u4(after ? after->shop.value : 0).text(after ? after->order_id.view() : "");
    parameters.u8(max);
    const Rows found = rows(kSelect, parameters);
    std::vector<OrderKey> orders;
    for (int i = 0; i < found.count(); ++i) {
        RowReader row = found.row(i);
        const ShopNumber shop{row.u4()};
        orders.push_back({key.account, shop, OrderId(row.text())});
    }
    return orders;
}

namespace {

std::optional<WaitKey> next_key(const Rows& found, const WaitKey& from) {
    if (found.empty()) {
        return std::nullopt;
    }
    RowReader row = found.row(0);
    return WaitKey{from.account, from.kind, to_digest<Digest256>(row.next())};
}

}  // namespace

template <class Base>
std::optional<WaitKey> PointReads<Base>::next_waiting(const WaitKey& from) {
    static const Statement kSelect =
        select_statement("digest",
                         "waiting WHERE account = $1 AND kind = $2 AND digest >= $3 "
                         "ORDER BY digest LIMIT 1");
    RowWriter parameters;
    parameters.u4(from.account.value).i2(small(from.kind)).digest(from.digest);
    return next_key(rows(kSelect, parameters), from);
}

template <class Base>
std::optional<WaitKey> PointReads<Base>::next_source(const WaitKey& from) {
    static const Statement kTouches =
        select_statement("anon", "touches WHERE account = $1 AND anon >= $2 ORDER BY anon LIMIT 1");
    static const Statement kCodes = select_statement(
        "digest", "codes WHERE account = $1 AND digest >= $2 ORDER BY digest LIMIT 1");
    RowWriter parameters;
    parameters.u4(from.account.value).digest(from.digest);
    return next_key(rows(from.kind == WaitKind::kAnon ? kTouches : kCodes, parameters), from);
}

template class PointReads<LedgerReader>;
template class PointReads<LedgerTxn>;

}  // namespace sluice::pg
