#include "core/apply/batch_keys.hpp"

#include <algorithm>
#include <string>
#include <unordered_map>
#include <vector>

#include "core/protocol/record.hpp"
#include "core/rules/attribution.hpp"
#include "core/rules/catalog.hpp"

namespace sluice {
namespace {

void add_keys(const InputReaders& readers, const Input& input, const RecordView& record,
              BatchKeys& keys, std::vector<BatchKeys::ShopText>& skus) {
    const AccountNumber account = record.meta.account_number;
    const ShopNumber shop = record.meta.shop_number;
    const std::string_view body = record.meta.bulk ? input.bulk_body : record.body;
    if (!is_order(record.meta.topic)) {
        if (readers.products.validate(body, record.meta.topic) == BatchVerdict::kValid) {
            for (const ProductName& name : product_names(body)) {
                keys.products.push_back({account, shop, name.product_id.str()});
            }
        }
        return;
    }
    const OrderEvent* event = readers.orders.parse(body, record.meta.topic, {});
    if (event == nullptr) {
        return;
    }
    keys.orders.push_back({account, shop, OrderId(event->order_id)});
    for (const RefundLineItem& refund : event->refund_line_items) {
        keys.refund_ids.push_back({account, shop, std::string(refund.refund_line_item_id)});
    }
    if (!record.meta.anon_id.empty()) {
        keys.sources.push_back({account, WaitKind::kAnon, anon_digest(record.meta.anon_id)});
    }
    for (const Discount& discount : event->discounts) {
        keys.sources.push_back({account, WaitKind::kCode, code_digest(discount.code)});
    }
    for (const LineItem& line : event->line_items) {
        skus.push_back({account, shop, std::string(line.variant_sku.value_or(line.sku))});
        skus.push_back({account, shop, std::string(line.sku)});
    }
}

/// Only for accounts with a rule that asks for the product.
void prefetch_products(const InputReaders& readers, std::vector<BatchKeys::ShopText>& skus,
                       LedgerTxn& txn) {
    std::unordered_map<std::uint32_t, bool> needed;
    const auto end = std::remove_if(skus.begin(), skus.end(), [&](const auto& sku) {
        const auto [known, added] = needed.try_emplace(sku.account.value);
        if (added) {
            known->second = readers.programs.needs_products(txn, sku.account);
        }
        return !known->second;
    });
    skus.erase(end, skus.end());
    if (!skus.empty()) {
        txn.prefetch_skus(skus);
    }
}

}  // namespace

std::size_t prefetch_keys(const InputReaders& readers, std::span<const Input> inputs, bool begun,
                          LedgerTxn& txn) {
    if (!txn.wants_prefetch()) {
        return inputs.size();
    }
    BatchKeys keys;
    std::vector<BatchKeys::ShopText> skus;
    std::size_t count = 0;
    for (const Input& input : inputs) {
        const Result<RecordView> record = decode_record(input.record);
        if (record && is_command(record->meta.topic)) {
            keys.commands = count == 0 && !begun;
            count += keys.commands ? 1 : 0;
            break;
        }
        if (record) {
            add_keys(readers, input, *record, keys, skus);
        }
        ++count;
    }
    if (count != 0) {
        txn.prefetch(keys);
        prefetch_products(readers, skus, txn);
    }
    return count;
}

}  // namespace sluice
