// Products, read ahead and kept.
#include <algorithm>
#include <utility>

#include "core/values/lookup.hpp"
#include "pg_store/ledger/keyed.hpp"
#include "pg_store/ledger/txn.hpp"

namespace sluice::pg {

void PgTxn::fetch_products(const std::vector<ShopText>& keys) {
    static const Keyed kSelect(
        shop_text_key(),
        "SELECT c.account, c.shop, c.product_id, c.language, c.country, c.full_id, c.record, "
        "c.brand, c.collections, c.tags, c.variant_skus FROM sluice_ledger.catalog c JOIN {keys} "
        "ON c.account = {account} AND c.shop = k.shop AND c.product_id = k.text "
        "ORDER BY c.account, c.shop, c.product_id, c.language, c.country FOR UPDATE OF c");
    KeyList list(shop_text_key(), connection_);
    for (const ShopText& key : keys) {
        if (products_.try_emplace(key).second) {
            list.add(key.account, key.shop, key_text(key.text));
        }
    }
    kSelect.send(connection_, list, [this](Rows rows) {
        for (RowReader row : rows) {
            CatalogRecord record = read_catalog(row);
            const CatalogKey& key = record.key;
            products_[{key.account, key.shop, key.product_id.str()}].insert_or_assign(
                {key.language, key.country}, std::move(record));
        }
    });
}

/// Finds the product that a line's text names: first as a variant's SKU, then as a product id.
void PgTxn::fetch_variants(const std::vector<ShopText>& skus) {
    static const Keyed kSelect(
        shop_text_key(),
        "SELECT {account}, k.shop, k.text, v.product_id, v.language, v.country, v.full_id "
        "FROM {keys} "
        "CROSS JOIN LATERAL (SELECT v.product_id, v.language, v.country, c.full_id "
        "FROM sluice_ledger.variants v JOIN sluice_ledger.catalog c "
        "USING (account, shop, product_id, language, country) "
        "WHERE v.account = {account} AND v.shop = k.shop AND v.variant_sku = k.text "
        "ORDER BY v.language, v.country, v.product_id LIMIT 1) v");
    KeyList list(shop_text_key(), connection_);
    std::vector<ShopText> products;
    for (const ShopText& sku : skus) {
        if (variants_.try_emplace(sku).second) {
            list.add(sku.account, sku.shop, sku.text);
            products.push_back(sku);
        }
    }
    if (list.empty()) {
        return;
    }
    kSelect.send(connection_, list, [&](Rows rows) {
        for (RowReader row : rows) {
            const AccountNumber account{row.u4()};
            const ShopNumber shop{row.u4()};
            const std::string text = row.string();
            CatalogKey key{account, shop, ProductId(row.text()), row.string(), row.string()};
            if (const Field full_id = row.next()) {
                key.product_id = ProductId(*full_id);
            }
            products.push_back({account, shop, key.product_id.str()});
            variants_[{account, shop, text}] = std::move(key);
        }
    });
    connection_.sync();
    std::ranges::sort(products);
    fetch_products(products);
    connection_.sync();
}

PgTxn::Copies& PgTxn::copies(AccountNumber account, ShopNumber shop, const ProductId& product) {
    const ShopText key{account, shop, product.str()};
    if (!products_.contains(key)) {
        take_lock(lock_ == WriterLock::kNone ? WriterLock::kExclusive : lock_);
        fetch_products({key});
        connection_.sync();
    }
    return products_[key];
}

std::optional<CatalogKey> PgTxn::find_variant(AccountNumber account, ShopNumber shop,
                                              std::string_view variant_sku) {
    const ShopText key{account, shop, std::string(variant_sku)};
    const auto known = variants_.find(key);
    if (known != variants_.end()) {
        return known->second;
    }
    return variants_[key] = Reads::find_variant(account, shop, variant_sku);
}

std::vector<CatalogKey> PgTxn::product_copies(AccountNumber account, ShopNumber shop,
                                              const ProductId& product) {
    return mapped(copies(account, shop, product), [](const auto& copy) { return copy.second.key; });
}

std::optional<CatalogRecord> PgTxn::catalog(const CatalogKey& key) {
    const Copies& found = copies(key.account, key.shop, key.product_id);
    const auto copy = found.find({key.language, key.country});
    return copy == found.end() ? std::nullopt : std::optional(copy->second);
}

}  // namespace sluice::pg
