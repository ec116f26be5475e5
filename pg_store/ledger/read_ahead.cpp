#include "pg_store/ledger/read_ahead.hpp"

#include <algorithm>

#include "core/protocol/order_deletion.hpp"
#include "core/protocol/personal_ids.hpp"
#include "core/rules/attribution.hpp"
#include "core/rules/catalog.hpp"

namespace sluice::pg {

UpcomingKeys ReadAhead::keys(std::span<const Input> inputs, bool holds_some, bool is_exclusive) {
    UpcomingKeys keys;
    for (const Input& input : inputs) {
        const Result<RecordView> record = decode_record(input.record);
        if (record && is_command(record->meta.topic)) {
            keys.command = keys.inputs_count == 0 && !holds_some;
            keys.inputs_count += keys.command ? 1 : 0;
            break;
        }
        if (record && is_clicks(record->meta.topic)) {
            if (!is_exclusive && (holds_some || keys.inputs_count != 0)) {
                break;
            }
            is_exclusive = true;
        }
        if (record) {
            add(input, *record, keys);
        }
        ++keys.inputs_count;
    }
    return keys;
}

const ProgramNeeds& ReadAhead::needs(LedgerReader& ledger, AccountNumber account) {
    if (revision_ != ledger.head().programs_revision) {
        revision_ = ledger.head().programs_revision;
        needs_.clear();
    }
    const auto known = needs_.find(account.value);
    if (known != needs_.end()) {
        return known->second;
    }
    ProgramNeeds needs;
    for (const ProgramRow& row : ledger.programs(account)) {
        const Program& program = row.program;
        needs.alone = needs.alone || program.has_tiers() || program.asks_for_customer();
        needs.products =
            needs.products || std::ranges::any_of(program.rules, [](const Rule& rule) {
                return rule.match >= RuleMatch::kProduct && rule.match <= RuleMatch::kTag;
            });
    }
    return needs_[account.value] = needs;
}

bool ReadAhead::runs_alone(const UpcomingKeys& keys, std::uint64_t revision) const {
    return revision == revision_ && std::ranges::any_of(keys.orders, [this](const OrderKey& key) {
               const auto known = needs_.find(key.account.value);
               return known != needs_.end() && known->second.alone;
           });
}

/// No order of another node may arrive while a deletion looks for one.
void ReadAhead::add_deletion(const RecordView& record, std::string_view body, UpcomingKeys& keys) {
    keys.deletes = true;
    if (const Result<OrderDeletion> deletion = parse_order_deletion(body)) {
        keys.orders.push_back(
            {record.meta.account_number, record.meta.shop_number, OrderId(deletion->order_id)});
        keys.deletable.push_back(keys.orders.back());
    }
}

void ReadAhead::add(const Input& input, const RecordView& record, UpcomingKeys& keys) {
    const AccountNumber account = record.meta.account_number;
    const ShopNumber shop = record.meta.shop_number;
    const std::string_view body = record.meta.bulk ? input.bulk_body : record.body;
    if (record.meta.topic == Topic::kOrderDelete) {
        add_deletion(record, body, keys);
        return;
    }
    if (is_clicks(record.meta.topic)) {
        if (const Parsed<ClickRecord> clicks = decode_clicks(body)) {
            for (const RecordedClick& row : clicks->rows) {
                keys.devices.push_back({account, WaitKind::kAnon, row.device});
                if (clicks->source == ClickSource::kLink) {
                    keys.links.push_back(row.link);
                }
            }
        }
        return;
    }
    if (!is_order(record.meta.topic)) {
        if (is_catalog(record.meta.topic) &&
            products_.validate(body, record.meta.topic) == BatchVerdict::kValid) {
            for (const std::string_view element : product_elements(body)) {
                keys.products.push_back({account, shop, product_name(element).product_id.str()});
            }
        }
        return;
    }
    const Pseudonyms pseudonyms = input.body_sha256 ? Pseudonyms::kRead : Pseudonyms::kRefused;
    const OrderEvent* event = orders_.parse(body, record.meta.topic, {}, pseudonyms);
    if (event == nullptr) {
        return;
    }
    keys.orders.push_back({account, shop, OrderId(event->order_id)});
    if (record.meta.source) {
        keys.deletable.push_back(keys.orders.back());
    }
    for (const RefundLineItem& refund : event->refund_line_items) {
        keys.refund_ids.push_back({account, shop, std::string(refund.refund_line_item_id)});
    }
    if (const auto device = device_of(record.meta, pseudonyms)) {
        keys.sources.push_back({account, WaitKind::kAnon, *device});
    }
    for (const Discount& discount : event->discounts) {
        keys.sources.push_back({account, WaitKind::kCode, code_digest(discount.code)});
    }
    for (const LineItem& line : event->line_items) {
        keys.skus.push_back({account, shop, std::string(line.variant_sku.value_or(line.sku))});
        keys.skus.push_back({account, shop, std::string(line.sku)});
    }
}

}  // namespace sluice::pg
