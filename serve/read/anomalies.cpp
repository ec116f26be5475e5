// Anomalies, by shop and order from their table, or those that need attention from an index; and
// holds.
#include <set>

#include "core/ledger/paged_reads.hpp"
#include "core/lists/creators.hpp"
#include "core/lists/overview.hpp"
#include "core/lists/places.hpp"
#include "core/lists/report.hpp"
#include "core/positions/open_amounts.hpp"
#include "core/rules/account.hpp"
#include "serve/read/cursor.hpp"
#include "serve/read/lists.hpp"

namespace sluice::serve {
namespace {

using enum lists::ColumnType;
using enum lists::Scope;

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
            const auto parts = after ? key_parts(*after, 2) : std::vector<std::string>(2);
            const Anomaly first{{shop.account, shop.shop, OrderId(parts[0])}};
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
    const Shops shops(read);
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
            const ShopRow* const shop = shops.find(row.shop);
            if (exists && shop != nullptr && filter.covers(*next)) {
                found.add(limit, *shop, *next, filter.blocking);
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
    return Json::list(orders, [&, order = OrderState()](const OrderKey& key) mutable -> Json {
        if (!read.ledger.load_order(key, order) || !order.live) {
            return {};
        }
        const Money commission = commission_amount(order);
        return {{"amount", commission.amount.to_string()},
                {"currency", commission.currency.code()}};
    });
}

/// Returns how many anomalies are acknowledged, or null if they are too many to count for a page.
Json acknowledged_count(Read& read) {
    constexpr std::uint64_t kReadMax = 10'000;
    std::uint64_t rows = 0, acknowledged = 0;
    read.ledger.scan(Anomaly{{read.grant.account, {}, {}}}, {1, 1}, [&](const Anomaly& row) {
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
    read.ledger.scan(CreatorHold{read.grant.account}, {1, 1},
                     [&holds](const CreatorHold& /*row*/) { ++holds; });
    return {{"blocks", blocks},
            {"open", others},
            {"acknowledged", acknowledged_count(read)},
            {"holds", holds}};
}

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

Page list_holds(Read& read) {
    // Creators first, since they have no shop.
    PageOfAll page(read, lists::hold_list().columns(), "shop_id order_id creator_id program_id");
    lists::write_holds(read.ledger, read.grant.account, read.grant.account_id, creator_of(read),
                       page);
    Page holds = std::move(page).take();
    std::set<std::string> creators;
    for (const lists::Row& row : holds.rows) {
        creators.insert(lists::hold_list().cell(row, "creator_id").cell());
    }
    holds.extras.emplace_back("names", names_of(read, creators));
    return holds;
}

std::vector<std::string_view> anomaly_kinds() {
    std::vector<std::string_view> names;
    for (unsigned kind = 1; kind < kAnomalyKinds; ++kind) {
        names.push_back(to_string(static_cast<AnomalyKind>(kind)));
    }
    return names;
}

}  // namespace

std::vector<Resource> anomaly_resources() {
    return {Resource("anomalies", kReadOrders,
                     "Events that a person should check, by shop and order; those that need "
                     "attention, the newest first",
                     {shop_parameter(),
                      word_parameter("kind", "Kind", anomaly_kinds()),
                      {"blocks", ValueKind::kFlag, "Whether it blocks payout"},
                      {"acknowledged", ValueKind::kFlag, "Whether a person acknowledged it"},
                      {"showing", ValueKind::kFlag, "Whether the order still shows it"}},
                     lists::anomaly_list().columns(), list_anomalies, kCsv,
                     extra("commissions", kObjects) + extra("counts", kObject)),
            Resource("holds", kReadOrders, "Holds on creators and orders", {creator_parameter()},
                     lists::hold_list().columns(), list_holds, kPlain, extra("names", kObject))};
}

}  // namespace sluice::serve
