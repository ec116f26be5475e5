// Orders, anomalies, holds, shops and products.
#include <algorithm>
#include <cstdlib>
#include <map>

#include "core/explain/explain.hpp"
#include "core/ledger/paged_reads.hpp"
#include "core/positions/open_amounts.hpp"
#include "core/reports/holds.hpp"
#include "core/reports/lists.hpp"
#include "core/reports/report.hpp"
#include "core/rules/account.hpp"
#include "core/rules/attribution.hpp"
#include "core/statements/statements.hpp"
#include "worker/read/cursor.hpp"
#include "worker/read/lists.hpp"

namespace sluice::serve {
namespace {

using reports::Json;

/// The place in a list of several shops: the shop's id and the key within it.
struct ShopPlace {
    std::string shop, rest;
};

std::optional<ShopPlace> place_of(const Read& read) {
    if (!read.after) {
        return std::nullopt;
    }
    auto parts = split_key(*read.after, 2);
    if (!parts) {
        refuse("cursor_invalid");
    }
    return ShopPlace{std::move(parts->front()), std::move(parts->back())};
}

/// Selects the rows of a list of orders.
struct OrderFilter {
    std::optional<CreatorId> creator;
    std::optional<ProgramId> program;
    std::optional<std::string> code, status;
    std::optional<bool> attributed;
    std::optional<Timestamp> from, to;

