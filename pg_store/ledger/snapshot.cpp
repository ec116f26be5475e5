#include "pg_store/ledger/snapshot.hpp"

#include <utility>

#include "pg_store/ledger/keyed.hpp"
#include "pg_store/ledger/quiesced_ledger.hpp"
#include "pg_store/rows/order_row.hpp"

namespace sluice::pg {

PgSnapshot::PgSnapshot(BorrowedConnection connection, std::string_view node)
    : ConnectionHolder{std::move(connection)}, Reads(*borrowed_) {
    static constexpr Statement kBegin{"BEGIN ISOLATION LEVEL REPEATABLE READ, READ ONLY"};
    static constexpr Statement kShared{"SELECT programs_revision FROM sluice_ledger.state"};
    static const Statement kHead = select_statement(kHeadColumns, "heads WHERE node = $1");
    QuiescedLedger still(connection_);
    node_.head.node = node;
    RowWriter which;
    which.text(node);
    connection_.send(kBegin);
    connection_.send(kHead, which, [this](Rows rows) {
        if (!rows.empty()) {
            RowReader row = rows.row(0);
            node_ = read_head(row);
        }
    });
    connection_.send(kShared, {}, [this](Rows rows) {
        if (!rows.empty()) {
            read_named("table state", std::nullopt,
                       [&] { node_.head.programs_revision = rows.row(0).u8(); });
        }
    });
    connection_.sync();
    still.fix();
}

/// Reads the orders of a slice, and drops those of the slice before.
void PgSnapshot::expect_orders(std::span<const OrderKey> keys) {
    static const Keyed kSelect(
        shop_text_key(),
        "SELECT o.account, o.shop, o.order_id, " + order_columns() +
            " FROM sluice_ledger.orders o JOIN {keys} "
            "ON o.account = {account} AND o.shop = k.shop AND o.order_id = k.text");
    expected_.clear();
    KeyList list(shop_text_key(), connection_);
    for (const OrderKey& key : keys) {
        if (expected_.try_emplace(key).second) {
            list.add(key.account, key.shop, key.order_id.view());
        }
    }
    kSelect.send(connection_, list, [this](Rows found) { take_orders(found); });
    if (!list.empty()) {
        connection_.sync();
    }
}

void PgSnapshot::take_orders(const Rows& found) {
    for (int i = 0; i < found.count(); ++i) {
        RowReader row = found.row(i);
        OrderKey key;
        key.account = {row.u4()};
        key.shop = {row.u4()};
        key.order_id = OrderId(row.text());
        Expected& order = expected_[key];
        order.exists = true;
        order.state.key = std::move(key);
        try {
            decode_order(row, order.state);
        } catch (const LedgerFailure&) {
            order.damage = std::current_exception();  // thrown to the caller that loads it
        }
    }
}

bool PgSnapshot::load_order(const OrderKey& key, OrderState& state) {
    const auto found = expected_.find(key);
    if (found == expected_.end()) {
        return Reads::load_order(key, state);
    }
    if (found->second.damage) {
        std::rethrow_exception(found->second.damage);
    }
    if (found->second.exists) {
        state = found->second.state;
    }
    return found->second.exists;
}

}  // namespace sluice::pg
