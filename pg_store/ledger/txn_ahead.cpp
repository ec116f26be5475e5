// What the next inputs will touch, read in a few round trips; and the reads that find it there.
#include <algorithm>
#include <utility>

#include "core/ledger/row_name.hpp"
#include "pg_store/ledger/order_row.hpp"
#include "pg_store/ledger/txn.hpp"

namespace sluice::pg {
namespace {

/// Touches of one id that are fetched ahead; an id with more is asked for when it is needed.
constexpr std::size_t kTouchesAhead = 64;

/// account, shop and a text for each row: `unnest($1, $2, $3)`.
class ShopTextColumns {
public:
    void add(AccountNumber account, ShopNumber shop, std::string_view text) {
        accounts_.add().u4(account.value);
        shops_.add().u4(shop.value);
        texts_.add().text(text);
    }
    [[nodiscard]] RowWriter parameters() const {
        RowWriter row;
        accounts_.write_to(row);
        shops_.write_to(row);
        texts_.write_to(row);
        return row;
    }
    [[nodiscard]] bool empty() const noexcept { return accounts_.count() == 0; }

private:
    Column accounts_{Type::kInt4}, shops_{Type::kInt4}, texts_{Type::kText};
};

constexpr const char* kShopTextKeys =
    "unnest($1::integer[], $2::integer[], $3::text[]) AS k (account, shop, text) ";

RowWriter source_parameters(const std::vector<WaitKey>& keys) {
    Column accounts(Type::kInt4);
    Column digests(Type::kBytes);
    for (const WaitKey& key : keys) {
        accounts.add().u4(key.account.value);
        digests.add().digest(key.digest);
    }
    RowWriter row;
    accounts.write_to(row);
    digests.write_to(row);
    return row;
}

}  // namespace

// ---- Orders and what hangs on them --------------------------------------------------------------

void PgTxn::fetch_orders(const std::vector<OrderKey>& keys) {
    static const Statement kSelect =
        select_statement("o.account, o.shop, o.order_id, o.revision, " + order_columns(),
                         "orders o JOIN " + std::string(kShopTextKeys) +
                             "ON o.account = k.account AND o.shop = k.shop AND o.order_id = k.text "
                             "ORDER BY o.account, o.shop, o.order_id FOR UPDATE OF o");
    ShopTextColumns columns;
    for (const OrderKey& key : keys) {
        const auto [entry, added] = orders_.try_emplace(key);
        if (added) {
            columns.add(key.account, key.shop, key.order_id.view());
        }
    }
    if (columns.empty()) {
        return;
    }
    connection_.send(kSelect, columns.parameters(), [this](Rows rows) {
        for (int i = 0; i < rows.count(); ++i) {
            RowReader row = rows.row(i);
            OrderKey key;
            key.account = {row.u4()};
            key.shop = {row.u4()};
            key.order_id = OrderId(row.text());
            CachedOrder& order = orders_[key];
            order.state.key = std::move(key);
            order.stored = order.exists = true;
            try {
                order.revision = row.u8();
                decode_order(row, order.state);
            } catch (const LedgerFailure&) {
                order.damage = std::current_exception();  // told to the input that loads it
            }
        }
    });
}

void PgTxn::fetch_refunds(const UpcomingKeys& keys) {
    static const Statement kSelect = select_statement(
        table_text<RefundOwner>().columns("r."),
        "refunds r JOIN " + std::string(kShopTextKeys) +
            "ON r.account = k.account AND r.shop = k.shop AND r.refund_id = k.text");
    ShopTextColumns columns;
    std::vector<RefundOwner> asked;
    for (const ShopText& key : keys.refund_ids) {
        RefundOwner row{key.account, key.shop, RefundLineItemId(key.text), {}, {}};
        if (asks_for(row)) {
            columns.add(key.account, key.shop, key.text);
            asked.push_back(std::move(row));
        }
    }
    if (columns.empty()) {
        return;
    }
    connection_.send(kSelect, columns.parameters(), [this, asked = std::move(asked)](Rows rows) {
        try {
            for (int i = 0; i < rows.count(); ++i) {
                RowReader row = rows.row(i);
                know(read_row<RefundOwner>(row), true);
            }
        } catch (const DamagedRow&) {
            for (const RefundOwner& row : asked) {
                forget(row);  // the input that loads the damaged one is told
            }
        }
    });
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
    static const Statement kSelect = select_statement(
        "account, hash, entries", "chains WHERE node = $1 AND account = ANY ($2::integer[])");
    RowWriter parameters;
    parameters.u4(node_.number);
    parameters.array(Type::kInt4, accounts,
                     [](RowWriter& out, std::uint32_t account) { out.u4(account); });
    for (const std::uint32_t account : accounts) {
        chains_[account];
    }
    connection_.send(kSelect, parameters, [this](Rows rows) {
        for (int i = 0; i < rows.count(); ++i) {
            read_named("table chains", std::nullopt, [&] {
                RowReader row = rows.row(i);
                ChainHead& chain = chains_[row.u4()];
                chain.hash = to_digest<Digest256>(row.next());
                chain.entries = row.u8();
            });
        }
    });
}

// ---- What attributes ----------------------------------------------------------------------------

void PgTxn::fetch_codes(const std::vector<WaitKey>& keys) {
    static const Statement kSelect =
        select_statement(table_text<CodeRow>().columns("c."),
                         "codes c JOIN unnest($1::integer[], $2::bytea[]) AS k (account, digest) "
                         "ON c.account = k.account AND c.digest = k.digest "
                         "ORDER BY c.account, c.digest, c.program");
    connection_.send(kSelect, source_parameters(keys), [this](Rows rows) {
        for (int i = 0; i < rows.count(); ++i) {
            RowReader row = rows.row(i);
            CodeRow code = read_row<CodeRow>(row);
            codes_[{code.account, code.digest}].push_back(std::move(code));
        }
    });
}

/// An id with too many touches is forgotten again: it is asked for when it is needed.
void PgTxn::fetch_touches(const std::vector<WaitKey>& keys) {
    static const Statement kSelect = {
        "SELECT t.account, t.anon, t.program, t.occurred_s, t.occurred_ns, t.creator, t.import, "
        "t.import_row, m.removed, m.changed_by "
        "FROM unnest($1::integer[], $2::bytea[]) AS k (account, anon) CROSS JOIN LATERAL "
        "(SELECT * FROM sluice_ledger.touches t WHERE t.account = k.account AND t.anon = k.anon "
        "ORDER BY t.program DESC, t.occurred_s DESC, t.occurred_ns DESC LIMIT 65) t "
        "LEFT JOIN sluice_ledger.memberships m ON m.account = t.account AND "
        "m.program = t.program AND m.creator = t.creator"};
    connection_.send(kSelect, source_parameters(keys), [this](Rows rows) {
        std::set<AnonKey> seen;
        for (int i = 0; i < rows.count(); ++i) {
            RowReader row = rows.row(i);
            Touch touch = read_row<Touch>(row);
            Membership member{touch.account, touch.program, touch.creator, false, {}};
            const bool joined = !row.next_is_null();
            if (joined) {
                read_named(row_name(member), std::nullopt, [&] {
                    member.removed = row.boolean();
                    member.changed_by = {row.u8()};
                });
            }
            know(member, joined);
            const AnonKey key{touch.account, touch.anon};
            seen.insert(key);
            touches_[key].push_back(std::move(touch));
        }
        for (const AnonKey& key : seen) {
            std::vector<Touch>& touches = touches_[key];
            if (touches.size() > kTouchesAhead) {
                touches_.erase(key);
                continue;
            }
            std::sort(touches.begin(), touches.end(),
                      [](const Touch& a, const Touch& b) { return a.occurred_at > b.occurred_at; });
        }
    });
}

void PgTxn::fetch_sources(std::vector<WaitKey> keys) {
    for (const auto& [key, order] : orders_) {
        const OrderState& state = order.state;
        if (order.exists && !order.changed && !state.attribution) {
            if (state.anon) {
                keys.push_back({key.account, WaitKind::kAnon, *state.anon});
            }
        }
    }
    std::sort(keys.begin(), keys.end());
    keys.erase(std::unique(keys.begin(), keys.end()), keys.end());
    std::vector<WaitKey> anons;
    std::vector<WaitKey> codes;
    for (const WaitKey& key : keys) {
        const bool is_new = key.kind == WaitKind::kAnon
                                ? touches_.try_emplace({key.account, key.digest}).second
                                : codes_.try_emplace({key.account, key.digest}).second;
        if (is_new) {
            (key.kind == WaitKind::kAnon ? anons : codes).push_back(key);
        }
    }
    if (!codes.empty()) {
        fetch_codes(codes);
    }
    if (!anons.empty()) {
        fetch_touches(anons);
    }
}

void PgTxn::fetch(const UpcomingKeys& keys) {
    send_gate(keys.command ? Gate::kExclusive : Gate::kShared);
    fetch_orders(keys.orders);
    fetch_refunds(keys);
    fetch_chains(keys);
    std::vector<ShopKey> products;
    for (const ShopText& key : keys.products) {
        products.emplace_back(key.account, key.shop, key.text);
    }
    fetch_products(products);
    connection_.sync();
    fetch_sources(keys.sources);
    connection_.sync();
}

std::size_t PgTxn::expect(std::span<const Input> inputs, bool holds_some) {
    const UpcomingKeys keys = ahead_.keys(inputs, holds_some);
    if (keys.inputs_count != 0) {
        fetch(keys);
        std::vector<ShopText> skus;
        for (const ShopText& sku : keys.skus) {
            if (ahead_.needs_products(*this, sku.account)) {
                skus.push_back(sku);
            }
        }
        fetch_variants(skus);
    }
    return keys.inputs_count;
}

// ---- Products -----------------------------------------------------------------------------------

void PgTxn::fetch_products(const std::vector<ShopKey>& keys) {
    static const Statement kSelect = select_statement(
        "c.account, c.shop, c.product_id, c.language, c.country, c.full_id, c.record, "
        "c.brand, c.collections, c.tags, c.variant_skus",
        "catalog c JOIN " + std::string(kShopTextKeys) +
            "ON c.account = k.account AND c.shop = k.shop AND c.product_id = k.text "
            "ORDER BY c.account, c.shop, c.product_id, c.language, c.country FOR UPDATE OF c");
    ShopTextColumns columns;
    for (const ShopKey& key : keys) {
        const auto& [account, shop, id] = key;
        if (products_.try_emplace(key).second) {
            columns.add(account, shop, key_text(id));
        }
    }
    if (columns.empty()) {
        return;
    }
    connection_.send(kSelect, columns.parameters(), [this](Rows rows) {
        for (int i = 0; i < rows.count(); ++i) {
            RowReader row = rows.row(i);
            CatalogRecord record = read_catalog(row);
            const CatalogKey& key = record.key;
            products_[{key.account, key.shop, key.product_id.str()}].insert_or_assign(
                {key.language, key.country}, std::move(record));
        }
    });
}

/// Which product a text of a line means: as a variant's first, then as the product's id.
void PgTxn::fetch_variants(const std::vector<ShopText>& skus) {
    static const Statement kSelect = {
        "SELECT k.account, k.shop, k.text, v.product_id, v.language, v.country, v.full_id "
        "FROM unnest($1::integer[], $2::integer[], $3::text[]) AS k (account, shop, text) "
        "CROSS JOIN LATERAL (SELECT v.product_id, v.language, v.country, c.full_id "
        "FROM sluice_ledger.variants v JOIN sluice_ledger.catalog c "
        "USING (account, shop, product_id, language, country) "
        "WHERE v.account = k.account AND v.shop = k.shop AND v.variant_sku = k.text "
        "ORDER BY v.language, v.country, v.product_id LIMIT 1) v"};
    ShopTextColumns columns;
    std::vector<ShopKey> products;
    for (const ShopText& sku : skus) {
        if (variants_.try_emplace({sku.account, sku.shop, sku.text}).second) {
            columns.add(sku.account, sku.shop, sku.text);
            products.emplace_back(sku.account, sku.shop, sku.text);
        }
    }
    if (columns.empty()) {
        return;
    }
    connection_.send(kSelect, columns.parameters(), [&](Rows rows) {
        for (int i = 0; i < rows.count(); ++i) {
            RowReader row = rows.row(i);
            const AccountNumber account{row.u4()};
            const ShopNumber shop{row.u4()};
            const std::string text = row.string();
            CatalogKey key{account, shop, ProductId(row.text()), row.string(), row.string()};
            if (const Field full_id = row.next()) {
                key.product_id = ProductId(*full_id);
            }
            products.emplace_back(account, shop, key.product_id.str());
            variants_[{account, shop, text}] = std::move(key);
        }
    });
    connection_.sync();
    std::sort(products.begin(), products.end());
    fetch_products(products);
    connection_.sync();
}

PgTxn::Copies& PgTxn::copies(AccountNumber account, ShopNumber shop, const ProductId& product) {
    const ShopKey key{account, shop, product.str()};
    if (!products_.contains(key)) {
        pass_gate(gate_ == Gate::kOpen ? Gate::kExclusive : gate_);
        fetch_products({key});
        connection_.sync();
    }
    return products_[key];
}

std::optional<CatalogKey> PgTxn::find_variant(AccountNumber account, ShopNumber shop,
                                              std::string_view variant_sku) {
    const ShopKey key{account, shop, std::string(variant_sku)};
    const auto known = variants_.find(key);
    if (known != variants_.end()) {
        return known->second;
    }
    return variants_[key] = Reads::find_variant(account, shop, variant_sku);
}

std::vector<CatalogKey> PgTxn::product_copies(AccountNumber account, ShopNumber shop,
                                              const ProductId& product) {
    std::vector<CatalogKey> keys;
    for (const auto& [which, record] : copies(account, shop, product)) {
        keys.push_back(record.key);
    }
    return keys;
}

std::optional<CatalogRecord> PgTxn::catalog(const CatalogKey& key) {
    const Copies& found = copies(key.account, key.shop, key.product_id);
    const auto copy = found.find({key.language, key.country});
    return copy == found.end() ? std::nullopt : std::optional(copy->second);
}

// ---- Reads that the caches answer ---------------------------------------------------------------

PgTxn::CachedOrder& PgTxn::cached(const OrderKey& key) {
    if (!orders_.contains(key)) {
        pass_gate(gate_ == Gate::kOpen ? Gate::kExclusive : gate_);
        fetch_orders({key});
        connection_.sync();
    }
    return orders_[key];
}

bool PgTxn::load_order(const OrderKey& key, OrderState& state) {
    const CachedOrder& order = cached(key);
    if (order.damage) {
        std::rethrow_exception(order.damage);
    }
    if (order.exists) {
        state = order.state;
    }
    return order.exists;
}

/// An order that is new has none.
bool PgTxn::load(Anomaly& row) {
    const auto order = orders_.find(row.order);
    if (order != orders_.end() && !order->second.stored) {
        know_missing(row);
    }
    return TableKeeps::load(row);
}

std::vector<CodeRow> PgTxn::code_owners(AccountNumber account, const Digest256& code) {
    const auto known = codes_.find({account, code});
    return known != codes_.end() ? known->second : Reads::code_owners(account, code);
}

void PgTxn::visit_touches(AccountNumber account, const Digest256& anon, const ProgramId& program,
                          Timestamp upto, const Visitor<Touch>& visit) {
    const auto known = touches_.find({account, anon});
    if (known == touches_.end()) {
        Reads::visit_touches(account, anon, program, upto, visit);
        return;
    }
    for (const Touch& touch : known->second) {
        if (touch.program == program && touch.occurred_at <= upto && !visit(touch)) {
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

/// The first one is asked for before every input.
void PgTxn::scan(const Work& first, KeyRange range, const Visitor<Work>& visit) {
    if (!first_work_) {
        first_work_.emplace();
        TableKeeps::scan(first, range, [this](const Work& work) {
            *first_work_ = work;
            return false;
        });
    }
    if (*first_work_ && visit(**first_work_)) {
        TableKeeps::scan(**first_work_, {0, 1}, [&](const Work& work) {
            return work.number == (*first_work_)->number || visit(work);
        });
    }
}

}  // namespace sluice::pg
