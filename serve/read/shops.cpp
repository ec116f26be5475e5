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
#include "core/lists/overview.hpp"
#include "core/lists/report.hpp"
#include "core/lists/silence.hpp"
#include "serve/read/cursor.hpp"
#include "serve/read/lists.hpp"

namespace sluice::serve {
namespace {

using enum lists::ColumnType;
using enum lists::Scope;
using lists::List;
using lists::NodePace;
using lists::Value;

/// Events and dead letters of the account's shops.
class Activity {
public:
    explicit Activity(Read& read)
        // The ledger may not have the shops themselves.
        : dead_(
              paged(read.ledger)
                  .dead_by_shop(read.grant.account, read.now.plus_days(-kRecentDays), kEndOfTime)),
          silences_(lists::silences_of(read.ledger, read.grant.account)),
          devices_(lists::device_counts(read.ledger, read.grant.account,
                                        day_of(read.now.plus_days(1 - kDeviceDays)),
                                        day_of(read.now))) {
        for (const ShopRow& shop : shops_of(read)) {
            numbers_.emplace(shop.shop_id, shop.shop);
        }
    }

    [[nodiscard]] std::optional<lists::Silence> silence(const ShopId& shop) const {
        return of(shop, silences_);
    }
    [[nodiscard]] lists::DeviceCount devices(const ShopId& shop) const {
        return of(shop, devices_).value_or(lists::DeviceCount());
    }
    [[nodiscard]] std::uint64_t dead_letters(const ShopId& shop) const {
        const DeadCount* const letters = find_value(dead_, shop.str());
        return letters == nullptr ? 0 : letters->others + letters->privacy_requests;
    }

private:
    static constexpr std::int64_t kRecentDays = 30;
    static constexpr std::int64_t kDeviceDays = 7;

    template <class Value>
    [[nodiscard]] std::optional<Value> of(const ShopId& shop,
                                          const std::map<ShopNumber, Value>& values) const {
        const ShopNumber* const number = find_value(numbers_, shop);
        const Value* const known = number == nullptr ? nullptr : find_value(values, *number);
        return known == nullptr ? std::nullopt : std::optional(*known);
    }

    std::map<ShopId, ShopNumber> numbers_;
    std::map<std::string, DeadCount> dead_;
    std::map<ShopNumber, lists::Silence> silences_;
    std::map<ShopNumber, lists::DeviceCount> devices_;
};

/// Null without a new order.
Json devices_json(const ShopId& shop, const lists::DeviceCount& count) {
    if (count.orders == 0) {
        return {};
    }
    const std::string orders = count.orders == 1 ? "order" : "orders";
    const std::string carry = count.with_device == 1 ? "carries" : "carry";
    const std::string sentence = count.with_device == 0
                                     ? "no order of the last 7 days carries a device id."
                                     : std::to_string(count.with_device) + " of " +
                                           std::to_string(count.orders) + " " + orders +
                                           " of the last 7 days " + carry + " a device id.";
    return {{"orders", count.orders},
            {"with_device", count.with_device},
            {"sentence", shop.str() + ": " + sentence}};
}

/// Returns the ids before and after an order that the shops may not have.
Json nearest_orders(Read& read, const OrderId& id) {
    const Shops shops(read);
    Json list = Json::array();
    for (const OrderNeighbours& one :
         paged(read.ledger).neighbours(read.grant.account, shops.numbers(), id)) {
        const ShopRow* const shop = shops.find(one.shop);
        for (const std::optional<OrderId>& order : {one.before, one.after}) {
            if (order && shop != nullptr) {
                list.push_back({{"shop_id", shop->shop_id.str()}, {"order_id", order->str()}});
            }
        }
    }
    return list;
}

/// A registered shop, and what it has sent.
struct ShopOf {
    const store::RegisteredShop& shop;
    std::optional<lists::Silence> silence;  ///< Absent if it has sent nothing yet.
    std::uint64_t dead_letters;             ///< In the last 30 days.
    lists::DeviceCount devices;             ///< New orders of the last 7 days.
    Timestamp now;
};

const List<ShopOf>& shop_list() {
    using Of = const ShopOf&;
    static const List<ShopOf> list{
        {"shop_id", kText, kEveryone, [](Of of) -> Value { return of.shop.shop_id; }},
        {"account_id", kText, kEveryone, [](Of of) -> Value { return of.shop.account_id; }},
        {"suspended", kFlag, kEveryone, [](Of of) -> Value { return of.shop.suspended; }},
        {"created_at", kTime, kEveryone,
         [](Of of) -> Value { return of.shop.created_at.to_string(); }},
        {"last_event_at", kTime, kEveryone,
         [](Of of) { return of.silence ? Value(of.silence->last_event) : Value(); }},
        {"silence", kObject, kEveryone, texts("state sentence") + integers("silent usual limit"),
         [](Of of) -> Value { return lists::silence_json(of.shop.shop_id, of.silence, of.now); }},
        {"dead_letters", kInteger, kEveryone, [](Of of) -> Value { return of.dead_letters; }},
        {"devices", kObject, kEveryone, integers("orders with_device") + texts("sentence"),
         [](Of of) -> Value { return devices_json(of.shop.shop_id, of.devices); }}};
    return list;
}

Page list_shops(Read& read) {
    const Activity activity(read);
    PageOfAll page(read, shop_list().columns(), "shop_id");
    const auto only = read.arguments.id<ShopId>("shop");
    bool found = false;
    for (const store::RegisteredShop& shop : registered_shops(read)) {
        if (!only || *only == shop.shop_id) {
            page.add(shop_list().row({shop, activity.silence(shop.shop_id),
                                      activity.dead_letters(shop.shop_id),
                                      activity.devices(shop.shop_id), read.now}));
            found = true;
        }
    }
    if (only && !found) {
        refuse("not_found");
    }
    Page shown = std::move(page).take();
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
        const std::string shop_member = "{\"shop_id\":" + json_quoted(shop.shop_id.view());
        paged(read.ledger).scan_catalog_after(after, [&](const CatalogRecord& record) {
            const CatalogKey& key = record.key;
            if (!limit.admits(
                    shop_key(shop, join_key({key.product_id.str(), key.language, key.country})),
                    page)) {
                return false;
            }
            std::string object = shop_member;
            for (const JsonMember& member : json_members(record.json)) {
                object += "," + json_quoted(member.key) + ":";
                object += member.value;
            }
            page.raw_rows.push_back(object + "}");
            limit.add_bytes(object.size());
            return true;
        });
    });
    return page;
}

}  // namespace

