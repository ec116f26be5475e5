#include "core/apply/catalog.hpp"

#include <optional>
#include <utility>

#include "core/json/slices.hpp"
#include "core/rules/catalog.hpp"

namespace sluice {
namespace {

void upsert(std::string_view element, AccountNumber account, ShopNumber shop, LedgerTxn& txn) {
    ProductName name = product_name(element);
    const CatalogKey key{account, shop, std::move(name.product_id), std::move(name.language),
                         std::move(name.country)};
    const std::optional<CatalogRecord> stored = txn.catalog(key);
    const CatalogRecord* old = stored ? &*stored : nullptr;
    txn.put_catalog(merge_product(key, old, element), old);
}

/// Without language and country: all copies; else exactly that one.
void erase(std::string_view element, AccountNumber account, ShopNumber shop, LedgerTxn& txn) {
    const ProductName name = product_name(element);
    const bool all = name.language.empty() && name.country.empty();
    for (const CatalogKey& key : txn.product_copies(account, shop, name.product_id)) {
        if (!all && (key.language != name.language || key.country != name.country)) {
            continue;
        }
        if (const std::optional<CatalogRecord> stored = txn.catalog(key)) {
            txn.delete_catalog(*stored);
        }
    }
}

}  // namespace

void apply_catalog(Topic topic, std::string_view body, AccountNumber account, ShopNumber shop,
                   LedgerTxn& txn) {
    for (const JsonMember& member : json_members(body)) {
        if (member.key != "products") {
            continue;
        }
        for (const std::string_view element : json_elements(member.value)) {
            if (topic == Topic::kProductUpsert) {
                upsert(element, account, shop, txn);
            } else {
                erase(element, account, shop, txn);
            }
        }
    }
}

}  // namespace sluice
