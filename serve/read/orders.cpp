// Orders and anomalies.
#include <algorithm>
#include <map>
#include <set>

#include "core/explain/explain.hpp"
#include "core/ledger/paged_reads.hpp"
#include "core/lists/names.hpp"
#include "core/lists/overview.hpp"
#include "core/lists/places.hpp"
#include "core/lists/report.hpp"
#include "core/positions/open_amounts.hpp"
#include "core/rules/account.hpp"
#include "core/rules/attribution.hpp"
#include "core/statements/statements.hpp"
#include "serve/read/cursor.hpp"
#include "serve/read/lists.hpp"

namespace sluice::serve {
namespace {

/// Selects the rows of a list of orders.
struct OrderFilter {
    std::optional<CreatorId> creator;
    std::optional<ProgramId> program;
    std::optional<std::string> code, status;
    std::optional<bool> attributed;
    bool is_blocked_itself = false;
    std::optional<Timestamp> from, to;

    [[nodiscard]] bool covers(const OrderState& order, Timestamp now, OrderJudge& judge) const {
        const Attribution* given = order.live ? &order.position()->attribution : nullptr;
        return (!creator || (given != nullptr && given->creator == *creator)) &&
               (!program || (given != nullptr && given->program == *program)) &&
               (!attributed || *attributed == (given != nullptr)) &&
               (!from || *from <= order.ordered_at) && (!to || order.ordered_at < *to) &&
               (!code || has_code(order, code_digest(*code))) &&
               (!status || judge.status(order, now) == *status) &&
               (!is_blocked_itself || blocks_itself(order, judge));
    }

    /// Returns whether the order, and not only a hold on its creator, keeps an amount from being
    /// paid.
    [[nodiscard]] static bool blocks_itself(const OrderState& order, OrderJudge& judge) {
        const std::vector<std::string> blocks = judge.blocked_by(order);
        const std::vector<OpenAmount> open = open_amounts(order);
        return std::ranges::any_of(blocks,
                                   [](const std::string& by) { return by != "CREATOR_HOLD"; }) &&
               std::ranges::any_of(open,
                                   [](const OpenAmount& row) { return Decimal() < row.amount; });
    }
};

/// A page of orders, with the codes of each.
struct OrderPage {
    Page page;
    Json codes = Json::array();

