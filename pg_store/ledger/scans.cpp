// Scans.
#include "pg_store/ledger/order_row.hpp"
#include "pg_store/ledger/reads.hpp"

namespace sluice::pg {
namespace {

constexpr int kFetchRows = 500;

RowWriter shop_parameters(AccountNumber account, ShopNumber shop) {
    RowWriter row;
    row.u4(account.value).u4(shop.value);
    return row;
}

RowWriter one_number(std::uint32_t number) {
    RowWriter row;
    row.u4(number);
    return row;
}

std::string select(const std::string& columns, const std::string& rest) {
    return "SELECT " + columns + " FROM sluice_ledger." + rest;
}

}  // namespace

template <class Base>
void Reads<Base>::scan(const std::string& sql, const RowWriter& parameters,
                       const std::function<bool(RowReader&)>& visit) {
    this->settle();
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

template <class Base>
void Reads<Base>::scan_shops(const Visitor<ShopRow>& visit) {
    scan(select(kShopColumns, "shops ORDER BY shop_id"), {},
         [&](RowReader& row) { return visit(read_shop(row)); });
}

template <class Base>
void Reads<Base>::scan_orders(AccountNumber account, ShopNumber shop,
                              const Visitor<OrderState>& visit) {
    OrderState state;
    scan(select("order_id, " + order_columns(),
                "orders WHERE account = $1 AND shop = $2 ORDER BY order_id"),
         shop_parameters(account, shop), [&](RowReader& row) {
             state.key = {account, shop, OrderId(row.text())};
             decode_order(row, state);
             return visit(state);
         });
}

template <class Base>
void Reads<Base>::scan_events(const OrderKey& key, const Visitor<EventTrace>& visit) {
    RowWriter parameters = shop_parameters(key.account, key.shop);
    parameters.text(key.order_id.view());
    std::vector<EventTrace> events;
    scan(select("event",
                "events WHERE account = $1 AND shop = $2 AND order_id = $3 "
                "ORDER BY number"),
         parameters, [&](RowReader& row) {
             unpack_events(row.text(), events);
             return !events.empty() && visit(events.front());
         });
}

template <class Base>
void Reads<Base>::scan_journal(std::uint64_t from_entry, const Visitor<JournalGroup>& visit) {
    RowWriter parameters;
    parameters.u8(from_entry);
    scan(select(kJournalColumns, "journal WHERE first_entry >= $1 ORDER BY node, first_entry"),
         parameters, [&](RowReader& row) { return visit(read_journal(row)); });
}

template <class Base>
void Reads<Base>::scan_balances(const Visitor<Balance>& visit) {
    scan(select("account, program, creator, currency, sum(total), sum(paid)",
                "balances GROUP BY account, program, creator, currency "
                "ORDER BY account, program, creator, currency"),
         {}, [&](RowReader& row) {
             Balance balance;
             balance.key.account = {row.u4()};
             balance.key.program = ProgramId(row.text());
             balance.key.creator = CreatorId(row.text());
             balance.key.currency = row.currency();
             balance.total = row.numeric();
             balance.paid = row.numeric();
             return visit(balance);
         });
}

template <class Base>
void Reads<Base>::scan_open(AccountNumber account, const ProgramId& program, bool adjustment,
                            Timestamp from, Timestamp to, const Visitor<OpenAmount>& visit) {
    RowWriter parameters = one_number(account.value);
    parameters.text(program.view()).boolean(adjustment).instant(from).instant(to);
    scan(select(kOpenColumns,
                "open WHERE account = $1 AND program = $2 AND adjustment = $3 AND "
                "(ordered_s, ordered_ns) >= ($4, $5) AND (ordered_s, ordered_ns) <= ($6, $7) "
                "ORDER BY ordered_s, ordered_ns, shop, order_id, currency"),
         parameters, [&](RowReader& row) { return visit(read_open(row)); });
}

template <class Base>
void Reads<Base>::scan_anomalies(AccountNumber account, ShopNumber shop,
                                 const Visitor<Anomaly>& visit) {
    scan(select(kAnomalyColumns,
                "anomalies WHERE account = $1 AND shop = $2 ORDER BY order_id, kind"),
         shop_parameters(account, shop), [&](RowReader& row) { return visit(read_anomaly(row)); });
}

template <class Base>
void Reads<Base>::scan_catalog(AccountNumber account, ShopNumber shop,
                               const Visitor<CatalogRecord>& visit) {
    scan(select(kCatalogColumns,
                "catalog WHERE account = $1 AND shop = $2 ORDER BY "
                "coalesce(full_id, product_id) COLLATE \"C\", language, country"),
         shop_parameters(account, shop), [&](RowReader& row) { return visit(read_catalog(row)); });
}

template <class Base>
void Reads<Base>::scan_payouts(const Visitor<Payout>& visit) {
    scan(select(kPayoutColumns, "payouts ORDER BY number"), {},
         [&](RowReader& row) { return visit(read_payout(row)); });
}

template <class Base>
void Reads<Base>::scan_programs(const Visitor<ProgramRow>& visit) {
    scan(select(kProgramColumns, "programs WHERE current ORDER BY program"), {},
         [&](RowReader& row) { return visit(read_program(row)); });
}

template <class Base>
void Reads<Base>::scan_memberships(AccountNumber account, const ProgramId& program,
                                   const Visitor<Membership>& visit) {
    RowWriter parameters = one_number(account.value);
    parameters.text(program.view());
    scan(select(kMembershipColumns,
                "memberships WHERE account = $1 AND program = $2 ORDER BY creator"),
         parameters, [&](RowReader& row) { return visit(read_membership(row)); });
}

template <class Base>
void Reads<Base>::scan_codes(AccountNumber account, const ProgramId& program,
                             const Visitor<CodeRow>& visit) {
    RowWriter parameters = one_number(account.value);
    parameters.text(program.view());
    scan(select(kCodeColumns, "codes WHERE account = $1 AND program = $2 ORDER BY digest"),
         parameters, [&](RowReader& row) { return visit(read_code(row)); });
}

template <class Base>
void Reads<Base>::scan_commands(const Visitor<CommandRow>& visit) {
    scan(select(kCommandColumns, "commands WHERE node = $1 ORDER BY seq"), one_number(node_.number),
         [&](RowReader& row) { return visit(read_command(row)); });
}

template <class Base>
void Reads<Base>::scan_dead(const Visitor<DeadLetter>& visit) {
    scan(select(kDeadColumns, "dead WHERE node = $1 ORDER BY seq"), one_number(node_.number),
         [&](RowReader& row) { return visit(read_dead(row)); });
}

template <class Base>
std::optional<Work> Reads<Base>::first_work() {
    static const Statement kSelect =
        select_statement(kWorkColumns, "work WHERE node = $1 ORDER BY number LIMIT 1");
    const Rows found = this->rows(kSelect, one_number(node_.number));
    if (found.empty()) {
        return std::nullopt;
    }
    RowReader row = found.row(0);
    return read_work(row);
}

template class Reads<LedgerReader>;
template class Reads<LedgerTxn>;

}  // namespace sluice::pg
