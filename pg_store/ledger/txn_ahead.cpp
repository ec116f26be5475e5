// Reads ahead the rows that the next inputs need, in a few round trips, and serves reads from them.
#include <algorithm>
#include <utility>

#include "core/ledger/link_rows.hpp"
#include "core/ledger/list_rows.hpp"
#include "pg_store/ledger/keyed.hpp"
#include "pg_store/ledger/txn.hpp"

namespace sluice::pg {
namespace {

/// Clicks of one id that are read ahead. An id with more is read when it is needed.
constexpr std::size_t kClicksAhead = 64;
/// Orders that are kept at once: a slice of a payout close.
constexpr std::size_t kOrdersMax = 8192;

KeyList source_list(const std::vector<WaitKey>& keys, const Connection& connection) {
    KeyList list(digest_key(), connection);
    for (const WaitKey& key : keys) {
        list.add(key.account, key.digest);
    }
    return list;
}

}  // namespace

// ---- Orders and the rows that belong to them ----------------------------------------------------

template <Described Row>
Connection::Handler PgTxn::keep_asked(std::vector<Row> asked) {
    return [this, asked = std::move(asked)](const Rows& rows) {
        try {
            for (RowReader row : rows) {
                know(read_row<Row>(row), true);
            }
        } catch (const DamagedRow&) {
            for (const Row& row : asked) {
                forget(row);  // the input that loads the damaged row gets the error
            }
        }
    };
}

void PgTxn::fetch_refunds(const UpcomingKeys& keys) {
    static const Keyed kSelect(
        shop_text_key(),
        "SELECT " + sql_of<RefundOwner>().columns("r.") +
            " FROM sluice_ledger.refunds r JOIN {keys} "
            "ON r.account = {account} AND r.shop = k.shop AND r.refund_id = k.text");
    KeyList list(shop_text_key(), connection_);
    std::vector<RefundOwner> asked;
    for (const ShopText& key : keys.refund_ids) {
        RefundOwner row{key.account, key.shop, RefundLineItemId(key.text), {}, {}};
        if (asks_for(row)) {
            list.add(key.account, key.shop, key.text);
            asked.push_back(std::move(row));
        }
    }
    kSelect.send(connection_, list, keep_asked(std::move(asked)));
}

void PgTxn::fetch_deletions(const UpcomingKeys& keys) {
    static const Keyed kSelect(
        shop_text_key(),
        "SELECT " + sql_of<DeletedOrder>().columns("d.") +
            " FROM sluice_ledger.deleted_orders d JOIN {keys} "
            "ON d.account = {account} AND d.shop = k.shop AND d.order_id = k.text");
    KeyList list(shop_text_key(), connection_);
    std::vector<DeletedOrder> asked;
    for (const OrderKey& key : keys.deletable) {
        DeletedOrder row{.order = key};
        if (asks_for(row)) {
            list.add(key.account, key.shop, key.order_id.str());
            asked.push_back(std::move(row));
        }
    }
    kSelect.send(connection_, list, keep_asked(std::move(asked)));
}

void PgTxn::fetch_links(const UpcomingKeys& keys) {
    static const Statement kSelect =
        kept_statement("SELECT " + sql_of<LinkRow>().columns("l.") +
                       " FROM sluice_ledger.links l WHERE l.link = ANY ($1::text[])");
    ColumnArray ids(Type::kText);
    std::vector<LinkRow> asked;
    for (const LinkId& id : keys.links) {
        LinkRow row{.link = id};
        if (asks_for(row)) {
            ids.add().text(id.view());
            asked.push_back(std::move(row));
        }
    }
    if (asked.empty()) {
        return;
    }
    RowWriter parameters;
    ids.write_to(parameters);
    connection_.send(kSelect, parameters, keep_asked(std::move(asked)));
}

void PgTxn::fetch_chains(const UpcomingKeys& keys) {
    std::set<std::uint32_t> accounts;
    for (const OrderKey& key : keys.orders) {
        if (!chains_.contains(key.account.value)) {
            accounts.insert(key.account.value);
        }
    }
    if (accounts.empty()) {
        return;
    }
    static const Statement kSelect =
        select_statement("account, hash, entries, last_group",
                         "chains WHERE node = $1 AND account = ANY ($2::integer[])");
    RowWriter parameters;
    parameters.u4(head_.number);
    parameters.array(Type::kInt4, accounts,
                     [](RowWriter& out, std::uint32_t account) { out.u4(account); });
    for (const std::uint32_t account : accounts) {
        chains_[account];
    }
    connection_.send(kSelect, parameters, [this](Rows rows) {
        for (int i = 0; i < rows.count(); ++i) {
            read_named("table chains", std::nullopt, [&] {
                RowReader row = rows.row(i);
                const std::uint32_t account = row.u4();
                chains_[account] = read_chain(row);
            });
        }
    });
}

// ---- Codes, clicks and members ------------------------------------------------------------------

/// Reads the owner's membership from the columns after a code or click. It may be missing.
void PgTxn::know_member(const ProgramId& program, const CreatorId& creator, AccountNumber account,
                        RowReader& row) {
    if (row.next_is_null()) {
        Membership missing{.account = account, .program = program, .creator = creator};
        know(missing, false);
    } else {
        know(read_row<Membership>(row), true);
    }
}

void PgTxn::fetch_codes(const std::vector<WaitKey>& keys) {
    static const Keyed kSelect(
        digest_key(),
        "SELECT " + sql_of<CodeRow>().columns("c.") + ", " + sql_of<Membership>().columns("m.") +
            " FROM sluice_ledger.codes c JOIN {keys} "
            "ON c.account = {account} AND c.digest = k.digest "
            "LEFT JOIN sluice_ledger.memberships m ON m.account = c.account AND "
            "m.program = c.program AND m.creator = c.creator "
            "ORDER BY c.account, c.digest, c.program, c.valid_from_s, c.valid_from_ns");
    kSelect.send(connection_, source_list(keys, connection_), [this](Rows rows) {
        for (RowReader row : rows) {
            CodeRow code = read_row<CodeRow>(row);
            know_member(code.program, code.creator, code.account, row);
            codes_[{code.account, code.digest}].push_back(std::move(code));
        }
    });
}

/// Forgets an id with too many clicks. It is read again when it is needed.
void PgTxn::fetch_clicks(const std::vector<WaitKey>& keys) {
    static const Keyed kSelect(
        digest_key(),
        "SELECT " + sql_of<Click>().columns("t.") + ", " + sql_of<Membership>().columns("m.") +
            " FROM {keys} CROSS JOIN LATERAL (SELECT * FROM sluice_ledger.clicks t "
            "WHERE t.account = {account} AND t.anon = k.digest "
            "ORDER BY t.program DESC, t.occurred_s DESC, t.occurred_ns DESC LIMIT 65) t "
            "LEFT JOIN sluice_ledger.memberships m ON m.account = {account} AND "
            "m.program = t.program AND m.creator = t.creator");
    kSelect.send(connection_, source_list(keys, connection_), [this](Rows rows) {
        std::set<AnonKey> seen;
        for (RowReader row : rows) {
            Click click = read_row<Click>(row);
            know_member(click.program, click.creator, click.account, row);
            const AnonKey key{click.account, click.anon};
            seen.insert(key);
            clicks_[key].push_back(std::move(click));
        }
        for (const AnonKey& key : seen) {
            std::vector<Click>& clicks = clicks_[key];
            if (clicks.size() > kClicksAhead) {
                clicks_.erase(key);
                crowded_.insert(key);
                continue;
            }
            std::ranges::sort(clicks, [](const Click& a, const Click& b) {
                return a.occurred_at > b.occurred_at;
            });
        }
    });
}

/// Notes which devices no order waits for.
void PgTxn::fetch_waiting(const std::vector<WaitKey>& keys) {
    static const Keyed kSelect(
        digest_key(),
        "SELECT DISTINCT w.account, w.digest FROM sluice_ledger.waiting w JOIN {keys} "
        "ON w.account = {account} AND w.kind = 1 AND w.digest = k.digest");
    std::vector<WaitKey> asked;
    for (const WaitKey& key : keys) {
        if (asked_waiting_.insert(key).second) {
            asked.push_back(key);
        }
    }
    quiet_.insert(asked.begin(), asked.end());
    kSelect.send(connection_, source_list(asked, connection_), [this](Rows rows) {
        for (RowReader row : rows) {
            const AccountNumber account{row.u4()};
            quiet_.erase({account, WaitKind::kAnon, to_digest<Digest256>(row.next())});
        }
    });
}

void PgTxn::fetch_sources(std::vector<WaitKey> keys) {
    for (const auto& [key, order] : orders_) {
        const OrderState& state = order.state;
        if (order.exists && !order.changed && !state.live && state.device) {
            keys.push_back({key.account, WaitKind::kAnon, *state.device});
        }
    }
    std::ranges::sort(keys);
    keys.erase(std::unique(keys.begin(), keys.end()), keys.end());
    std::vector<WaitKey> anons;
    std::vector<WaitKey> codes;
    for (const WaitKey& key : keys) {
        const bool is_new = key.kind == WaitKind::kAnon
                                ? !crowded_.contains({key.account, key.digest}) &&
                                      clicks_.try_emplace({key.account, key.digest}).second
                                : codes_.try_emplace({key.account, key.digest}).second;
        if (is_new) {
            (key.kind == WaitKind::kAnon ? anons : codes).push_back(key);
        }
    }
    fetch_codes(codes);
    fetch_clicks(anons);
}

void PgTxn::fetch(const UpcomingKeys& keys) {
    // The exclusive lock holder is the only writer of orders, so row locks are unnecessary.
    fetch_orders(keys.orders, lock_ != WriterLock::kExclusive, orders_);
    fetch_refunds(keys);
    fetch_deletions(keys);
    fetch_chains(keys);
    fetch_products(keys.products);
    sync_lock();  // expect() has sent one before these reads
    fetch_links(keys);
    fetch_waiting(keys.devices);
    std::vector<WaitKey> sources = keys.sources;
    sources.insert(sources.end(), keys.devices.begin(), keys.devices.end());
    fetch_sources(std::move(sources));
    connection_.sync();
}

/// Programs with tiers, or that ask for new customers, read the results of other orders, so their
/// batches run one at a time. So do products of accounts whose programs ask for a line's product,
/// because an order of another node may read what they change. Which programs these are is known
/// from the batch before; if that has changed, the lock is taken again.
void PgTxn::serialize(const UpcomingKeys& keys) {
    std::set<AccountNumber> accounts;
    for (const OrderKey& key : keys.orders) {
        accounts.insert(key.account);
    }
    for (const AccountNumber account : accounts) {
        if (ahead_.needs(*this, account).alone) {
            take_lock(WriterLock::kExclusive);
        }
    }
    for (const ShopText& product : keys.products) {
        if (ahead_.needs(*this, product.account).products) {
            take_lock(WriterLock::kExclusive);
        }
    }
}

std::size_t PgTxn::expect(std::span<const Input> inputs, bool holds_some) {
    const UpcomingKeys keys = ahead_.keys(inputs, holds_some, lock_ == WriterLock::kExclusive);
    if (keys.inputs_count != 0) {
        stage(false);
        const bool alone = keys.command || keys.deletes || !keys.devices.empty() ||
                           ahead_.runs_alone(keys, head_.programs_revision);
        send_lock(alone ? WriterLock::kExclusive : WriterLock::kShared);
        fetch(keys);
        send_staged();
        serialize(keys);
        std::vector<ShopText> skus;
        for (const ShopText& sku : keys.skus) {
            if (ahead_.needs(*this, sku.account).products) {
                skus.push_back(sku);
            }
        }
        fetch_variants(skus);
    }
    return keys.inputs_count;
}

/// Reads the orders of a slice. Those of earlier slices are written and dropped.
void PgTxn::expect_orders(std::span<const OrderKey> keys) {
    take_lock(lock_ == WriterLock::kNone ? WriterLock::kExclusive : lock_);
    if (std::ranges::all_of(keys, [this](const OrderKey& key) { return orders_.contains(key); })) {
        return;
    }
    if (orders_.size() + keys.size() > kOrdersMax) {
        flush_orders();
        orders_.clear();
    }
    fetch_orders(keys, lock_ != WriterLock::kExclusive, orders_);
    connection_.sync();
}

// ---- Reads that the caches answer ---------------------------------------------------------------

CachedOrder& PgTxn::cached(const OrderKey& key) {
    if (!orders_.contains(key)) {
        take_lock(lock_ == WriterLock::kNone ? WriterLock::kExclusive : lock_);
        fetch_orders({&key, 1}, lock_ != WriterLock::kExclusive, orders_);
        connection_.sync();
    }
    return orders_[key];
}

bool PgTxn::load_order(const OrderKey& key, OrderState& state) {
    return cached(key).load(state);
}

/// Treats the anomalies of a new order as missing, without asking the server.
bool PgTxn::load_row(RowRef row) {
    if (row.is<Anomaly>()) {
        const auto order = orders_.find(row.as<Anomaly>().order);
        if (order != orders_.end() && !order->second.stored) {
            (void)asks_for(row);
        }
    }
    return KeptTables::load_row(row);
}

std::vector<CodeRow> PgTxn::code_owners(AccountNumber account, const Digest256& code) {
    const auto known = codes_.find({account, code});
    return known != codes_.end() ? known->second : Reads::code_owners(account, code);
}

void PgTxn::visit_clicks(AccountNumber account, const Digest256& anon, const ProgramId& program,
                         Timestamp upto, const Visitor<Click>& visit) {
    const auto known = clicks_.find({account, anon});
    if (known == clicks_.end()) {
        Reads::visit_clicks(account, anon, program, upto, visit);
        return;
    }
    for (const Click& click : known->second) {
        if (click.program == program && click.occurred_at <= upto && !visit(click)) {
            return;
        }
    }
}

ChainHead& PgTxn::mutable_chain(AccountNumber account) {
    const auto known = chains_.find(account.value);
    if (known != chains_.end()) {
        return known->second;
    }
    return chains_.emplace(account.value, Reads::chain(account)).first->second;
}

void PgTxn::scan_rows(RowView first, KeyRange range, const RowVisitor& visit) {
    if (first.is<Work>()) {
        scan_work(first.as<Work>(), range, visit);
    } else if (first.is<ClickByReceipt>()) {
        scan_clicks(first.as<ClickByReceipt>(), range, visit);
    } else if (!is_quiet(first, range)) {
        KeptTables::scan_rows(first, range, visit);
    }
}

/// Returns whether the rows are the orders that wait for one device, and there are none.
bool PgTxn::is_quiet(RowView first, KeyRange range) const {
    constexpr unsigned kWaitKeyColumns = 3;
    return first.is<WaitingOrder>() && range.same == kWaitKeyColumns &&
           quiet_.contains(first.as<WaitingOrder>().key);
}

/// Each record with clicks asks for the first row of its account, which seldom changes.
/// Requires: the scan begins at the account's first row.
void PgTxn::scan_clicks(const ClickByReceipt& first, KeyRange range,
                        const Visitor<ClickByReceipt>& visit) {
    const auto known = first_clicks_.find(first.account);
    const bool is_known = known != first_clicks_.end();
    if (is_known && (!known->second || !visit(*known->second))) {
        return;
    }
    bool is_first = true;
    KeptTables::scan_rows(first, range, [&](RowView row) {
        const bool is_shown = is_first && is_known;
        if (is_first) {
            first_clicks_[first.account] = row.as<ClickByReceipt>();
        }
        is_first = false;
        return is_shown || visit(row.as<ClickByReceipt>());
    });
    if (is_first) {
        first_clicks_[first.account].reset();
    }
}

/// The exclusive lock keeps other nodes' heads as they are.
void PgTxn::scan_heads(const Visitor<LedgerHead>& visit) {
    if (lock_ != WriterLock::kExclusive) {
        KeptTables::scan_heads(visit);
        return;
    }
    if (!heads_) {
        heads_.emplace();
        KeptTables::scan_heads([this](const LedgerHead& head) { heads_->push_back(head); });
    }
    for (const LedgerHead& head : *heads_) {
        if (!visit(head)) {
            return;
        }
    }
}

/// The first row is read before every input.
void PgTxn::scan_work(const Work& first, KeyRange range, const Visitor<Work>& visit) {
    if (!first_work_) {
        first_work_.emplace();
        KeptTables::scan_rows(first, range, [this](RowView work) {
            *first_work_ = work.as<Work>();
            return false;
        });
    }
    if (*first_work_ && visit(**first_work_)) {
        KeptTables::scan_rows(**first_work_, {0, 1}, [&](RowView work) {
            return work.as<Work>().number == (*first_work_)->number || visit(work.as<Work>());
        });
    }
}

}  // namespace sluice::pg