std::vector<NodeState> node_states(Read& read) {
    constexpr std::int64_t kNodeGoneDays = 7;
    std::vector<NodeState> nodes;
    Timestamp newest = kFirstInstant;
    read.ledger.scan_heads([&](const LedgerHead& head) {
        newest = std::max(newest, head.last_received);
        nodes.push_back({head});
    });
    for (NodeState& node : nodes) {
        node.pace = lists::pace_of(node.head.last_received, newest, read.now, kNodeGoneDays);
        if (node.head.node == read.worker.node) {  // it runs, so it is not gone
            node.pace = read.worker.is_behind          ? NodePace::kBehind
                        : node.pace == NodePace::kGone ? NodePace::kCurrent
                                                       : node.pace;
        }
    }
    return nodes;
}

namespace {

/// A node of the fleet.
struct NodeOf {
    const LedgerHead& head;
    const ChainHead& chain;  ///< The account's.
    NodePace pace;
    const WorkerPage* worker;  ///< This node's, or null.
};

const List<NodeOf>& node_list() {
    using Of = const NodeOf&;
    static const List<NodeOf> list{
        {"node", kText, kLedger, [](Of of) -> Value { return of.head.node; }},
        {"number", kInteger, kLedger, [](Of of) -> Value { return of.head.number; }},
        {"last_received", kTime, kLedger, [](Of of) -> Value { return of.head.last_received; }},
        {"applied_seq", kInteger, kLedger,
         [](Of of) -> Value { return of.head.applied_seq.value; }},
        {"entries", kInteger, kLedger, [](Of of) -> Value { return of.chain.entries; }},
        {"hash", kText, kLedger, [](Of of) -> Value { return to_hex(of.chain.hash); }},
        {"behind", kFlag, kLedger, [](Of of) -> Value { return of.pace == NodePace::kBehind; }},
        {"gone_since", kTime, kLedger,
         [](Of of) { return of.pace == NodePace::kGone ? Value(of.head.last_received) : Value(); }},
        {"waiting", kInteger, kLedger,
         [](Of of) { return of.worker == nullptr ? Value() : Value(of.worker->waiting); }},
        {"worker_state", kText, kLedger,
         [](Of of) { return of.worker == nullptr ? Value() : Value(of.worker->state); }},
        {"worker_version", kText, kLedger,
         [](Of of) { return of.worker == nullptr ? Value() : Value(of.worker->version); }}};
    return list;
}

Page list_nodes(Read& read) {
    std::map<std::string, ChainHead> chains;
    read.ledger.scan_chains([&](const NodeChain& chain) {
        if (chain.account == read.grant.account) {
            chains.emplace(chain.node, chain.head);
        }
    });
    PageOfAll page(read, node_list().columns(), "node");
    for (const auto& [head, pace] : node_states(read)) {
        page.add(node_list().row({head, chains[head.node], pace,
                                  head.node == read.worker.node ? &read.worker : nullptr}));
    }
    return std::move(page).take();
}

}  // namespace

std::vector<Resource> shop_resources() {
    return {Resource(
                "shops", kReadOrders, "Shops of the account",
                {shop_parameter(), {"near", ValueKind::kWireId, "Order whose nearest ids to list"}},
                shop_list().columns(), list_shops, kPlain, extra("nearest", kObjects)),
            Resource("products", kReadOrders, "The merged catalog, by shop and product",
                     {shop_parameter()}, lists::product_columns(), list_products, kCsv)};
}

std::vector<Resource> node_resources() {
    return {Resource("nodes", kReadLedger,
                     "Nodes with the account's chain, and the worker of this node", {},
                     node_list().columns(), list_nodes)};
}

}  // namespace sluice::serve