    void add(lists::Row row, const OrderState& order) {
        page.rows.push_back(std::move(row));
        codes.push_back({{"codes", Json(order.codes)}});
    }
};

/// Returns the page with the codes of its orders, and the names of their creators by id.
Page with_names(Read& read, OrderPage found) {
    Page& page = found.page;
    std::set<std::string> shown;
    for (const lists::Row& row : page.rows) {
        if (const Json& id = lists::order_list().cell(row, "creator_id"); !id.is_null()) {
            shown.insert(id.cell());
        }
    }
    page.extras.emplace_back("names", names_of(read, shown));
    page.extras.emplace_back("codes", std::move(found.codes));
    return std::move(page);
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
    filter.is_blocked_itself = read.arguments.flag("blocked").value_or(false);
    return filter;
}

std::string place_key(const OrderKey& order, Timestamp ordered_at) {
    return join_key(
        {ordered_at.to_string(), std::to_string(order.shop.value), order.order_id.str()});
}

/// Returns the place that place_key() named.
std::optional<lists::OrderPlace> order_place_of(const Read& read) {
    if (!read.after) {
        return std::nullopt;
    }
    const auto parts = key_parts(*read.after, 3);
    const Timestamp at = from_cursor(Timestamp::parse(parts[0]));
    const auto shop = static_cast<std::uint32_t>(key_number(parts[1]));
    return lists::OrderPlace{at, {shop}, OrderId(parts[2])};
}

/// Orders by the time of the sale, from the index of all orders, of a creator or of a code.
OrderPage list_orders_by_time(Read& read, const OrderFilter& filter, bool newest_first) {
    constexpr std::size_t kPlacesAtOnce = 128;
    lists::OrderRows rows(read.ledger);
    std::map<ShopNumber, ShopRow> shops;
    for (const ShopRow& shop : shops_of(read)) {
        shops.emplace(shop.shop, shop);
    }
    lists::OrderListing listing{read.grant.account,  filter.creator, filter.code,
                                filter.from,         filter.to,      newest_first,
                                order_place_of(read)};
    ReadLimit limit(read);
    OrderPage found;
    Page& page = found.page;
    for (bool more = true; more && !page.next_key;) {
        const auto places = lists::order_places(read.ledger, listing, kPlacesAtOnce);
        lists::visit_places(read.ledger, listing.account, places, [&](const OrderState& order) {
            if (!limit.admits(place_key(order.key, order.ordered_at), page)) {
                return false;
            }
            const auto shop = shops.find(order.key.shop);
            if (shop != shops.end() && filter.covers(order, read.now, rows.judge())) {
                found.add(rows.row(shop->second, order, read.now), order);
                limit.add_bytes(order.key.order_id.view().size() * 2 + 1024);
            }
            return true;
        });
        more = places.size() == kPlacesAtOnce;
        if (!places.empty()) {
            listing.after = places.back();
        }
    }
    return found;
}

}  // namespace

void visit_shops(Read& read, const Page& page,
                 const std::function<void(const ShopRow& shop,
                                          const std::optional<std::string>& after)>& visit) {
    const auto place = read.after ? key_parts(*read.after, 2) : std::vector<std::string>(2);
    for (const ShopRow& shop : shops_of(read)) {
        if (page.next_key) {
            return;
        }
        if (place[0] <= shop.shop_id.str()) {
            visit(shop, place[0] == shop.shop_id.str() ? std::optional(place[1]) : std::nullopt);
        }
    }
}

std::string shop_key(const ShopRow& shop, std::string_view rest) {
    return join_key({shop.shop_id.str(), std::string(rest)});
}

Page list_orders(Read& read) {
    const OrderFilter filter = order_filter(read);
    const std::string sort = read.arguments.text("sort").value_or("id");
    if (sort != "id") {
        return with_names(read, list_orders_by_time(read, filter, sort.starts_with('-')));
    }
    lists::OrderRows rows(read.ledger);
    ReadLimit limit(read);
    OrderPage found;
    Page& page = found.page;
    visit_shops(read, page, [&](const ShopRow& shop, const std::optional<std::string>& after) {
        paged(read.ledger)
            .scan_orders_after(
                shop.account, shop.shop, OrderId(after.value_or("")), [&](const OrderState& order) {
                    if (!limit.admits(shop_key(shop, order.key.order_id.view()), page)) {
                        return false;
                    }
                    if (filter.covers(order, read.now, rows.judge())) {
                        found.add(rows.row(shop, order, read.now), order);
                        limit.add_bytes(order.key.order_id.view().size() * 2 + 1024);
                    }
                    return true;
                });
    });
    return with_names(read, std::move(found));
}

bool has_code(const OrderState& order, const Digest256& digest) {
    return std::ranges::find(order.codes, digest, code_digest) != order.codes.end();
}

Json show_order(Read& read) {
    const OrderId order(read.arguments.required("order"));
    const std::vector<ShopRow> shops = shops_of(read);
    if (shops.empty()) {
        refuse("not_found");
    }
    const auto explained =
        explain_order(read.ledger, {read.grant.account, shops.front().shop, order});
    if (!explained.ok()) {
        refuse("not_found");
    }
    Json shown = explanation_object(
        *explained, order_answer(*explained, read.now, read.ledger, read.sees_creators()));
    shown["names"] = names_in(read, shown);
    return shown;
}

// ---- Anomalies: by shop and order from their table, or those that need attention from an index --

namespace {

/// Selects the rows of a list of anomalies.
struct AnomalyFilter {
    std::optional<AnomalyKind> kind;
    std::optional<bool> blocks, acknowledged, showing;
    std::uint32_t blocking = 0;  ///< Kinds that block.

