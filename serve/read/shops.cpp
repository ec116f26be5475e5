// Shops and nodes: what shops sent, their products, and how far each node has applied its inputs.
#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/json/slices.hpp"
#include "core/ledger/paged_reads.hpp"
#include "core/reports/report.hpp"
#include "core/reports/silence.hpp"
#include "serve/read/cursor.hpp"
#include "serve/read/lists.hpp"

namespace sluice::serve {
namespace {

using reports::Json;

/// Sets the cells that tell what the shops sent.
void add_activity(Read& read, Page& page) {
    enum : std::size_t { kShop = 0, kLastEvent = 4, kSilence, kDead };
    std::map<std::string, ShopNumber> numbers;
    for (const ShopRow& shop : shops_of(read)) {
        numbers.emplace(shop.shop_id.str(), shop.shop);
    }
    constexpr std::int64_t kRecentDays = 30;
    // The ledger may not have the shops themselves.
    std::map<std::string, DeadCount> dead =
        paged(read.ledger)
            .dead_by_shop(read.grant.account, read.now.plus_days(-kRecentDays), kEndOfTime);
    const auto silences = reports::silences_of(read.ledger, read.grant.account);
    for (reports::Row& row : page.rows) {
        const ShopId shop(row[kShop].cell());
        const auto number = numbers.find(shop.str());
        const auto known = number == numbers.end() ? silences.end() : silences.find(number->second);
        const auto silence = known == silences.end() ? std::nullopt : std::optional(known->second);
        row[kLastEvent] = silence ? Json(silence->last_event.to_string()) : Json();
        row[kSilence] = reports::silence_json(shop, silence, read.now);
        const DeadCount& letters = dead[shop.str()];
        row[kDead] = letters.others + letters.privacy_requests;
    }
}

/// Returns the ids before and after an order that the shops may not have.
Json nearest_orders(Read& read, const OrderId& id) {
    std::map<ShopNumber, std::string> names;
    std::vector<ShopNumber> shops;
    for (const ShopRow& shop : shops_of(read)) {
        names.emplace(shop.shop, shop.shop_id.str());
        shops.push_back(shop.shop);
    }
    Json list = Json::array();
    for (const OrderNeighbours& one :
         paged(read.ledger).neighbours(read.grant.account, shops, id)) {
        for (const std::optional<OrderId>& order : {one.before, one.after}) {
            if (order) {
                list.push_back({{"shop_id", names.at(one.shop)}, {"order_id", order->str()}});
            }
        }
    }
    return list;
}

}  // namespace

std::vector<reports::Column> shop_columns() {
    return {{"shop_id"},       {"account_id"}, {"suspended"},   {"created_at"},
            {"last_event_at"}, {"silence"},    {"dead_letters"}};
}

Page list_shops(Read& read) {
    PageOfAll page(read, {0});
    const auto only = read.arguments.id<ShopId>("shop");
    bool found = false;
    for (const store::ShopRow& shop : registered_shops(read)) {
        if (!only || *only == shop.shop_id) {
            page.add({shop.shop_id.str(), shop.account_id.str(), shop.suspended,
                      shop.created_at.to_string(), Json(), Json(), Json()});
            found = true;
        }
    }
    if (only && !found) {
        refuse("not_found");
    }
    Page shown = std::move(page).take();
    add_activity(read, shown);
    if (const auto near = read.arguments.text("near")) {
        shown.extras.emplace_back("nearest", nearest_orders(read, OrderId(*near)));
    }
    return shown;
}

Page list_products(Read& read) {
    ReadLimit limit(read);
    Page page;
    visit_shops(read, page, [&](const ShopRow& shop, const std::optional<std::string>& place) {
        CatalogKey after{shop.account, shop.shop, {}, {}, {}};
        if (place) {
            const auto parts = key_parts(*place, 3);
            after.product_id = ProductId(parts[0]);
            after.language = parts[1];
            after.country = parts[2];
        }
        const std::string shop_member = "{\"shop_id\":" + reports::json_quoted(shop.shop_id.view());
        paged(read.ledger).scan_catalog_after(after, [&](const CatalogRecord& record) {
            const CatalogKey& key = record.key;
            if (!limit.admits(
                    shop_key(shop, join_key({key.product_id.str(), key.language, key.country})),
                    page)) {
                return false;
            }
            std::string object = shop_member;
            for (const JsonMember& member : json_members(record.json)) {
                object += "," + reports::json_quoted(member.key) + ":";
                object += member.value;
            }
            page.raw_rows.push_back(object + "}");
            limit.add_bytes(object.size());
            return true;
        });
    });
    return page;
}

std::vector<NodeState> node_states(Read& read) {
    constexpr std::int64_t kSecondsBehind = 3600;
    std::vector<NodeState> nodes;
    read.ledger.scan_heads([&](const LedgerHead& head) {
        nodes.push_back({head, head.node == read.worker.node && read.worker.is_behind});
        return true;
    });
    const auto newest = std::ranges::max_element(
        nodes, {}, [](const NodeState& node) { return node.head.last_received; });
    for (NodeState& node : nodes) {
        node.is_behind = node.is_behind || node.head.last_received.plus_seconds(kSecondsBehind) <
                                               newest->head.last_received;
    }
    return nodes;
}

std::vector<reports::Column> node_columns() {
    return {{"node"}, {"number"}, {"last_received"}, {"applied_seq"},  {"entries"},
            {"hash"}, {"behind"}, {"waiting"},       {"worker_state"}, {"worker_version"}};
}

Page list_nodes(Read& read) {
    std::map<std::string, ChainHead> chains;
    read.ledger.scan_chains([&](const NodeChain& chain) {
        if (chain.account == read.grant.account) {
            chains.emplace(chain.node, chain.head);
        }
        return true;
    });
    PageOfAll page(read, {0});
    for (const auto& [head, is_behind] : node_states(read)) {
        const ChainHead& chain = chains[head.node];
        const bool own = head.node == read.worker.node;
        page.add({head.node, head.number, head.last_received.to_string(), head.applied_seq.value,
                  chain.entries, to_hex(chain.hash), is_behind,
                  own ? Json(read.worker.waiting) : Json(), own ? Json(read.worker.state) : Json(),
                  own ? Json(read.worker.version) : Json()});
    }
    return std::move(page).take();
}

}  // namespace sluice::serve
