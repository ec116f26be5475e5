// Orders.
#include <algorithm>
#include <set>

#include "core/explain/explain.hpp"
#include "core/ledger/paged_reads.hpp"
#include "core/lists/names.hpp"
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

using enum lists::ColumnType;
using enum lists::Scope;

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
    const Arguments& given = read.arguments;
    return {.creator = creator_of(read),
            .program = program_id_of(read),
            .code = given.text("code"),
            .status = given.text("status"),
            .attributed = given.flag("attributed"),
            .is_blocked_itself = given.flag("blocked").value_or(false),
            .from = given.time("from"),
            .to = given.time("to")};
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
    const Shops shops(read);
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
            const ShopRow* const shop = shops.find(order.key.shop);
            if (shop != nullptr && filter.covers(order, read.now, rows.judge())) {
                found.add(rows.row(*shop, order, read.now), order);
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

namespace {

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

}  // namespace

bool has_code(const OrderState& order, const Digest256& digest) {
    return std::ranges::find(order.codes, digest, code_digest) != order.codes.end();
}

namespace {

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

Columns order_lines() {
    return texts(
               "line_item_id sku variant_sku rule rate base refund calculation rounding "
               "explanation") +
           amounts("amount tax") + integers("quantity") + extra("in_newest_payload", kFlag) +
           amounts("commission");
}

/// Without who did it, and why.
Columns order_journal() {
    return texts(
               "node line_item_id command_id creator_id program_id currency debit_account "
               "credit_account reason") +
           integers("entry event_seq") + amounts("amount") + times("accounting_date recorded_at") +
           columns_of(lists::ColumnType::kText, lists::Scope::kLedger, "note actor");
}

Columns order_payouts() {
    return texts("payout_id node state creator_id program_id currency") + amounts("amount") +
           times("closed_at sent_at ended_at") +
           extra("items", kObjects, texts("line_item_id kind") + amounts("amount"));
}

Columns attribution() {
    return texts("creator_id program_id explanation") +
           extra("candidates", kObjects,
                 texts("type source creator_id program_id link_id explanation") +
                     times("clicked_at") + extra("won", kFlag));
}

Columns order_members() {
    return extra("answer", kObject,
                 texts("status sentence next_step command") + times("since next_at")) +
           texts("order_id shop_id account_id currency") +
           amounts("amount tax shipping refund_amount refund_tax") +
           times("ordered_at last_updated_at cancelled_at") + amounts("commission_amount") +
           integers("duplicates") + texts("device") +
           columns_of(kTexts, kEveryone, "codes numbers blocked_by") +
           extra("events", kObjects,
                 texts("node topic version decision trace explanation") + integers("event_seq") +
                     times("received_at") + extra("anomalies", kTexts) +
                     extra("source", kObject, texts("kind"))) +
           extra("refunds", kObjects,
                 texts("refund_line_item_id line_item_id version explanation") +
                     amounts("amount tax") + integers("quantity") + extra("counts", kFlag)) +
           extra("attribution", kObject, attribution()) + extra("lines", kObjects, order_lines()) +
           extra("journal", kObjects, order_journal()) +
           extra("accruals", kObjects,
                 texts("creator_id program_id currency explanation") +
                     amounts("accrued manual allocated")) +
           extra("payouts", kObjects, order_payouts()) + extra("names", kObject);
}

}  // namespace

std::vector<Resource> order_resources() {
    return {Resource("orders", kReadOrders, "Orders with creator and commission",
                     {shop_parameter(),
                      creator_parameter(),
                      program_parameter(),
                      {"code", ValueKind::kText, "Discount code of the order"},
                      word_parameter("status", "Status",
                                     lists::words_of("waiting pending blocked payable in_payout "
                                                     "paid cancelled rejected detached")),
                      {"attributed", ValueKind::kFlag, "Whether the order has a creator"},
                      {"blocked", ValueKind::kFlag,
                       "true: only orders that a hold or anomaly of their own blocks"},
                      {"from", ValueKind::kTime, "Ordered at this time or later (RFC 3339)"},
                      {"to", ValueKind::kTime, "Ordered before this time (RFC 3339)"},
                      word_parameter("sort", "Order of the rows (default: id, by shop)",
                                     {"-ordered_at", "ordered_at", "id"})},
                     lists::order_list().columns(), list_orders, kCsv,
                     extra("names", kObject) + extra("codes", kObjects, extra("codes", kTexts))),
            Resource("order", kReadOrders,
                     "One order, explained from its events to its journal entries",
                     {shop_parameter(true), {"order", ValueKind::kWireId, "Order", true}},
                     order_members(), show_order)};
}

}  // namespace sluice::serve