    explicit AnomalyFilter(Read& read)
        : kind(parse_name<AnomalyKind>(read.arguments.text("kind").value_or(""))),
          blocks(read.arguments.flag("blocks")),
          acknowledged(read.arguments.flag("acknowledged")),
          showing(read.arguments.flag("showing")),
          blocking(account_settings(read.ledger, read.grant.account).blocking) {}

    [[nodiscard]] bool covers(const Anomaly& row) const {
        const bool is_acknowledged = !row.acknowledged_by.empty();
        const bool is_blocking = row.showing && !is_acknowledged && (blocking & bit(row.kind)) != 0;
        return (!kind || *kind == row.kind) && (!blocks || *blocks == is_blocking) &&
               (!acknowledged || *acknowledged == is_acknowledged) &&
               (!showing || *showing == row.showing);
    }
    /// Returns whether every row shows and is not acknowledged.
    [[nodiscard]] bool needs_attention() const {
        return blocks == true || (showing == true && acknowledged == false);
    }
    /// Returns the kinds of such rows.
    [[nodiscard]] std::uint32_t kinds() const {
        std::uint32_t kinds = ~bit(static_cast<AnomalyKind>(AttentionKind::kHold));
        if (blocks) {
            kinds &= *blocks ? blocking : ~blocking;
        }
        return kind ? kinds & bit(*kind) : kinds;
    }
};

/// Collects the rows of a page, and the orders of which the commission is at stake.
struct Found {
    Page page;
    std::vector<OrderKey> orders;

