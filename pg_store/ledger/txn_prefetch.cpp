// What a batch is about to read, in two round trips; and the reads that find it there.
#include <algorithm>
#include <utility>

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

Statement kept(const std::string& columns, const std::string& from) {
    return select_statement(columns, from);
}

}  // namespace

// ---- Orders and what hangs on them --------------------------------------------------------------

void PgTxn::fetch_orders(const BatchKeys& keys) {
    static const Statement kSelect =
        kept("o.account, o.shop, o.order_id, o.revision, " + order_columns(),
             "orders o JOIN " + std::string(kShopTextKeys) +
                 "ON o.account = k.account AND o.shop = k.shop AND o.order_id = k.text "
                 "ORDER BY o.account, o.shop, o.order_id FOR UPDATE OF o");
    ShopTextColumns columns;
    for (const OrderKey& key : keys.orders) {
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
            order.revision = row.u8();
            order.stored = order.exists = true;
            decode_order(row, order.state);
        }
    });
}

void PgTxn::fetch_refunds(const BatchKeys& keys) {
    static const Statement kSelect =
        kept("r.account, r.shop, r.refund_id, r.order_id, r.line_id",
             "refunds r JOIN " + std::string(kShopTextKeys) +
                 "ON r.account = k.account AND r.shop = k.shop AND r.refund_id = k.text");
    ShopTextColumns columns;
    for (const BatchKeys::ShopText& key : keys.refund_ids) {
        if (refunds_.try_emplace({key.account, key.shop, key.text}).second) {
            columns.add(key.account, key.shop, key.text);
        }
    }
    if (columns.empty()) {
        return;
    }
    connection_.send(kSelect, columns.parameters(), [this](Rows rows) {
        for (int i = 0; i < rows.count(); ++i) {
            RowReader row = rows.row(i);
            const AccountNumber account{row.u4()};
            const ShopNumber shop{row.u4()};
            CachedRefund& refund = refunds_[{account, shop, row.string()}];
            OrderId order(row.text());
            refund.owner = RefundOwner{std::move(order), LineItemId(row.text())};
        }
    });
}

void PgTxn::fetch_chains(const BatchKeys& keys) {
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
            RowReader row = rows.row(i);
            ChainHead& chain = chains_[row.u4()];
            chain.hash = to_digest<Digest256>(row.next());
            chain.entries = row.u8();
        }
    });
}

// ---- What attributes ----------------------------------------------------------------------------

void PgTxn::fetch_codes(const std::vector<WaitKey>& keys) {
    static const Statement kSelect =
        kept("c.account, c.digest, c.program, c.code, c.creator",
             "codes c JOIN unnest($1::integer[], $2::bytea[]) AS k (account, digest) "
             "ON c.account = k.account AND c.digest = k.digest "
             "ORDER BY c.account, c.digest, c.program");
    connection_.send(kSelect, source_parameters(keys), [this](Rows rows) {
        for (int i = 0; i < rows.count(); ++i) {
            RowReader row = rows.row(i);
            CodeRow code = read_code(row);
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
            Touch touch = read_touch(row);
            std::optional<Membership> member;
            if (!row.next_is_null()) {
                member = Membership{touch.account, touch.program, touch.creator, row.boolean(), {}};
                member->changed_by = {row.u8()};
            }
            members_[{touch.account, touch.program, touch.creator}] = std::move(member);
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

void PgTxn::prefetch(const BatchKeys& keys) {
    send_gate(keys.commands ? Gate::kExclusive : Gate::kShared);
    fetch_orders(keys);
    fetch_refunds(keys);
    fetch_chains(keys);
    std::vector<ShopKey> products;
    for (const BatchKeys::ShopText& key : keys.products) {
        products.emplace_back(key.account, key.shop, key.text);
    }
    fetch_products(products);
    connection_.sync();
    fetch_sources(keys.sources);
    connection_.sync();
}

// ---- Products -----------------------------------------------------------------------------------

void PgTxn::fetch_products(const std::vector<ShopKey>& keys) {
    static const Statement kSelect = kept(
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
void PgTxn::prefetch_skus(std::span<const BatchKeys::ShopText> skus) {
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
    for (const BatchKeys::ShopText& sku : skus) {
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
        BatchKeys keys;
        keys.orders.push_back(key);
        fetch_orders(keys);
        connection_.sync();
    }
    return orders_[key];
}

bool PgTxn::load_order(const OrderKey& key, OrderState& state) {
    const CachedOrder& order = cached(key);
    if (order.exists) {
        state = order.state;
    }
    return order.exists;
}

std::optional<RefundOwner> PgTxn::refund_owner(AccountNumber account, ShopNumber shop,
                                               std::string_view refund_id) {
    const ShopKey key{account, shop, std::string(refund_id)};
    const auto known = refunds_.find(key);
    if (known != refunds_.end()) {
        return known->second.owner;
    }
    return (refunds_[key].owner = Reads::refund_owner(account, shop, refund_id));
}

std::optional<Anomaly> PgTxn::anomaly(const OrderKey& key, AnomalyKind kind) {
    const auto known = anomalies_.find({key, kind});
    if (known != anomalies_.end()) {
        return known->second.row;
    }
    const auto order = orders_.find(key);
    if (order != orders_.end() && !order->second.stored) {
        return std::nullopt;  // an order that is new has none
    }
    return Reads::anomaly(key, kind);
}

std::vector<CodeRow> PgTxn::code_owners(AccountNumber account, const Digest256& code) {
    const auto known = codes_.find({account, code});
    return known != codes_.end() ? known->second : Reads::code_owners(account, code);
}

std::optional<Membership> PgTxn::membership(AccountNumber account, const ProgramId& program,
                                            const CreatorId& creator) {
    const auto [known, added] = members_.try_emplace({account, program, creator});
    if (added) {
        known->second = Reads::membership(account, program, creator);
    }
    return known->second;
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

std::optional<Work> PgTxn::first_work() {
    if (!first_work_) {
        first_work_ = Reads::first_work();
    }
    return *first_work_;
}

}  // namespace sluice::pg
