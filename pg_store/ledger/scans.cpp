// Scans.
#include "core/ledger/row_name.hpp"
#include "pg_store/ledger/order_row.hpp"
#include "pg_store/ledger/packed_rows.hpp"
#include "pg_store/ledger/reads.hpp"

namespace sluice::pg {
namespace {

constexpr int kFetchRows = 500;

RowWriter shop_parameters(AccountNumber account, ShopNumber shop) {
    RowWriter row;
    row.u4(account.value).u4(shop.value);
    return row;
}

std::string select(const std::string& columns, const std::string& rest) {
    return "SELECT " + columns + " FROM sluice_ledger." + rest;
}

}  // namespace

void Reads::scan_sql(const std::string& sql, const RowWriter& parameters,
                     const std::function<bool(RowReader&)>& visit) {
    settle();
    const std::string name = "scan" + std::to_string(++cursors_count_);
    const std::string fetch = "FETCH " + std::to_string(kFetchRows) + " FROM " + name;
    connection_.send_text("DECLARE " + name + " NO SCROLL CURSOR FOR " + sql, parameters);
    for (;;) {
        const Rows rows = connection_.query_text(fetch);
        bool more = rows.count() == kFetchRows;
        for (int i = 0; i < rows.count(); ++i) {
            RowReader row = rows.row(i);
            if (!visit(row)) {
                more = false;
                break;
            }
        }
        if (!more) {
            connection_.send_text("CLOSE " + name);
            return;
        }
    }
}

void Reads::scan_shops(const Visitor<ShopRow>& visit) {
    scan_sql(select(table_text<ShopRow>().columns(), "shops ORDER BY shop_id"), {},
             [&](RowReader& row) { return visit(read_row<ShopRow>(row)); });
}

void Reads::scan_orders(AccountNumber account, ShopNumber shop, const Visitor<OrderState>& visit) {
    OrderState state;
    scan_sql(select("order_id, " + order_columns(),
                    "orders WHERE account = $1 AND shop = $2 ORDER BY order_id"),
             shop_parameters(account, shop), [&](RowReader& row) {
                 state.key = {account, shop, OrderId(row.text())};
                 decode_order(row, state);
                 return visit(state);
             });
}

void Reads::scan_events(const OrderKey& key, const Visitor<EventTrace>& visit) {
    RowWriter parameters = shop_parameters(key.account, key.shop);
    parameters.text(key.order_id.view());
    std::vector<EventTrace> events;
    scan_sql(select("event",
                    "events WHERE account = $1 AND shop = $2 AND order_id = $3 "
                    "ORDER BY number"),
             parameters, [&](RowReader& row) {
                 read_named(row_name("events", key), key,
                            [&] { unpack_events(row.text(), events); });
                 return !events.empty() && visit(events.front());
             });
}

void Reads::scan_journal(std::uint64_t from_entry, const Visitor<JournalGroup>& visit) {
    RowWriter parameters;
    parameters.u8(from_entry);
    scan_sql(select(kJournalColumns, "journal WHERE first_entry >= $1 ORDER BY node, first_entry"),
             parameters, [&](RowReader& row) { return visit(read_journal(row)); });
}

void Reads::scan_balances(const Visitor<Balance>& visit) {
    scan_sql(select("account, program, creator, currency, sum(total), sum(paid)",
                    "balances GROUP BY account, program, creator, currency "
                    "ORDER BY account, program, creator, currency"),
             {}, [&](RowReader& row) {
                 Balance balance;
                 read_named("table balances", std::nullopt, [&] {
                     balance.key.account = {row.u4()};
                     balance.key.program = ProgramId(row.text());
                     balance.key.creator = CreatorId(row.text());
                     balance.key.currency = row.currency();
                     balance.total = row.numeric();
                     balance.paid = row.numeric();
                 });
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

void Reads::scan_payouts(const Visitor<Payout>& visit) {
    scan_sql(select(kPayoutColumns, "payouts ORDER BY number"), {},
             [&](RowReader& row) { return visit(read_payout(row)); });
}

void Reads::scan_programs(const Visitor<ProgramRow>& visit) {
    scan_sql(select(kProgramColumns, "programs WHERE current ORDER BY program"), {},
             [&](RowReader& row) { return visit(read_program(row)); });
}

}  // namespace sluice::pg