    [[nodiscard]] bool covers(const OrderState& order, const Read& read) const {
        const Attribution* given = order.live ? &order.position()->attribution : nullptr;
        return (!creator || (given != nullptr && given->creator == *creator)) &&
               (!program || (given != nullptr && given->program == *program)) &&
               (!attributed || *attributed == (given != nullptr)) &&
               (!from || *from <= order.ordered_at) && (!to || order.ordered_at < *to) &&
               (!code || has_code(order, code_digest(*code))) &&
               (!status || order_status(order, read.now, read.ledger) == *status);
    }
};

std::string shop_key(const ShopRow& shop, std::string_view rest) {
    return join_key({shop.shop_id.str(), std::string(rest)});
}

OrderFilter order_filter(Read& read) {
    OrderFilter filter;
    filter.creator = creator_of(read);
    if (const auto program = program_of(read)) {
        filter.program = program->program.id;
    }
    filter.code = read.arguments.text("code");
    filter.status = read.arguments.text("status");
    filter.attributed = read.arguments.flag("attributed");
    filter.from = read.arguments.time("from");
    filter.to = read.arguments.time("to");
    return filter;
}

std::string place_key(const OrderKey& order, Timestamp ordered_at) {
    return join_key(
        {ordered_at.to_string(), std::to_string(order.shop.value), order.order_id.str()});
}

/// Returns the place that place_key() named.
std::optional<reports::OrderPlace> order_place_of(const Read& read) {
    if (!read.after) {
        return std::nullopt;
    }
    const auto parts = split_key(*read.after, 3);
    const auto at = parts ? Timestamp::parse(parts->front()) : std::nullopt;
    if (!at) {
        refuse("cursor_invalid");
    }
    const auto shop = static_cast<std::uint32_t>(std::strtoul((*parts)[1].c_str(), nullptr, 10));
    return reports::OrderPlace{*at, {shop}, OrderId(parts->back())};
}

/// Orders by the time of the sale, from the index of all orders, of a creator or of a code.
Page list_orders_by_time(Read& read, const OrderFilter& filter, bool newest_first) {
    constexpr std::size_t kPlacesAtOnce = 128;
    const reports::OrderRows rows(read.ledger);
    std::map<ShopNumber, ShopRow> shops;
    for (const ShopRow& shop : shops_of(read)) {
        shops.emplace(shop.shop, shop);
    }
    reports::OrderListing listing{read.grant.account,  filter.creator, filter.code,
                                  filter.from,         filter.to,      newest_first,
                                  order_place_of(read)};
    ReadLimit limit(read);
    Page page;
    for (bool more = true; more && !page.next_key;) {
        const auto places = reports::order_places(read.ledger, listing, kPlacesAtOnce);
        reports::visit_places(read.ledger, listing.account, places, [&](const OrderState& order) {
            if (limit.is_full(page)) {
                page.next_key = limit.last();
                return false;
            }
            limit.read_one(place_key(order.key, order.ordered_at));
            const auto shop = shops.find(order.key.shop);
            if (shop != shops.end() && filter.covers(order, read)) {
                page.rows.push_back(rows.row(shop->second, order, read.now));
                limit.add_bytes(order.key.order_id.view().size() * 2 + 1024);
            }
            return true;
        });
        more = places.size() == kPlacesAtOnce;
        if (!places.empty()) {
            listing.after = places.back();
        }
    }
    return page;
}

}  // namespace

Page list_orders(Read& read) {
    const OrderFilter filter = order_filter(read);
    const std::string sort = read.arguments.text("sort").value_or("id");
    if (sort != "id") {
        return list_orders_by_time(read, filter, sort.starts_with('-'));
    }
    const reports::OrderRows rows(read.ledger);
    const auto place = place_of(read);
    ReadLimit limit(read);
    Page page;
    for (const ShopRow& shop : shops_of(read)) {
        if (place && shop.shop_id.str() < place->shop) {
            continue;
        }
        const bool goes_on = place && shop.shop_id.str() == place->shop;
        paged(read.ledger)
            .scan_orders_after(shop.account, shop.shop, OrderId(goes_on ? place->rest : ""),
                               [&](const OrderState& order) {
                                   if (limit.is_full(page)) {
                                       page.next_key = limit.last();
                                       return false;
                                   }
                                   limit.read_one(shop_key(shop, order.key.order_id.view()));
                                   if (filter.covers(order, read)) {
                                       page.rows.push_back(rows.row(shop, order, read.now));
                                       limit.add_bytes(order.key.order_id.view().size() * 2 + 1024);
                                   }
                                   return true;
                               });
        if (page.next_key) {
            break;
        }
    }
    return page;
}

bool has_code(const OrderState& order, const Digest256& digest) {
    return std::any_of(order.codes.begin(), order.codes.end(),
                       [&](const std::string& code) { return code_digest(code) == digest; });
}

Json show_order(Read& read) {
    const OrderId order(*read.arguments.text("order"));
    const std::vector<ShopRow> shops = shops_of(read);
    if (shops.empty()) {
        refuse("not_found");
    }
    const auto explained =
        explain_order(read.ledger, {read.grant.account, shops.front().shop, order});
    if (!explained.ok()) {
        refuse("not_found");
    }
    return Json::from_text(
        explanation_json(*explained, order_answer(*explained, read.now, read.ledger)));
}

namespace {

/// Returns the commission at stake of each order, in the order of the list (G10).
Json commissions_of(Read& read, const std::vector<OrderKey>& orders) {
    Json list = Json::array();
    OrderState order;
    for (const OrderKey& key : orders) {
        const bool has_creator = read.ledger.load_order(key, order) && order.live;
        const CommissionAmount commission =
            has_creator ? commission_amount(order) : CommissionAmount{};
        list.push_back(has_creator ? Json{{"amount", commission.amount.to_string()},
                                          {"currency", commission.currency.code()}}
                                   : Json());
    }
    return list;
}

}  // namespace

Page list_anomalies(Read& read) {
    const auto kind = parse_anomaly_kind(read.arguments.text("kind").value_or(""));
    const auto blocks = read.arguments.flag("blocks");
    const auto acknowledged = read.arguments.flag("acknowledged");
    const std::uint32_t blocking = account_settings(read.ledger, read.grant.account).blocking;
    const auto place = place_of(read);
    ReadLimit limit(read);
    Page page;
    std::vector<OrderKey> shown;
    for (const ShopRow& shop : shops_of(read)) {
        if (place && shop.shop_id.str() < place->shop) {
            continue;
        }
        const bool goes_on = place && shop.shop_id.str() == place->shop;
        Anomaly first;
        first.order = {shop.account, shop.shop, {}};
        const auto parts = goes_on ? split_key(place->rest, 2) : std::nullopt;
        if (goes_on) {
            if (!parts) {
                refuse("cursor_invalid");
            }
            first.order.order_id = OrderId(parts->front());
        }
        read.ledger.scan(first, {2, goes_on ? 3U : 2U}, [&](const Anomaly& row) {
            const std::string number = std::to_string(static_cast<unsigned>(row.kind));
            const bool was_before =
                goes_on && row.order.order_id == first.order.order_id &&
                static_cast<unsigned>(row.kind) <= std::strtoul(parts->back().c_str(), nullptr, 10);
            if (was_before) {
                return true;
            }
            if (limit.is_full(page)) {
                page.next_key = limit.last();
                return false;
            }
            limit.read_one(shop_key(shop, join_key({row.order.order_id.str(), number})));
            const bool is_acknowledged = !row.acknowledged_by.empty();
            const bool is_blocking =
                row.showing && !is_acknowledged && (blocking & bit(row.kind)) != 0;
            if ((!kind || *kind == row.kind) && (!blocks || *blocks == is_blocking) &&
                (!acknowledged || *acknowledged == is_acknowledged)) {
                page.rows.push_back(reports::anomaly_row(shop, row, blocking));
                shown.push_back(row.order);
                limit.add_bytes(row.order.order_id.view().size() + 1024);
            }
            return true;
        });
        if (page.next_key) {
            break;
        }
    }
    page.extras.emplace_back("commissions", commissions_of(read, shown));
    return page;
}

/// As `hold list`, with the actor under the name that all rows of the API have.
std::vector<reports::Column> hold_columns() {
    std::vector<reports::Column> columns = reports::hold_columns();
    for (reports::Column& column : columns) {
        column.name = column.name == "held_by" ? "actor" : column.name;
    }
    return columns;
}

Page list_holds(Read& read) {
    PageOfAll page(read, {1, 2, 3, 4});  // creators first, since they have no shop
    reports::write_holds(read.ledger, read.grant.account, read.grant.account_id, creator_of(read),
                         page);
    return std::move(page).take();
}

std::vector<reports::Column> shop_columns() {
    return {{"shop_id"}, {"account_id"}, {"suspended"}, {"created_at"}};
}

namespace {

/// Returns the last order before `id`, or nothing. Looks among those with the longest beginning in
/// common, and gives up if more than a page of them come before.
std::optional<std::string> order_before(LedgerReader& ledger, const ShopRow& shop,
                                        const std::string& id) {
    constexpr std::size_t kMost = 1000;
    for (std::size_t common = id.size(); common-- > 0;) {
        std::optional<std::string> last;
        std::size_t rows = 0;
        paged(ledger).scan_orders_after(shop.account, shop.shop, OrderId(id.substr(0, common)),
                                        [&](const OrderState& order) {
                                            if (id <= order.key.order_id.view() || ++rows > kMost) {
                                                return false;
                                            }
                                            last = order.key.order_id.str();
                                            return true;
                                        });
        if (rows > kMost) {
            return std::nullopt;
        }
        if (last) {
            return last;
        }
    }
    return std::nullopt;
}

/// Returns the ids before and after an order that the shops may not have (G5).
Json nearest_orders(Read& read, const std::string& id) {
    Json list = Json::array();
    for (const ShopRow& shop : shops_of(read)) {
        const auto add = [&](const std::string& order) {
            list.push_back({{"shop_id", shop.shop_id.str()}, {"order_id", order}});
        };
        if (const auto before = order_before(read.ledger, shop, id)) {
            add(*before);
        }
        std::optional<std::string> after;
        paged(read.ledger)
            .scan_orders_after(shop.account, shop.shop, OrderId(id), [&](const OrderState& order) {
                after = order.key.order_id.str();
                return false;
            });
        if (after) {
            add(*after);
        }
    }
    return list;
}

}  // namespace

Page list_shops(Read& read) {
    PageOfAll page(read, {0});
    const auto only = read.arguments.id<ShopId>("shop");
    bool found = false;
    for (const store::ShopRow& shop : registered_shops(read)) {
        if (!only || *only == shop.shop_id) {
            page.add({shop.shop_id.str(), shop.account_id.str(), shop.suspended,
                      shop.created_at.to_string()});
            found = true;
        }
    }
    if (only && !found) {
        refuse("not_found");
    }
    Page shown = std::move(page).take();
    if (const auto near = read.arguments.text("near")) {
        shown.extras.emplace_back("nearest", nearest_orders(read, *near));
    }
    return shown;
}

Page list_products(Read& read) {
    const auto place = place_of(read);
    ReadLimit limit(read);
    Page page;
    for (const ShopRow& shop : shops_of(read)) {
        if (place && shop.shop_id.str() < place->shop) {
            continue;
        }
        CatalogKey after{shop.account, shop.shop, {}, {}, {}};
        if (place && shop.shop_id.str() == place->shop) {
            auto parts = split_key(place->rest, 3);
            if (!parts) {
                refuse("cursor_invalid");
            }
            after.product_id = ProductId((*parts)[0]);
            after.language = (*parts)[1];
            after.country = (*parts)[2];
        }
        const std::string shop_member = "{\"shop_id\":" + reports::json_quoted(shop.shop_id.view());
        paged(read.ledger).scan_catalog_after(after, [&](const CatalogRecord& record) {
            if (limit.is_full(page)) {
                page.next_key = limit.last();
                return false;
            }
            const CatalogKey& key = record.key;
            limit.read_one(
                shop_key(shop, join_key({key.product_id.str(), key.language, key.country})));
            std::string object = shop_member;
            for (const JsonMember& member : json_members(record.json)) {
                object += "," + reports::json_quoted(member.key) + ":";
                object += member.value;
            }
            page.raw_rows.push_back(object + "}");
            limit.add_bytes(object.size());
            return true;
        });
        if (page.next_key) {
            break;
        }
    }
    return page;
}

}  // namespace sluice::serve
