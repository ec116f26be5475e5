// Scans.
#include "core/ledger/list_rows.hpp"
#include "pg_store/ledger/reads.hpp"
#include "pg_store/rows/order_row.hpp"

namespace sluice::pg {
namespace {

/// Groups that are fetched together from the journal of a whole account. They are short.
constexpr int kFetchGroups = 4096;
/// Groups of a chain that one statement reads.
constexpr std::size_t kChainGroups = 1000;

RowWriter shop_parameters(AccountNumber account, ShopNumber shop) {
    RowWriter row;
    row.u4(account.value).u4(shop.value);
    return row;
}

RowWriter shops_parameters(AccountNumber account, std::span<const ShopNumber> shops,
                           std::string_view id) {
    RowWriter row;
    row.u4(account.value)
        .array(Type::kInt4, shops,
               [](RowWriter& element, const ShopNumber& shop) { element.u4(shop.value); })
        .text(id);
    return row;
}

std::string select(const std::string& columns, const std::string& rest) {
    return "SELECT " + columns + " FROM sluice_ledger." + rest;
}

}  // namespace

void visit_cursor(Connection& connection, const std::string& name, int rows_at_once,
                  const std::function<bool(RowReader&)>& visit) {
    const std::string fetch = "FETCH " + std::to_string(rows_at_once) + " FROM " + name;
    for (;;) {
        const Rows rows = connection.query_text(fetch);
        for (RowReader row : rows) {
            if (!visit(row)) {
                return;
            }
        }
        if (rows.count() < rows_at_once) {
            return;
        }
    }
}

void Reads::scan_sql(const std::string& sql, const RowWriter& parameters,
                     const std::function<bool(RowReader&)>& visit, int rows_at_once) {
    settle();
    const std::string name = "scan" + std::to_string(++cursors_count_);
    connection_.send_text("DECLARE " + name + " NO SCROLL CURSOR FOR " + sql, parameters);
    visit_cursor(connection_, name, rows_at_once, visit);
    connection_.send_text("CLOSE " + name);
}

/// Page by page, each after the last row of the previous page: bounded memory, and `visit` may run
/// other statements meanwhile.
void Reads::scan_pages(RowView first, KeyRange range, TableSql::Page begin, KeyRange rest,
                       TableSql::Page next, const RowVisitor& visit) {
    settle();
    const TableSql& sql = sql_of(first.table());
    Statement page = kept_statement(sql.select_page(range, begin));
    RowWriter parameters = key_parameters(first, head_.number, range.from);
    AnyRow row(first.table());
    for (;;) {
        const Rows found = connection_.query(page, parameters);
        for (RowReader from : found) {
            read_row(from, row.ref());
            if (!visit(row.view())) {
                return;
            }
        }
        if (found.count() < sql.page_rows()) {
            return;
        }
        parameters = key_parameters(row.view(), head_.number);
        page = kept_statement(sql.select_page(rest, next));
    }
}

void Reads::scan_rows(RowView first, KeyRange range, const RowVisitor& visit) {
    scan_pages(first, range, TableSql::Page::kFrom, range, TableSql::Page::kAfter, visit);
}

void Reads::scan_rows_back(RowView before, KeyRange range, const RowVisitor& visit) {
    const KeyRange rest{range.same, static_cast<unsigned>(before.table().key.size())};
    scan_pages(before, range, TableSql::Page::kBefore, rest, TableSql::Page::kBefore, visit);
}

void Reads::scan_shops(const Visitor<ShopRow>& visit) {
    scan_sql(select(sql_of<ShopRow>().columns(), "shops ORDER BY shop_id"), {},
             [&](RowReader& row) { return visit(read_row<ShopRow>(row)); });
}

void Reads::scan_orders(AccountNumber account, ShopNumber shop, const Visitor<OrderState>& visit) {
    scan_orders_after(account, shop, {}, visit);
}

void Reads::scan_orders_after(AccountNumber account, ShopNumber shop, const OrderId& after,
                              const Visitor<OrderState>& visit) {
    RowWriter parameters = shop_parameters(account, shop);
    parameters.text(after.view());
    OrderState state;
    scan_sql(select("order_id, " + order_columns(),
                    "orders WHERE account = $1 AND shop = $2 AND order_id > $3 ORDER BY order_id"),
             parameters, [&](RowReader& row) {
                 state.key = {account, shop, OrderId(row.text())};
                 decode_order(row, state);
                 return visit(state);
             });
}

bool Reads::is_of_standby() {
    bool is_standby = false;
    scan_sql("SELECT pg_is_in_recovery()", {}, [&](RowReader& row) {
        is_standby = row.boolean();
        return true;
    });
    return is_standby;
}

/// Every shop in one statement, which looks two rows up in each.
std::vector<OrderNeighbours> Reads::neighbours(AccountNumber account,
                                               std::span<const ShopNumber> shops,
                                               const OrderId& id) {
    static const Statement kSelect = kept_statement(
        "SELECT s.shop, (SELECT order_id FROM sluice_ledger.orders WHERE account = $1 AND "
        "shop = s.shop AND order_id < $3 ORDER BY order_id DESC LIMIT 1), (SELECT order_id FROM "
        "sluice_ledger.orders WHERE account = $1 AND shop = s.shop AND order_id > $3 "
        "ORDER BY order_id LIMIT 1) FROM unnest($2::integer[]) WITH ORDINALITY AS s (shop, place) "
        "ORDER BY s.place");
    settle();
    const auto id_of = [](const Field& field) {
        return field ? std::optional(OrderId(to_text(field))) : std::nullopt;
    };
    return all(connection_.query(kSelect, shops_parameters(account, shops, id.view())),
               [&](RowReader& row) {
                   return OrderNeighbours{{row.u4()}, id_of(row.next()), id_of(row.next())};
               });
}

/// Every shop in one statement. The ids that begin with a text lie between it and that text with
/// the last characters of Unicode behind it.
std::vector<OrderKey> Reads::orders_beginning(AccountNumber account,
                                              std::span<const ShopNumber> shops,
                                              std::string_view beginning, std::size_t max) {
    static const Statement kSelect = kept_statement(
        "SELECT s.shop, o.order_id FROM unnest($2::integer[]) WITH ORDINALITY AS s (shop, place) "
        "CROSS JOIN LATERAL (SELECT order_id FROM sluice_ledger.orders WHERE account = $1 AND "
        "shop = s.shop AND order_id >= $3 AND order_id < $3 || repeat(chr(1114111), 2) "
        "AND starts_with(order_id, $3) ORDER BY order_id LIMIT $4) o "
        "ORDER BY s.place, o.order_id LIMIT $4");
    settle();
    RowWriter parameters = shops_parameters(account, shops, beginning);
    parameters.u8(max);
    return all(connection_.query(kSelect, parameters), [account](RowReader& row) {
        return OrderKey{account, {row.u4()}, OrderId(row.text())};
    });
}

void Reads::scan_events(const OrderKey& key, const Visitor<EventTrace>& visit) {
    RowWriter parameters = shop_parameters(key.account, key.shop);
    parameters.text(key.order_id.view());
    std::vector<EventTrace> events;
    scan_sql(select("event",
                    "events WHERE account = $1 AND shop = $2 AND order_id = $3 "
                    "ORDER BY seq, substr(event, 64, 4), topic"),
             parameters, [&](RowReader& row) {
                 read_named(row_name("events", key), key,
                            [&] { unpack_events(row.text(), events); });
                 return !events.empty() && visit(events.front());
             });
}

/// Node by node, by UUID, so that each is read from its index.
void Reads::scan_journal(std::uint64_t from_entry, const Visitor<JournalGroup>& visit) {
    std::vector<std::uint32_t> nodes;
    scan_sql(select("number", "heads ORDER BY node"), {}, [&](RowReader& row) {
        nodes.push_back(row.u4());
        return true;
    });
    bool more = true;
    for (auto node = nodes.begin(); more && node != nodes.end(); ++node) {
        RowWriter parameters;
        parameters.u4(*node).u8(from_entry);
        scan_sql(select(kJournalRead,
                        "journal WHERE node = $1 AND first_entry >= $2 ORDER BY first_entry"),
                 parameters, [&](RowReader& row) { return more = visit(read_journal(row)); });
    }
}

void Reads::scan_chain(AccountNumber account, std::uint32_t node, std::uint64_t from_entry,
                       const Visitor<JournalGroup>& visit) {
    bool more = true;
    while (more) {
        RowWriter parameters;
        parameters.u4(account.value).u4(node).u8(from_entry);
        std::size_t count = 0;
        // The limit makes the server follow its index instead of sorting all groups.
        scan_sql(select(kJournalRead,
                        "journal WHERE account = $1 AND node = $2 AND first_entry >= $3 "
                        "ORDER BY first_entry LIMIT " +
                            std::to_string(kChainGroups)),
                 parameters, [&](RowReader& row) {
                     const JournalGroup group = read_journal(row);
                     from_entry = group.first_entry + 1;
                     ++count;
                     return more = visit(group);
                 });
        more = more && count == kChainGroups;
    }
}

void Reads::scan_creator_journal(AccountNumber account, const CreatorId& creator, Timestamp from,
                                 Timestamp to, const Visitor<JournalGroup>& visit) {
    RowWriter parameters;
    parameters.u4(account.value).text(creator.view()).instant(from).instant(to);
    scan_sql(select(kJournalRead,
                    "journal WHERE account = $1 AND creator = $2 AND creator <> '' AND "
                    "(accounting_s, accounting_ns) >= ($3, $4) AND "
                    "(accounting_s, accounting_ns) < ($5, $6) "
                    "ORDER BY accounting_s, accounting_ns, uuid, first_entry"),
             parameters, [&](RowReader& row) { return visit(read_journal(row)); });
}

void Reads::scan_account_journal(AccountNumber account, Timestamp from, Timestamp to,
                                 const Visitor<JournalGroup>& visit) {
    RowWriter parameters;
    parameters.u4(account.value).instant(from).instant(to);
    scan_sql(
        select(kJournalRead,
               "journal WHERE account = $1 AND creator <> '' AND "
               "(accounting_s, accounting_ns) >= ($2, $3) AND "
               "(accounting_s, accounting_ns) < ($4, $5) "
               "ORDER BY creator, accounting_s, accounting_ns, uuid, first_entry"),
        parameters, [&](RowReader& row) { return visit(read_journal(row)); }, kFetchGroups);
}

void Reads::scan_heads(const Visitor<LedgerHead>& visit) {
    scan_sql(select(kHeadColumns, "heads ORDER BY node"), {}, [&](RowReader& row) {
        LedgerHead head = read_head(row);
        head.programs_revision = head_.programs_revision;
        return visit(head.node == head_.node ? head_ : head);
    });
}

/// Counted by the server, because the rows hold whole bodies.
std::map<std::string, DeadCount> Reads::dead_by_shop(AccountNumber account, Timestamp from,
                                                     Timestamp to) {
    RowWriter parameters;
    parameters.u4(account.value).instant(from).instant(to);
    const std::string requests = "count(*) FILTER (WHERE topic = " +
                                 std::to_string(static_cast<unsigned>(Topic::kPrivacyRequest)) +
                                 ")";
    std::map<std::string, DeadCount> counts;
    scan_sql(select("shop_id, " + requests + ", count(*) - " + requests,
                    "dead WHERE account = $1 AND (received_s, received_ns) >= ($2, $3) AND "
                    "(received_s, received_ns) < ($4, $5) GROUP BY shop_id"),
             parameters, [&](RowReader& row) {
                 std::string shop = row.string();
                 DeadCount& count = counts[std::move(shop)];
                 count.privacy_requests = row.u8();
                 count.others = row.u8();
                 return true;
             });
    return counts;
}

void Reads::scan_chains(const Visitor<NodeChain>& visit) {
    scan_sql(select("h.node, c.account, c.hash, c.entries, c.last_group",
                    "chains c LEFT JOIN sluice_ledger.heads h ON h.number = c.node "
                    "ORDER BY c.account, h.node"),
             {}, [&](RowReader& row) {
                 NodeChain chain;
                 read_named("table chains", std::nullopt, [&] {
                     chain.node = row.text();
                     chain.account = {row.u4()};
                     chain.head = read_chain(row);
                 });
                 return visit(chain);
             });
}

void Reads::scan_balances_from(const BalanceKey& from, const Visitor<Balance>& visit) {
    RowWriter parameters;
    parameters.u4(from.account.value);
    parameters.text(from.program.view());
    parameters.text(from.creator.view());
    parameters.text(from.currency == Currency() ? "" : from.currency.code());
    scan_sql(select("account, program, creator, currency, sum(owed), sum(in_payout), sum(paid)",
                    "balances WHERE (account, program, creator, currency) >= ($1, $2, $3, $4) "
                    "GROUP BY account, program, creator, currency "
                    "ORDER BY account, program, creator, currency"),
             parameters, [&](RowReader& row) {
                 Balance balance;
                 read_named("table balances", std::nullopt, [&] { read_balance(row, balance); });
                 return visit(balance);
             });
}

void Reads::scan_catalog(AccountNumber account, ShopNumber shop,
                         const Visitor<CatalogRecord>& visit) {
    scan_sql(select(kCatalogColumns,
                    "catalog WHERE account = $1 AND shop = $2 ORDER BY "
                    "coalesce(full_id, product_id) COLLATE \"C\", language, country"),
             shop_parameters(account, shop),
             [&](RowReader& row) { return visit(read_catalog(row)); });
}

const Statement& Reads::latest_batch_statement() {
    static const Statement kLatest =
        select_statement(sql_of<AppliedBatch>().columns(), "batches ORDER BY number DESC LIMIT 1");
    return kLatest;
}

std::optional<AppliedBatch> Reads::latest_batch() {
    return first(rows(latest_batch_statement(), {}), read_row<AppliedBatch>);
}

void Reads::scan_catalog_after(const CatalogKey& after, const Visitor<CatalogRecord>& visit) {
    RowWriter parameters = shop_parameters(after.account, after.shop);
    parameters.text(after.product_id.view());
    scan_sql(select(kCatalogColumns,
                    "catalog WHERE account = $1 AND shop = $2 AND "
                    "coalesce(full_id, product_id) COLLATE \"C\" >= $3 ORDER BY "
                    "coalesce(full_id, product_id) COLLATE \"C\", language, country"),
             parameters, [&](RowReader& row) {
                 const CatalogRecord record = read_catalog(row);
                 return !(after < record.key) || visit(record);
             });
}

/// Block by block, as kChainBlock says.
std::vector<JournalGroup> Reads::chain_before(AccountNumber account, std::uint32_t node,
                                              const JournalPlace& before, std::size_t max) {
    static const std::string kBlock = std::to_string(kChainBlock);
    std::vector<JournalGroup> groups;
    RowWriter parameters;
    parameters.u4(account.value).u4(node).u8(before.last_change).u8(before.first_entry).u8(max);
    scan_sql(
        "SELECT " + std::string(kJournalRead) +
            " FROM (SELECT j.*, c.last_change AS block FROM sluice_ledger.chain_groups c CROSS "
            "JOIN LATERAL (SELECT * FROM sluice_ledger.journal WHERE account = c.account AND "
            "node = c.node AND first_entry >= c.first_entry AND first_entry < (c.first_entry / " +
            kBlock + " + 1) * " + kBlock +
            ") j WHERE c.account = $1 AND c.node = $2 AND c.last_change < $3 AND "
            "j.first_entry < $4 ORDER BY c.last_change DESC, j.first_entry DESC LIMIT $5) "
            "journal ORDER BY block DESC, first_entry DESC",
        parameters, [&](RowReader& row) {
            groups.push_back(read_journal(row));
            return true;
        });
    return groups;
}

}  // namespace sluice::pg