    void add(ReadLimit& limit, const ShopRow& shop, const Anomaly& row, std::uint32_t blocking) {
        page.rows.push_back(lists::anomaly_list().row({shop, row, blocking}));
        orders.push_back(row.order);
        limit.add_bytes(row.order.order_id.view().size() + 1024);
    }
};

void find_in_table(Read& read, const AnomalyFilter& filter, Found& found) {
    ReadLimit limit(read);
    visit_shops(
        read, found.page, [&](const ShopRow& shop, const std::optional<std::string>& after) {
            Anomaly first;
            first.order = {shop.account, shop.shop, {}};
            const auto parts = after ? key_parts(*after, 2) : std::vector<std::string>(2);
            first.order.order_id = OrderId(parts[0]);
            read.ledger.scan(first, {2, after ? 3U : 2U}, [&](const Anomaly& row) {
                const std::string number = std::to_string(static_cast<unsigned>(row.kind));
                const bool was_before = after && row.order.order_id == first.order.order_id &&
                                        static_cast<unsigned>(row.kind) <= key_number(parts[1]);
                if (was_before) {
                    return true;
                }
                if (!limit.admits(shop_key(shop, join_key({row.order.order_id.str(), number})),
                                  found.page)) {
                    return false;
                }
                if (filter.covers(row)) {
                    found.add(limit, shop, row, filter.blocking);
                }
                return true;
            });
        });
}

std::string attention_key(const Attention& row) {
    return join_key({row.since.to_string(), std::to_string(static_cast<unsigned>(row.kind)),
                     std::to_string(row.shop.value), row.order_id.str()});
}

/// Returns the row that attention_key() named, or nothing without a cursor.
std::optional<Attention> attention_of(const Read& read) {
    if (!read.after) {
        return std::nullopt;
    }
    const auto parts = key_parts(*read.after, 4);
    const Timestamp since = from_cursor(Timestamp::parse(parts[0]));
    const auto number = [&parts](std::size_t i) {
        return static_cast<std::uint32_t>(key_number(parts[i]));
    };
    return Attention{read.grant.account, static_cast<AttentionKind>(number(1)), since,
                     ShopNumber{number(2)}, OrderId(parts[3])};
}

/// The newest first.
void find_in_attention(Read& read, const AnomalyFilter& filter, Found& found) {
    std::map<ShopNumber, ShopRow> shops;
    for (const ShopRow& shop : shops_of(read)) {
        shops.emplace(shop.shop, shop);
    }
    auto last = attention_of(read);
    ReadLimit limit(read);
    const std::size_t at_once = read.limit() + 1;
    for (bool more = true; more && !found.page.next_key;) {
        const auto rows =
            lists::attention_before(read.ledger, read.grant.account, filter.kinds(), last, at_once);
        std::vector<Anomaly> anomalies(rows.size());
        for (std::size_t i = 0; i < rows.size(); ++i) {
            anomalies[i].order = {rows[i].account, rows[i].shop, rows[i].order_id};
            anomalies[i].kind = static_cast<AnomalyKind>(rows[i].kind);
        }
        load_all(read.ledger, anomalies);
        auto next = anomalies.begin();
        for (const Attention& row : rows) {
            if (!limit.admits(attention_key(row), found.page)) {
                break;
            }
            const OrderKey order{row.account, row.shop, row.order_id};
            const bool exists = next != anomalies.end() && next->order == order &&
                                next->kind == static_cast<AnomalyKind>(row.kind);
            const auto shop = shops.find(row.shop);
            if (exists && shop != shops.end() && filter.covers(*next)) {
                found.add(limit, shop->second, *next, filter.blocking);
            }
            next += exists ? 1 : 0;
        }
        more = rows.size() == at_once;
        if (more) {
            last = rows.back();
        }
    }
}

/// Returns the commission at stake of each order, in the order of the list.
Json commissions_of(Read& read, const std::vector<OrderKey>& orders) {
    read.ledger.expect_orders(orders);
    Json list = Json::array();
    OrderState order;
    for (const OrderKey& key : orders) {
        const bool has_creator = read.ledger.load_order(key, order) && order.live;
        const Money commission = has_creator ? commission_amount(order) : Money{};
        list.push_back(has_creator ? Json{{"amount", commission.amount.to_string()},
                                          {"currency", commission.currency.code()}}
                                   : Json());
    }
    return list;
}

/// Returns how many anomalies are acknowledged, or null if they are too many to count for a page.
Json acknowledged_count(Read& read) {
    constexpr std::uint64_t kReadMax = 10'000;
    std::uint64_t rows = 0, acknowledged = 0;
    Anomaly first;
    first.order.account = read.grant.account;
    read.ledger.scan(first, {1, 1}, [&](const Anomaly& row) {
        acknowledged += row.acknowledged_by.empty() ? 0U : 1U;
        return ++rows <= kReadMax;
    });
    return rows <= kReadMax ? Json(acknowledged) : Json();
}

/// Returns how many need attention and block, how many do not, how many are acknowledged, and how
/// many holds there are.
Json counts_of(Read& read, std::uint32_t blocking) {
    std::uint64_t blocks = 0, others = 0, holds = 0;
    for (const auto& [kind, count] : lists::attention_counts(read.ledger, read.grant.account)) {
        const bool is_blocking = (blocking & bit(static_cast<AnomalyKind>(kind))) != 0;
        (kind == AttentionKind::kHold ? holds : is_blocking ? blocks : others) += count;
    }
    CreatorHold hold;
    hold.account = read.grant.account;
    read.ledger.scan(hold, {1, 1}, [&holds](const CreatorHold& /*row*/) {
        ++holds;
        return true;
    });
    return {{"blocks", blocks},
            {"open", others},
            {"acknowledged", acknowledged_count(read)},
            {"holds", holds}};
}

}  // namespace

Page list_anomalies(Read& read) {
    const AnomalyFilter filter(read);
    Found found;
    if (filter.needs_attention()) {
        find_in_attention(read, filter, found);
    } else {
        find_in_table(read, filter, found);
    }
    found.page.extras.emplace_back("commissions", commissions_of(read, found.orders));
    found.page.extras.emplace_back("counts", counts_of(read, filter.blocking));
    return std::move(found.page);
}

}  // namespace sluice::serve
