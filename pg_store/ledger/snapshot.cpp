#include "pg_store/ledger/snapshot.hpp"

#include <thread>
#include <utility>

#include "os/clock/clock.hpp"
#include "pg_store/ledger/keyed.hpp"
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

/// Reads the orders of a slice, and drops those of the slice before. Each key looks up its order,
/// which LIMIT ensures: a planner without statistics (a restored or just rebuilt ledger) believes
/// that there are few orders, and compares each of them with each key.
void PgSnapshot::expect_orders(std::span<const OrderKey> keys) {
    static const Keyed kSelect(
        shop_text_key(),
        "SELECT o.account, o.shop, o.order_id, " + order_columns() +
            " FROM {keys} CROSS JOIN LATERAL (SELECT * FROM sluice_ledger.orders t "
            "WHERE t.account = {account} AND t.shop = k.shop AND t.order_id = k.text LIMIT 1) o");
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

namespace {

constexpr std::chrono::seconds kBatchPatience{30};
constexpr std::chrono::seconds kFinishPatience{5};
constexpr std::chrono::milliseconds kBetween{100};
constexpr Statement kTakeLock{"SELECT pg_advisory_lock(1397511491, 1)"};
constexpr Statement kReleaseLock{"SELECT pg_advisory_unlock(1397511491, 1)"};
/// Few rows on every machine.
constexpr Statement kReadEachNode{"SELECT count(*) FROM sluice_ledger.chains"};
/// Prepared transactions that are not finished. While the writer lock is held exclusively, none of
/// them is sluice's; those of other programs only prolong the wait.
constexpr Statement kUnfinished{
    "SELECT coalesce(bool_or(NOT success), false), coalesce(string_agg(result, '; ') FILTER "
    "(WHERE NOT success), ''), coalesce(bool_or(success AND result <> '0'), false) "
    "FROM run_command_on_workers($$SELECT count(*) FROM pg_prepared_xacts WHERE database = "
    "current_database() AND gid LIKE 'citus\\_%'$$)"};

}  // namespace

void await_finished(Connection& session) {
    for (const auto end = steady_now() + kFinishPatience;;) {
        const Rows rows = session.query(kUnfinished);
        RowReader row = rows.row(0);
        const bool is_away = row.boolean();
        const std::string words = row.string();
        if (is_away) {
            throw LedgerFailure({ErrorCode::kIo, "PostgreSQL: a Citus node: " + words});
        }
        if (!row.boolean()) {
            return;
        }
        if (steady_now() >= end) {
            throw LedgerFailure({ErrorCode::kIo,
                                 "PostgreSQL: a Citus node has not finished a transaction that was "
                                 "committed; Citus finishes it by itself, every "
                                 "citus.recover_2pc_interval"});
        }
        std::this_thread::sleep_for(kBetween);
    }
}

QuiescedLedger::QuiescedLedger(Connection& session) : session_(session) {
    if (!session.is_distributed()) {
        return;
    }
    holds_lock_ = true;
    try {
        if (!session.within(kBatchPatience, [&] { (void)session.query(kTakeLock); })) {
            throw LedgerFailure(
                {ErrorCode::kBusy, "a batch or a command still runs after 30 s: try again later"});
        }
        await_finished(session);
    } catch (...) {
        session.give_up();
        throw;
    }
}

QuiescedLedger::~QuiescedLedger() {
    if (holds_lock_) {
        session_.give_up();
    }
}

void QuiescedLedger::fix() {
    if (holds_lock_) {
        session_.send(kReadEachNode);
        session_.send(kReleaseLock);
        session_.sync();
        holds_lock_ = false;
    }
}

}  // namespace sluice::pg
